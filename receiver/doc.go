// Package receiver is what a project's back end needs to take calls of
// Countersign: it verifies that a call is genuine and fresh (Verifier), and
// remembers what each idempotency key was answered, so that an effect happens once
// however often its call arrives (Receiver, Store). It serves specification 5.2 and
// the receiver's row of section 7.
package receiver
