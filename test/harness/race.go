//go:build race

package harness

import "github.com/countersign/countersign/test/gotest"

// asTested are the build flags of the tests, and so of the binary under test.
var asTested = gotest.Race
