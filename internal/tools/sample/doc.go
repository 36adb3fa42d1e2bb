// Package sample holds one story in ready-made valid values, for the demo, the
// tests and the documents: the shop marlow refunds returned orders. There is its
// API as a real HTTP server, which verifies signatures and remembers idempotency
// keys like a careful receiver does; the project that registers it; the model
// of the agent that uses it; and two agents that use it as a team. One of its
// capabilities lies.
package sample
