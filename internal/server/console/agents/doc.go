// Package agents has the pages of agents and of teams: the registry, their manifests, and the start of their runs.
package agents
