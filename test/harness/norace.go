//go:build !race

package harness

// asTested are the flags that the tests, and so the binary under test, are built
// with.
var asTested []string
