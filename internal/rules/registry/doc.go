// Package registry decides about registered agents: whether a manifest is right,
// what syncing it changes, whether a heartbeat counts, and what the heartbeats
// of an agent's instances say of its liveness. It is pure: stored records and
// the time come in as arguments.
package registry
