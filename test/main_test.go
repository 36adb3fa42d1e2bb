// Package test has the black-box tests: they use the built binary over HTTP and check it against the specification and the contract. The
// name of a test is the rule that it checks.
package test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

func TestMain(m *testing.M) {
	onPostgres := flag.Bool("postgres", false, "give each server a PostgreSQL database instead of a directory")
	flag.IntVar(&harness.Replicas, "replicas", 1, "with -postgres, give each server so many processes, behind a balancer that switches at every request")
	again := flag.Bool("again", false, "run each function of a transaction twice, as PostgreSQL's engine may")
	flag.Parse()
	if *onPostgres {
		harness.OnDatabase, harness.CloneDatabase = pgtest.Database, pgtest.Clone
	}
	waitTogether(*onPostgres)
	debug.SetGCPercent(400) // the tests have a small live heap and much garbage
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

// ofDirectories are the tests that call OnlyDirectory, sorted; all other tests run on every engine. The list prevents that a test is
// excluded unnoticed.
var ofDirectories = []string{
	"TestABackupIsServedForReadingAlone",
	"TestABackupNeverWritesOverAFileAndARestoreNeverOverAStore",
	"TestABackupUnderLoadHoldsAllThatWasAcknowledgedBeforeIt",
	"TestABrokenLogEndsTheCommandWithOne",
	"TestADamagedOrForeignBackupIsNotRestored",
	"TestAKillAfterItIsDecidedTellsTheEnd",
	"TestAKillBetweenCommitAndMessageLosesNone",
	"TestAKillBetweenMessageAndAnswerAsksAndDecidesOnce",
	"TestARestoreCanRevokeEveryToken",
	"TestASecondProcessOnAStoreExitsAndHarmsNothing",
	"TestAStoreWithABrokenLogIsNotRestoredOrCopied",
	"TestAnEncryptedBackupOpensWithItsKeyAlone",
	"TestDoctorFindsTheDamageThatServeRefuses",
	"TestDoctorReadsProjectsThatWantSeveralKeys",
	"TestNoByteOfARedactedRunIsLeft",
	"TestNothingThatWorksOnceWorksAgainAfterARestore",
	"TestSecretsOfTheSettingsAreReadFromFiles",
	"TestThatATokenEndsSoonIsToldEverywhere",
	"TestTheSettingsOfTheComposeFilesAreServed",
	"TestWhatWasSentAfterABackupIsNotSentAgainAfterItsRestore",
}

// TestTheListOfDirectoriesIsComplete compares it with the tests' text, since only a run on a database counts who called OnlyDirectory.
func TestTheListOfDirectoriesIsComplete(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var calling []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if call, is := n.(*ast.SelectorExpr); is && call.Sel.Name == "OnlyDirectory" {
					calling = append(calling, d.(*ast.FuncDecl).Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(calling)
	if !slices.Equal(calling, ofDirectories) {
		t.Errorf("these call it: %v", calling)
	}
}

// accountForDirectories prints which tests did not run on databases.
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

// sharing stops the shared servers before the database server stops.
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

// waitTogether runs more tests concurrently than there are processors, since they mostly wait for a process, a timeout or an expiry.
func waitTogether(onPostgres bool) {
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	together := "6"
	if onPostgres {
		together = "12" // the server doesn't sync, and the race detector is off
	}
	if !chosen {
		_ = flag.Set("test.parallel", together) // every test binary has this flag
	}
}

// everything reports whether all tests run: only then every operation must have been used.
func everything() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
