// Package gotest is what the commands that run tests have in common: how the tests
// are built, what `go test -json` tells, and what passed on which state of the
// working tree.
package gotest
