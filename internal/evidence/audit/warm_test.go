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

// longJournal is a store with a log of so many tiles and some records.
func longJournal(t *testing.T, tiles int) store.Store {
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
	return s
}

// TestAProofDoesNotHashTheWholeLog: of the subtrees that it needs only the hashes are read,
// so that receipts take as long after years as after a day.
func TestAProofDoesNotHashTheWholeLog(t *testing.T) {
	const tiles = 2*16 + 3
	s, p := longJournal(t, tiles), new(Prover)
	prove := func(seq int64) (lists int) {
		view(t, s, func(tx store.Tx) error {
			r, err := Sealing(tx, tenant, seq)
			if err != nil {
				return err
			}
			c := &countedLists{Tx: tx}
			out, err := p.Prove(c, tenant, []Sealed{r})
			lists = c.lists
			checked(t, out)
			return err
		})
		return lists
	}
	if read := prove(5); read < tiles {
		t.Fatalf("the first proof reads %d of %d tiles", read, tiles)
	}
	for tile := int64(16); tile < 2*16; tile++ {
		delete(p.known[tenant].hashes, subtree{tileLevel, tile})
	}
	if read := prove(7); read > 2 { // its own tile, and the last
		t.Errorf("a later proof reads %d tiles", read)
	}
}

// TestALongLogIsReadInSpansBeforeTheFirstProof: no snapshot reads more than some
// thousand records, the proof's own neither.
func TestALongLogIsReadInSpansBeforeTheFirstProof(t *testing.T) {
	s := longJournal(t, 2*warmTiles+3)
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
