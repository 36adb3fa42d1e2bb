package audit

import (
	"context"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// countedLists counts the lists that are read.
type countedLists struct {
	store.Tx
	lists int
}

func (c *countedLists) List(k *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	c.lists++
	return c.Tx.List(k, tenant, q)
}

// TestALongLogIsReadInSpansBeforeTheFirstProof: no snapshot reads more than some
// thousand records, the proof's own neither.
func TestALongLogIsReadInSpansBeforeTheFirstProof(t *testing.T) {
	const tiles = 2*warmTiles + 3
	s := journal(t, 0)
	for n := 0; n < tiles<<tileLevel+7; n += 1 << tileLevel {
		update(t, s, func(tx store.Tx) error {
			batch := make([]countersign.AuditRecord, 1<<tileLevel)
			for i := range batch {
				batch[i] = record(n + i)
			}
			return Append(tx, tenant, batch)
		})
	}
	p, snapshots := new(Prover), 0
	read := func(_ context.Context, span func(tx store.Tx) error) error {
		snapshots++
		view(t, s, func(tx store.Tx) error {
			c := &countedLists{Tx: tx}
			if err := span(c); err != nil || c.lists > warmTiles {
				t.Errorf("snapshot %d reads %d subtrees: %v", snapshots, c.lists, err)
			}
			return nil
		})
		return nil
	}
	isWarm := func(want bool) {
		view(t, s, func(tx store.Tx) error {
			if warm, err := p.IsWarm(tx, tenant); err != nil || warm != want {
				t.Errorf("warm is %t: %v", warm, err)
			}
			return nil
		})
	}
	isWarm(false)
	for want := range 2 { // then it knows all
		if snapshots = 0; p.Warm(t.Context(), tenant, read) != nil || snapshots != 3-2*want {
			t.Errorf("%d snapshots", snapshots)
		}
	}
	isWarm(true)
	view(t, s, func(tx store.Tx) error {
		found, _, err := About(tx, tenant, []string{record(5).Subject})
		if err != nil {
			return err
		}
		c := &countedLists{Tx: tx}
		out, err := p.Prove(c, tenant, found[:1])
		if err != nil || c.lists > 3 {
			t.Errorf("the proof reads %d subtrees: %v", c.lists, err)
		}
		checked(t, out)
		return nil
	})
}
