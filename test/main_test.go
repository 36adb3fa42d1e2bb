// Package test holds the black-box tests: the built binary over real HTTP, judged
// by the specification and the contract. The name of a test is the rule that it
// shows.
package test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/store/postgres/pgtest"
	"github.com/countersign/countersign/test/harness"
)

func TestMain(m *testing.M) {
	onPostgres := flag.Bool("postgres", false, "give each server a PostgreSQL database instead of a directory")
	flag.Parse()
	if *onPostgres {
		harness.OnDatabase = pgtest.Database
	}
	waitTogether()
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err == nil {
		err = harness.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := pgtest.M{M: m}.Run()
	if missed := harness.Uncovered(); status == 0 && everything() && len(missed) > 0 {
		fmt.Fprintln(os.Stderr, "no test has seen these operations succeed:", missed)
		status = 1
	}
	if untried := harness.Untried(); status == 0 && everything() && len(untried) > 0 {
		fmt.Fprintln(os.Stderr, "no test has seen these commands do their work:", untried)
		status = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// waitTogether lets more tests run at once than there are processors: most of
// their time they wait for a process, a timeout or an expiry.
func waitTogether() {
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", "6") // it is a flag of every test binary
	}
}

// everything reports a run of all tests: only then every operation must have been
// seen.
func everything() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
