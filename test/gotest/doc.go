// Package gotest has the common parts of the commands that run tests: build flags, the events of `go test -json`, and the
// results for a state of the working tree.
package gotest
