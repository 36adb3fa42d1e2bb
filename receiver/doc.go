// Package receiver is for the back end of a project, which receives the calls of
// Countersign. It verifies that a call is genuine and recent, and it remembers the answer
// given for each idempotency key, so that a side effect happens once however often its call
// arrives. It implements specification 5.2 and the receiver's row of section 7.
//
// [Receiver.Handler] wraps a net/http handler and does both. Without net/http, use
// [Verifier] for the verification and [Store] for the keys. Package receivertest signs calls
// for your own tests and checks your own implementation of Store.
//
// Which store to use depends on where the side effect happens:
//   - in the same database as the keys: [SQLTransactions]. Effect, key and answer are
//     committed in one transaction, so the effect happens exactly once and no key is ever in
//     doubt.
//   - elsewhere, for example at a payment provider: [SQLStore]. The effect happens at most
//     once. After a crash between the effect and its answer the key is in doubt, and a person
//     finds out what happened. Pass the idempotency key on if the provider accepts one.
//   - if the effect can be repeated without harm, or to try the package out: [MemoryStore].
package receiver
