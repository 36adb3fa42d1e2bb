//go:build !race

package harness

// asTested are the build flags of the tests, and so of the binary under test.
var asTested []string
