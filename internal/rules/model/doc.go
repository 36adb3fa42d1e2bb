// Package model implements the semantics of agent models (contract 4): it
// validates a document, compiles it to a finite automaton, simulates scenarios
// and explores the reachable states.
//
// It is pure: it uses no clock, randomness or I/O, so the same document and
// inputs give the same bytes.
//
// A model compares variables only with constants, and effects assign only
// constants. So a value is compiled to its rank among the variable's constants
// (constantTable), a predicate is one comparison of two integers (test), and
// values of equal rank behave identically. The constants also divide an input's
// values into finitely many classes (valueSets), so exploring all inputs is
// exact and terminates (stateSpace).
package model
