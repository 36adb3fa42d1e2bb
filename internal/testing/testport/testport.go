// Package testport draws ports for servers of tests. Nothing holds a port between the moment that
// it is found free and the moment that a server listens, so processes that test at the same time
// tell each other which ports they have drawn.
package testport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Claim draws a port of 127.0.0.1 where nothing listens, below the range of ephemeral ports. A lock
// on a file named after the port keeps other tests, in this process or another one, from drawing it
// until release is called.
func Claim() (port int, release func(), err error) {
	for range 100 {
		port = 10_000 + rand.N(22_000)
		claim := flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("countersign-test-port-%d.lock", port)))
		if locked, err := claim.TryLock(); err != nil || !locked {
			continue
		}
		release = func() { _ = claim.Close() } // the file stays: removing it could release the lock of another test
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, release, l.Close()
		}
		release()
	}
	return 0, nil, errors.New("no port is free")
}
