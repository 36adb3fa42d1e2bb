package campaign

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// Program builds the program under test into dir with these flags, and returns its path. In full it is built as
// it is released: the race detector would make each request several times slower, so that a kill or a fault would
// hit fewer moments. With -short it is built as the tests are, so that it needs no second compilation.
func Program(dir, name string, flags ...string) (path string, err error) {
	if testing.Short() {
		return harness.AsTested(dir, name, flags...)
	}
	return harness.BuildAs(dir, name, flags...)
}
