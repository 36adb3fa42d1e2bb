// Package iofaults runs the built binary with a full or failing disk: a small file system that is really filled, a limit on
// the size of files, and failing system calls (strace). docs/operations.md, "The store", says what must hold.
//
//	go test ./test/iofaults                    all of it, some injections
//	go test ./test/iofaults -injections 200    more of them
//	go test ./test/iofaults -from 4711 -injections 1
//
// The failing calls are random; injections that found something are kept in testdata/seeds.txt.
package iofaults

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	injections = campaign.SizeFlag("injections", 6, 18, "how many system calls to fail, each in a process of its own")
	from       = campaign.SeedFlag("from")
	within     = flag.Duration("within", 0, "how soon a service must end whose store has failed; 0 only tells")
)

// binary is the program under test.
var binary string

// given is the variable with the binary for a test that runs itself once more, in its own namespace.
const given = "COUNTERSIGN_IOFAULTS_BINARY"

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := "", error(nil)
	if binary = os.Getenv(given); binary == "" {
		if dir, err = os.MkdirTemp("", "countersign-iofaults-"); err == nil {
			binary, err = campaign.Program(dir, "countersign")
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
