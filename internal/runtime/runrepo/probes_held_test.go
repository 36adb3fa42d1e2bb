package runrepo_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// reading counts the bytes of a transaction's lists: all, and of the largest one, which
// is in memory at once.
type reading struct {
	store.Tx
	all, most int
	lists     int
}

func (tx *reading) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := tx.Tx.List(t, tenant, q)
	tx.lists++
	n := 0
	for _, r := range rows {
		n += len(r.Doc)
	}
	tx.all, tx.most = tx.all+n, max(tx.most, n)
	return rows, err
}

// TestProbesAreReadFewAtATimeAndCountedForAMove: a thousand may be of a mebibyte each.
func TestProbesAreReadFewAtATimeAndCountedForAMove(t *testing.T) {
	const size = 16 << 10
	h := open(t)
	id, probes := h.uncertain()
	ref := refOf(id)
	large := func(n int) run.Probed {
		e := probed(n)
		e.Probe.Output = countersign.String(strings.Repeat("x", size))
		return e
	}
	for n := range 64 {
		h.must(ref, probing(), large(n+1))
	}
	h.view(func(tx store.Tx) error {
		r := &reading{Tx: tx}
		held, err := h.repository.Load(r, ref)
		if err == nil && (len(held.Run().Steps[0].Probes) != 64 || r.all > runrepo.MaxRemembered) {
			t.Errorf("a move reads %d bytes, and knows %d probes", r.all, len(held.Run().Steps[0].Probes))
		}
		return err
	})
	h.view(func(tx store.Tx) error {
		r, kept := &reading{Tx: tx}, 0
		err := runrepo.EachStep(r, ref, 64, func(s *countersign.StepRun) {
			for _, p := range s.Probes {
				kept += len(p.Output.Raw())
			}
		})
		if r.most > 10*size || kept > 0 {
			t.Errorf("a list has %d bytes of probes in memory at once, and keeps %d", r.most, kept)
		}
		return err
	})
	h.must(ref, probing(), large(65))
	if n := len(probes()); n != 65 {
		t.Errorf("%d probes", n)
	}
	h.view(func(tx store.Tx) error {
		r, err := runrepo.New(runrepo.Config{}).Read(tx, ref)
		if err != nil {
			return err
		}
		if kept := r.Steps[0].Probes; len(kept) != 65 || kept[64].N != 65 || len(kept[63].Output.Raw()) < size {
			t.Errorf("%d probes are kept", len(kept))
		}
		return nil
	})
}
