//go:build race

package harness

import "github.com/countersign/countersign/test/gotest"

// asTested are the flags that the tests, and so the binary under test, are built
// with.
var asTested = gotest.Race
