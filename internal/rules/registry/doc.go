// Package registry holds the rules for registered agents: validating and syncing
// manifests, accepting heartbeats, and deriving an agent's liveness from them. It is
// pure: stored records and the time are arguments.
package registry
