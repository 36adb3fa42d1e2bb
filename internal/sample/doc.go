// Package sample holds one story in ready-made valid values, for the demo, the
// tests and the documents: the shop marlow refunds returned orders. There is its
// API as a real HTTP server, which verifies signatures and remembers idempotency
// keys like a careful receiver does; the project that registers it; and the model
// of the agent that uses it. One of its capabilities lies.
package sample
