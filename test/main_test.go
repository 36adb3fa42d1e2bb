// Package test holds the black-box tests: the built binary over real HTTP, judged
// by the specification and the contract. The name of a test is the rule that it
// shows.
package test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

func TestMain(m *testing.M) {
	onPostgres := flag.Bool("postgres", false, "give each server a PostgreSQL database instead of a directory")
	again := flag.Bool("again", false, "run each function of a transaction twice, as PostgreSQL's engine may")
	flag.Parse()
	if *onPostgres {
		harness.OnDatabase = pgtest.Database
	}
	waitTogether(*onPostgres)
	debug.SetGCPercent(400) // what the tests hold is little, and what they throw away is much
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err == nil {
		err = harness.Build(dir, tags(*again)...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := pgtest.M{M: sharing{m}}.Run()
	if missed := harness.Uncovered(); status == 0 && everything() && len(missed) > 0 {
		fmt.Fprintln(os.Stderr, "no test has seen these operations succeed:", missed)
		status = 1
	}
	if untried := harness.Untried(); status == 0 && everything() && len(untried) > 0 {
		fmt.Fprintln(os.Stderr, "no test has seen these commands do their work:", untried)
		status = 1
	}
	if err := accountForDirectories(); *onPostgres && everything() && err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	if everything() || testing.Verbose() {
		fmt.Println(harness.Scanned())
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// ofDirectories are the tests that say so of themselves, sorted: the others are of
// every engine. A name is here so that nobody takes a test out of the run unseen.
var ofDirectories = []string{
	"TestABackupIsServedForReadingAlone",
	"TestABackupNeverWritesOverAFileAndARestoreNeverOverAStore",
	"TestABackupUnderLoadHoldsAllThatWasAcknowledgedBeforeIt",
	"TestADamagedOrForeignBackupIsNotRestored",
	"TestARestoreCanRevokeEveryToken",
	"TestASecondProcessOnAStoreExitsAndHarmsNothing",
	"TestAnEncryptedBackupOpensWithItsKeyAlone",
	"TestDoctorFindsTheDamageThatServeRefuses",
	"TestWhatWasSentAfterABackupIsNotSentAgainAfterItsRestore",
}

// accountForDirectories prints which tests were no part of a run on databases.
func accountForDirectories() error {
	out := harness.OfDirectories()
	if len(out) > 0 {
		fmt.Printf("%d tests are of a directory and no part of this run: %s\n", len(out), strings.Join(out, ", "))
	}
	if !slices.Equal(out, ofDirectories) {
		return fmt.Errorf("these are those that should be: %v", ofDirectories)
	}
	return nil
}

// sharing ends the servers that tests share before the database server ends.
type sharing struct{ *testing.M }

func (s sharing) Run() int {
	status := s.M.Run()
	if err := harness.EndShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	return status
}

func tags(again bool) []string {
	if again {
		return []string{"-tags", "again"}
	}
	return nil
}

// waitTogether lets more tests run at once than there are processors: most of
// their time they wait for a process, a timeout or an expiry.
func waitTogether(onPostgres bool) {
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	together := "6"
	if onPostgres {
		together = "12" // the server doesn't sync, and the race detector is off
	}
	if !chosen {
		_ = flag.Set("test.parallel", together) // it is a flag of every test binary
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
