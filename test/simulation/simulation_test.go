package simulation

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/test/campaign"
)

var (
	seeds    = campaign.SizeFlag("seeds", 45, 1000, "how many seeds to play")
	from     = campaign.SeedFlag("from")
	oneSeed  = flag.Uint64("seed", 0, "play this seed only, and print its script")
	steps    = flag.Int("steps", 40, "requests of a seed")
	progress = flag.Bool("progress", false, "say every minute how far it is")
)

// TestSimulation plays seeds and checks every invariant after each step.
func TestSimulation(t *testing.T) {
	total := &tally{}
	if *oneSeed != 0 {
		s := play(t, *oneSeed, total)
		t.Log("\n" + strings.Join(s.script, "\n"))
		return
	}
	first := from.First(t)
	for shard := range shards {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			last := time.Now()
			for i := shard; i < seeds.N() && !t.Failed(); i += shards {
				play(t, first+uint64(i), total)
				if *progress && time.Since(last) > time.Minute {
					last = time.Now()
					fmt.Printf("shard %d: %d of %d seeds\n", shard, i, seeds.N())
				}
			}
		})
	}
	t.Cleanup(func() { t.Log(total) })
}

// TestKeptSeeds plays every seed that failed before.
func TestKeptSeeds(t *testing.T) {
	for _, seed := range from.Kept(t) {
		play(t, seed, &tally{})
	}
}

func play(t *testing.T, seed uint64, total *tally) (s *sim) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s = newSim(t, seed)
		s.run(*steps)
		total.add(s)
	})
	return s
}
