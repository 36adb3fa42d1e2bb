// Package sample has one example for the demo, the tests and the documentation, in valid values:
// the shop marlow refunds returned orders. It contains the shop's API as a real HTTP server,
// which verifies signatures and remembers idempotency keys as a careful receiver does; the
// project that registers it; the model of the agent that uses it; and two agents that use it
// as a team. One of its capabilities answers 200 without doing anything, and the answer to the
// refund of one order is lost.
package sample
