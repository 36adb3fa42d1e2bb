// Package linearizability sends concurrent requests to the use cases, engine, run repository and store, on real goroutines
// and a real disk, and checks that the answers are those of some sequential order.
//
// It does so in two ways. A history is what several clients requested and were answered; a checker searches for an order
// under a sequential model of a few lines, which is independent of the service. A race is one concurrent situation for
// which the rules say exactly what may result; it is repeated so that the scheduler interleaves it in many ways.
//
//	go test -race ./test/linearizability                    a hundred histories of each kind, 25 repeats of each race; with -short a few
//	go test -race ./test/linearizability -histories 2000 -repeats 1000
//	go test ./test/linearizability -run Histories -seed 4711 -histories 1
//
// A seed determines what the clients do; the scheduler determines the order. A violation prints the seed and the whole
// history, and draws it: the test flag -artifacts keeps the drawing. Seeds that failed are kept in testdata/seeds.txt and
// are played in each kind.
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

// TestMain runs more tests concurrently than there are processors, since they mostly wait for the disk.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(pgtest.M{M: m}.Run())
}
