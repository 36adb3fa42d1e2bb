// Package iofaults lets the built binary meet a disk that is full or fails: a
// small file system that is filled for real, a limit on the size of its files,
// and system calls that fail (strace). What must hold is in docs/operations.md,
// "The store".
//
//	go test ./test/iofaults                    all of it, 10 injections
//	go test ./test/iofaults -injections 200    more of them
package iofaults

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var injections = flag.Int("injections", 10, "how many system calls to fail, each in a process of its own")

// binary is the program as it is released: under a tracer the race detector's
// slowness would hide what is tested.
var binary string

// given names a binary that a test hands to itself where it runs once more, in a
// namespace of its own.
const given = "COUNTERSIGN_IOFAULTS_BINARY"

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := "", error(nil)
	if binary = os.Getenv(given); binary == "" {
		if dir, err = os.MkdirTemp("", "countersign-iofaults-"); err == nil {
			binary, err = harness.BuildAs(dir, "countersign")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

type (
	doc  = harness.Doc
	json = harness.JSON
)
