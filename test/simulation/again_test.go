package simulation

import (
	"math/rand/v2"
	"sync"

	"github.com/countersign/countersign/internal/testing/rerun"
)

// loser draws which functions the store runs twice: in two seeds of three some of
// them. It has a source of its own, so that a seed's script is the same without it.
type loser struct {
	mu    sync.Mutex
	rng   *rand.Rand
	often int // of a hundred
	times int
}

func newLoser(seed uint64) *loser {
	rng := rand.New(rand.NewPCG(seed, 0xa6a17))
	return &loser{rng: rng, often: []int{0, 10, 50}[rng.IntN(3)]}
}

// lose is what the first run of the next function comes to; see package again.
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
