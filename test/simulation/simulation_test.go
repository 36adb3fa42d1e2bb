package simulation

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds    = flag.Int("seeds", 1000, "how many seeds to play")
	from     = flag.Uint64("from", 1, "the first of them")
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
	for shard := range shards {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			last := time.Now()
			for i := shard; i < *seeds && !t.Failed(); i += shards {
				play(t, *from+uint64(i), total)
				if *progress && time.Since(last) > time.Minute {
					last = time.Now()
					fmt.Printf("shard %d: %d of %d seeds\n", shard, i, *seeds)
				}
			}
		})
	}
	t.Cleanup(func() { t.Log(total) })
}

// TestKeptSeeds plays every seed that failed once.
func TestKeptSeeds(t *testing.T) {
	f, err := os.Open("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if word == "" || word == "#" {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
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
