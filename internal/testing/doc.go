// Package testing is what only tests use: the in-memory store, the law of every store,
// and the servers that tests talk to.
//
// It may import anything. The product never imports it; a build with the tag again is
// made for tests.
//
// The order of the folders and each import between them: docs/architecture.md.
package testing
