package harness

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/testing/testport"
)

// UnusedAddress is an address of this machine where nothing listens. No other test is given it
// before this one has ended.
func UnusedAddress(t testing.TB) string {
	t.Helper()
	port, release, err := testport.Claim()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return fmt.Sprintf("127.0.0.1:%d", port)
}
