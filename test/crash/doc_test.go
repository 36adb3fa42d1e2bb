// Package crash kills the built binary and looks at what is left, from two
// witnesses: R, the raw log of the receiver, which keeps running over the kills,
// and A, what the API and the audit log say.
//
//	go test ./test/crash                                   both campaigns, small
//	go test ./test/crash -run Kill -cycles 100             kill -9 under load
//	go test ./test/crash -run Kill -cycles 1 -seed 4711    one cycle again
//	go test ./test/crash -run Kill.*Postgre -shared-cycles 200 -databases 10
//	                                                       on PostgreSQL, ten lives at once
//	go test ./test/crash -run Points -repeats 50           each point 50 times
//	go test ./test/crash -run Points -point ledger.saved   only these points
//
// A seed fixes what everybody does, what the receiver answers and after how much
// of it the process is killed; it can't fix how the processors interleave it.
package crash

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store/postgres/pgtest"
	"github.com/countersign/countersign/test/harness"
)

var (
	cycles = flag.Int("cycles", 20, "how often to kill the service under load")
	// Few at a time: of a cycle's twelve seconds a lease takes ten.
	sharedCycles = flag.Int("shared-cycles", 2, "how often to kill it under load on PostgreSQL")
	databases    = flag.Int("databases", 4, "how many lives to play at once there")
	seed         = flag.Uint64("seed", 0, "of the first cycle; 0: another one each time")
	repeats      = flag.Int("repeats", 1, "how often to die at each crash point")
	point        = flag.String("point", "", "only the crash points whose name holds this")
	sharedPoint  = flag.String("shared-point", "a day: postgres.", "on PostgreSQL only the crash points whose name holds this")
	update       = flag.Bool("update", false, "write down the crash points that were passed")
)

// binary is the program as it is released. The race detector would make each
// request ten times slower, and so the moments at which a kill can come fewer.
var binary string

// builds is where the programs under test are.
var builds string

func TestMain(m *testing.M) {
	flag.Parse()
	waitTogether()
	var err error
	if builds, err = os.MkdirTemp("", "countersign-crash-"); err == nil {
		binary, err = harness.BuildAs(builds, "countersign")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := pgtest.M{M: m}.Run()
	_ = os.RemoveAll(builds)
	os.Exit(status)
}

// waitTogether lets as many tests run at once as there are lives to play at once:
// they mostly wait.
func waitTogether() {
	const name = "test.parallel"
	if n, err := strconv.Atoi(flag.Lookup(name).Value.String()); err == nil && n < *databases {
		_ = flag.Set(name, strconv.Itoa(*databases)) // it is a flag of every test binary
	}
}

// firstSeed is the one asked for, or one of this moment.
func firstSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano()) % 1e9
}

type (
	doc  = harness.Doc
	json = harness.JSON
)
