package simulation

import (
	"math/rand/v2"
	"sync"

	"github.com/countersign/countersign/internal/testing/rerun"
)

// loser draws which functions the store runs twice: some of them in two of three seeds. It has its own random source, so that a seed's
// script doesn't depend on it.
type loser struct {
	mu    sync.Mutex
	rng   *rand.Rand
	often int // percentage of functions
	times int
}

func newLoser(seed uint64) *loser {
	rng := rand.New(rand.NewPCG(seed, 0xa6a17))
	return &loser{rng: rng, often: []int{0, 10, 50}[rng.IntN(3)]}
}

// lose decides about the first run of the next function; see package rerun.
func (s *sim) lose() int {
	l := s.loser
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rng.IntN(100) >= l.often {
		return 0
	}
	l.times++
	if l.rng.IntN(2) == 0 {
		return rerun.Whole
	}
	return 1 + l.rng.IntN(20)
}
