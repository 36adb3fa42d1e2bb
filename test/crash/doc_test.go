// Package crash kills the built binary and examines the result by two records: R, the raw log of the receiver, which
// runs on over the kills, and A, what the API and the audit log say.
//
//	go test ./test/crash                                   both campaigns; with -short a few kills, and one death at each place
//	go test ./test/crash -run Kill -cycles 100             kill -9 under load
//	go test ./test/crash -run Kill -cycles 1 -seed 4711    one cycle again
//	go test ./test/crash -run Kill.*Postgre -shared-cycles 200 -databases 10
//	                                                       on PostgreSQL, ten lives at once
//	go test ./test/crash -run Points -repeats 50           each point 50 times
//	go test ./test/crash -run Points -point runrepo.saved   only these points
//
// A seed determines what the callers do, what the receiver answers, and after how much of it the process is killed, but
// not how the processors interleave it. Seeds of failed cycles are kept in testdata/seeds.txt, and deaths in
// testdata/deaths.txt: both are always played.
package crash

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	cycles = campaign.SizeFlag("cycles", 2, 20, "how often to kill the service under load")
	// Few concurrently: of a cycle's twelve seconds a lease takes ten.
	sharedCycles = campaign.SizeFlag("shared-cycles", 1, 2, "how often to kill it under load on PostgreSQL")
	databases    = campaign.SizeFlag("databases", 1, 4, "how many lives to play at once there")
	hands        = campaign.SizeFlag("hands", 1, 3, "how many to let die at once at crash points: a case mostly waits")
	seed         = campaign.SeedFlag("seed")
	repeats      = campaign.SizeFlag("repeats", 0, 1, "how often to die at each crash point; 0: once at each place, at one of its points that is drawn")
	point        = flag.String("point", "", "only the crash points whose name holds this")
	sharedPoint  = flag.String("shared-point", "a day: postgres.", "on PostgreSQL only the crash points whose name holds this")
	update       = flag.Bool("update", false, "write down the crash points that were passed")
)

// binary is the program that is killed under load.
var binary string

// builds is the directory of the programs under test.
var builds string

func TestMain(m *testing.M) {
	flag.Parse()
	waitTogether()
	var err error
	if builds, err = os.MkdirTemp("", "countersign-crash-"); err == nil {
		binary, err = campaign.Program(builds, "countersign")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := pgtest.M{M: m}.Run()
	_ = os.RemoveAll(builds)
	os.Exit(status)
}

// waitTogether sets how many tests run concurrently: as many as there are databases, and those of the directory in
// addition. They mostly wait.
func waitTogether() {
	const name = "test.parallel"
	if n, err := strconv.Atoi(flag.Lookup(name).Value.String()); err == nil && n < 4+databases.N() {
		_ = flag.Set(name, strconv.Itoa(4+databases.N())) // every test binary has this flag
	}
}

type (
	doc  = harness.Doc
	json = harness.JSON
)
