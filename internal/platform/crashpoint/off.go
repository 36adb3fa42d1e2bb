//go:build !crashpoints

// Package crashpoint names the edges at which a crash matters: before and after
// a change is durable, before and after the bytes of a call are out. A build
// with the tag `crashpoints` dies at the one that it is told to (on.go), so that
// test/crash can look at what is left. In every other build a call compiles to
// nothing.
package crashpoint

// At is an edge: a place in the code and what passes it there, nil where that
// makes no difference.
func At(_ string, _ any) {}
