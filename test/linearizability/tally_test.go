package linearizability

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/countersign/countersign"
)

// tally counts the answers in the histories of a kind: histories without contention prove nothing.
type tally struct {
	mu        sync.Mutex
	histories int
	answers   map[countersign.Code]int
}

func (t *tally) add(h *history) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = map[countersign.Code]int{}
	}
	t.histories++
	for _, op := range h.ops {
		t.answers[op.Output.(told).was()]++
	}
}

// enough is the number of histories from which on every code of a kind must occur.
const enough = 50

// want fails unless the codes occurred.
func (t *tally) want(test *testing.T, codes []countersign.Code) {
	test.Helper()
	text := fmt.Sprintf("%d histories checked;", t.histories)
	for _, code := range slices.Sorted(maps.Keys(t.answers)) {
		text += fmt.Sprintf(" %q %d", code, t.answers[code])
	}
	test.Log(text)
	for _, code := range codes {
		if t.histories >= enough && t.answers[code] == 0 {
			test.Errorf("nobody was ever told %q; the histories show nothing of it", code)
		}
	}
}
