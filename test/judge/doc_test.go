// Package judge plays drawn sequences of operations on the real binary, and compares each answer with what a second
// implementation of the contract (test/judge/evaluator) says: rules, repeats, budgets, preconditions, and which edits
// weaken. A sequence that differs is shrunk, and printed as the requests that it is made of.
//
// One process serves all sequences; each has a project at a receiver of its own, which answers as the sequence says.
// Operations follow one another, so that no order is left to chance, and nothing waits for time to pass.
package judge
