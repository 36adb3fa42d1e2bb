package campaign

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// Program builds the program under test into dir with these flags, and gives its
// path. In full it is built as it is released: with the race detector each request
// takes some times as long, so that a kill or a fault finds fewer moments. With
// -short it is built as the tests are, which spares each change a second compiled
// copy of everything.
func Program(dir, name string, flags ...string) (path string, err error) {
	if testing.Short() {
		return harness.AsTested(dir, name, flags...)
	}
	return harness.BuildAs(dir, name, flags...)
}
