// Package testing holds what only tests use: the in-memory store, the tests that every store must
// pass, and servers for tests.
//
// It may import anything. The product never imports it, except in builds with the
// tag `again`, which tests use.
//
// docs/architecture.md lists the order of the folders and each import between them.
package testing
