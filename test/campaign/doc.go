// Package campaign has the common parts of the campaigns: how much of each runs in which tier, random seeds, and
// seeds that failed before.
package campaign
