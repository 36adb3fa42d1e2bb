//go:build !race

package harness

// raced says whether the tests, and so the binary under test, are built with the
// race detector.
const raced = false
