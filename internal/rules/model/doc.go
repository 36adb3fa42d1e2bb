// Package model gives agent models their meaning (contract 4): it validates a
// document, compiles it to a machine, simulates scenarios and explores what a
// model can come to.
//
// It is pure: it reads no clock, draws nothing at random and performs no I/O,
// so the same document and inputs give the same bytes.
//
// The idea that the rest follows from: a model never compares a variable with
// another, only with constants, and an effect assigns only constants. So a
// value is compiled to its rank among its variable's constants (scale), a
// predicate is one comparison of two integers (test), and equal ranks are equal
// values for everything that can happen next (course). For the same reason
// exploring all inputs is exact and ends: an input has as many kinds of values
// as its constants part (kinds), and a set of them goes together until a test
// parts it (walk).
package model
