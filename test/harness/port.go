package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// UnusedAddress is an address of this machine where nothing listens. Its port is below the range of
// ephemeral ports. A lock on a file named after the port prevents that another test, in this process or
// another one, chooses the port before this test has ended.
func UnusedAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.N(22_000)
		claim := flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("countersign-test-port-%d.lock", port)))
		if locked, err := claim.TryLock(); err != nil || !locked {
			continue
		}
		t.Cleanup(func() { _ = claim.Close() }) // the file stays: removing it could release the lock of another test
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
