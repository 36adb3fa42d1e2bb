package linearizability

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// checkTime bounds the search for an order of one history, which takes milliseconds.
const checkTime = 5 * time.Minute

// check fails unless a history has an order under the model.
func check(t *testing.T, seed uint64, m porcupine.Model, h *history) {
	t.Helper()
	ops := h.sealed()
	switch porcupine.CheckOperationsTimeout(m, ops, checkTime) {
	case porcupine.Ok:
	case porcupine.Unknown:
		t.Errorf("seed %d: no order was found within %s, and none was ruled out\n%s", seed, checkTime, list(m, ops))
	case porcupine.Illegal:
		t.Errorf("seed %d: no order explains these answers; drawn in %s\n%s", seed, draw(t, seed, m, ops), list(m, ops))
	}
}

// draw writes a drawing of a history and returns its path.
func draw(t *testing.T, seed uint64, m porcupine.Model, ops []porcupine.Operation) string {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("seed-%d.html", seed))
	_, info := porcupine.CheckOperationsVerbose(m, ops, checkTime)
	if err := porcupine.VisualizePath(m, info, path); err != nil {
		t.Error(err)
	}
	return path
}

// list is a history as text: one operation a line, by the time of its call.
func list(m porcupine.Model, ops []porcupine.Operation) string {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&b, "%8d %8d  client %d  %s\n", o.Call, o.Return, o.ClientId, m.DescribeOperation(o.Input, o.Output))
	}
	return b.String()
}

// kind is one kind of history.
type kind struct {
	limit    int                // limit of active runs
	parallel int                // concurrent histories of one service
	answers  []countersign.Code // codes that must all occur
	play     func(h *fixture, seed uint64) (porcupine.Model, *history, error)
}

// lot is how many histories one service plays.
const lot = 50

// checkAll plays the histories of a kind. A seed belongs to one local store, and possibly also to one on a database, so
// that it is repeated on the same store in the same tier.
func checkAll(t *testing.T, k kind) {
	t.Parallel()
	for _, s := range slices.Concat(stores, []kindOfStore{replicas}) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			total := &tally{}
			for few := range slices.Chunk(s.seeds(t), lot) {
				k.playLot(s.fixture(t, k.limit), few, total)
			}
			total.want(t, k.answers)
		})
	}
}

// seeds are the seeds for this store: all that failed before, and its share of the requested number from the first one on.
func (s kindOfStore) seeds(t *testing.T) []uint64 {
	t.Helper()
	seeds, first := seed.Kept(t), seed.First(t)
	for n := range uint64(histories.N()) {
		if s.plays(first + n) {
			seeds = append(seeds, first+n)
		}
	}
	return seeds
}

// fixture opens a service on a store of this kind, or two services on one database.
func (s kindOfStore) fixture(t *testing.T, limit int) *fixture {
	t.Helper()
	if s.open == nil {
		return openReplicas(t, limit)
	}
	opened, err := s.open(t)
	if err != nil {
		t.Fatal(err)
	}
	return newFixture(t, opened, limit)
}

func (k kind) playLot(h *fixture, seeds []uint64, total *tally) {
	defer h.close()
	turns := make(chan struct{}, k.parallel)
	var group sync.WaitGroup
	for _, seed := range seeds {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			m, played, err := k.play(h, seed)
			if err != nil {
				h.t.Errorf("seed %d: %v", seed, err)
				return
			}
			check(h.t, seed, m, played)
			total.add(played)
		})
	}
	group.Wait()
}
