// Package evaluator says what the service must answer, and what must come of each run. It is written from the
// specification and the contract alone, by somebody who had not read the service's code for rules, repeats,
// budgets, preconditions, settlement and weakening, and it imports nothing of the product: test/judge plays
// drawn sequences of operations on the real binary and compares.
//
// It is plain on purpose. One sequence is one tenant's project at one receiver, one operation after the other;
// it has no clock, no store and no concurrency. Each rule that it goes by has a name (see sentences), so that a
// test can negate it and show that the play would notice.
package evaluator
