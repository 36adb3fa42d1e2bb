// Package linearizability asks the use cases, engine, ledger and store many
// things at once, on real goroutines and a real disk, and shows that the answers
// are those of some order in which one thing was done after the other.
//
// It does so in two ways. A history is what several clients did and were told;
// a checker searches for such an order under a model of a few lines, which knows
// nothing of the service. A race is one moment of which the rules say exactly
// what may come of it, repeated until the scheduler has tried it from all sides.
//
//	go test -race ./test/linearizability                    a hundred histories of each kind, 25 repeats of each race; with -short a few
//	go test -race ./test/linearizability -histories 2000 -repeats 1000
//	go test ./test/linearizability -run Histories -seed 4711 -histories 1
//
// A seed draws what the clients do; in which order it happens is the
// scheduler's. A violation prints the seed and the whole history, and draws it:
// the test flag -artifacts keeps the drawing. Seeds that failed are kept in
// testdata/seeds.txt and played in each kind.
package linearizability

import (
	"flag"
	"os"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
)

var (
	histories = campaign.SizeFlag("histories", 16, 100, "how many histories of each kind to check")
	repeats   = campaign.SizeFlag("repeats", 2, 25, "how often to repeat each race, on each store")
	sparing   = campaign.SizeFlag("sparing", 8, 25, "play one of so many on databases, where each takes longer")
	seed      = campaign.SeedFlag("seed")
)

// TestMain has more tests run at a time than there are processors: most of the
// time they wait for the disk.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(pgtest.M{M: m}.Run())
}
