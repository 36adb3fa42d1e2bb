// Package receiver is what the back end of a project needs to take calls of
// Countersign: it verifies that a call is genuine and fresh, and remembers what
// each idempotency key was answered, so that an effect happens once however often
// its call arrives. It serves specification 5.2 and the receiver's row of section 7.
//
// [Receiver.Handler] does both before a net/http handler. [Verifier] is the first
// alone, and [Store] the second, for what isn't net/http. Package receivertest signs
// calls for your own tests and checks stores of your own.
//
// How exactly-once is reached depends on where the effect is:
//   - in the same database as the keys: [SQLTransactions]. Effect, key and answer
//     are one transaction, so nothing is ever in doubt.
//   - elsewhere, as with a payment provider: [SQLStore]. The effect happens at most
//     once; after a crash between effect and answer its key is in doubt, and a
//     person looks up what happened. Hand the idempotency key on if the provider
//     takes one.
//   - where it can be repeated without harm, or to try out: [MemoryStore].
package receiver
