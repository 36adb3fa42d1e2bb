package audit

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// unreadable fails to read the hashes that are kept with a log.
type unreadable struct {
	store.Tx
	err error
}

func (u unreadable) Get(table *store.Table, tenant, id string) (store.Row, error) {
	if table == store.AuditHeads && id != headID {
		return store.Row{}, u.err
	}
	return u.Tx.Get(table, tenant, id)
}

// TestAHashThatCannotBeReadIsComputed, if its row is damaged. Any other error is the proof's.
func TestAHashThatCannotBeReadIsComputed(t *testing.T) {
	for _, c := range []struct{ is, want error }{{store.ErrDamaged, nil}, {store.ErrOver, store.ErrOver}} {
		view(t, longJournal(t, 3), func(tx store.Tx) error {
			r, err := Sealing(tx, tenant, 5)
			if err != nil {
				return err
			}
			if _, err = new(Prover).Prove(unreadable{tx, c.is}, tenant, []Sealed{r}); !errors.Is(err, c.want) {
				t.Errorf("%v: %v", c.is, err)
			}
			return nil
		})
	}
}

// countedLists counts the lists that are read.
type countedLists struct {
	store.Tx
	lists int
}

func (c *countedLists) List(k *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	c.lists++
	return c.Tx.List(k, tenant, q)
}

// longJournal is a store with a log of so many tiles and seven records.
func longJournal(t *testing.T, tiles int) store.Store {
	s, end := journal(t, 0), tiles<<tileLevel+7
	for n := 0; n < end; n += 1 << tileLevel {
		update(t, s, func(tx store.Tx) error {
			batch := make([]countersign.AuditRecord, min(1<<tileLevel, end-n))
			for i := range batch {
				batch[i] = record(n + i)
			}
			return Append(tx, tenant, batch)
		})
	}
	return s
}

// keptRows are the rows with hashes that are kept with a log.
func keptRows(t *testing.T, s store.Store) (rows []store.Row) {
	view(t, s, func(tx store.Tx) (err error) {
		rows, err = tx.List(store.AuditHeads, tenant, store.Query{Where: []store.Filter{{Column: "id", Op: store.AtMost, Values: []any{"99"}}}})
		return err
	})
	return rows
}

// ofEarlierRelease removes what releases before this one did not write.
func ofEarlierRelease(t *testing.T, s store.Store) {
	for _, row := range keptRows(t, s) {
		update(t, s, func(tx store.Tx) error { return tx.Delete(store.AuditHeads, tenant, row.ID) })
	}
}

// proveOne proves a record and returns how many tiles that reads.
func proveOne(t *testing.T, p *Prover, s store.Store, seq int64) (tiles int) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		r, err := Sealing(tx, tenant, seq)
		if err != nil {
			return err
		}
		c := &countedLists{Tx: tx}
		out, err := p.Prove(c, tenant, []Sealed{r})
		if err == nil {
			checked(t, out)
		}
		tiles = c.lists
		return err
	})
	return tiles
}

// TestAProofReadsFewRecordsOfALongLog: receipts take as long after years as after a day, the
// first one after a start too.
func TestAProofReadsFewRecordsOfALongLog(t *testing.T) {
	s, p := longJournal(t, 2*16+3), new(Prover)
	view(t, s, func(tx store.Tx) error {
		if warm, err := p.IsWarm(tx, tenant); err != nil || !warm {
			t.Errorf("with hashes that are kept it is warm: %t, %v", warm, err)
		}
		return nil
	})
	if read := proveOne(t, p, s, 5); read > 2 { // its own tile, and the last
		t.Errorf("a proof reads %d tiles", read)
	}
}

// TestALaterProofDoesNotHashTheWholeLog of an earlier release, with which no hashes are kept.
func TestALaterProofDoesNotHashTheWholeLog(t *testing.T) {
	const tiles = 2*16 + 3
	s, p := longJournal(t, tiles), new(Prover)
	ofEarlierRelease(t, s)
	if read := proveOne(t, p, s, 5); read < tiles {
		t.Fatalf("the first proof reads %d of %d tiles", read, tiles)
	}
	for tile := int64(16); tile < 2*16; tile++ {
		delete(p.known[tenant].hashes, subtree{tileLevel, tile})
	}
	if read := proveOne(t, p, s, 7); read > 2 {
		t.Errorf("a later proof reads %d tiles", read)
	}
}

// TestTheHashesOfCompleteSubtreesAreKept, each once, as the records have them.
func TestTheHashesOfCompleteSubtreesAreKept(t *testing.T) {
	const tiles = 2*16 + 3
	s := longJournal(t, tiles)
	rows := keptRows(t, s)
	if len(rows) != tiles+2 || rows[0].ID != "08-0000000000000000" || rows[tiles+1].ID != "12-0000000000000001" {
		t.Fatalf("%d hashes are kept", len(rows))
	}
	view(t, s, func(tx store.Tx) error {
		r := newSubtrees(new(Prover), tx, tenant, noneKept)
		for level, n := range map[int]int64{tileLevel: tiles, tileLevel + keptEvery: 2} {
			for at := range n {
				is, ok, err := kept(tx, tenant, subtree{level, at})
				want, failed := r.hash(subtree{level, at})
				if !ok || err != nil || failed != nil || is != want {
					t.Errorf("of %d at level %d %x is kept (%t, %v), and it is %x (%v)", at, level, is, ok, err, want, failed)
				}
			}
		}
		return nil
	})
}

// TestTheHashesOfAnEarlierLogAreKeptOnce: as many at once as a commit may have, and those that
// appends have kept meanwhile stay.
func TestTheHashesOfAnEarlierLogAreKeptOnce(t *testing.T) {
	const tiles = keptAtOnce + 16 + 3
	s, p := longJournal(t, tiles), new(Prover)
	want := keptRows(t, s)
	ofEarlierRelease(t, s)
	read := func(_ context.Context, span func(tx store.Tx) error) error {
		view(t, s, span)
		return nil
	}
	if err := p.Warm(t.Context(), tenant, read); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx store.Tx) error { // as if appended
		at := subtree{tileLevel, tiles - 1}
		root, err := newSubtrees(p, tx, tenant, noneKept).hash(at)
		return errors.Join(err, keep(tx, tenant, at, root))
	})
	commits := 0
	for before := p.Tiles(tenant); before > 0; commits++ {
		if _, there, _ := keptIn(t, s, subtree{tileLevel, 0}); there {
			t.Fatalf("the first is kept before the %d-th", before)
		}
		update(t, s, func(tx store.Tx) (err error) {
			before, err = p.Keep(tx, tenant, before)
			return err
		})
	}
	got := keptRows(t, s)
	same := slices.EqualFunc(got, want, func(a, b store.Row) bool { return a.ID == b.ID && bytes.Equal(a.Doc, b.Doc) && a.Version == 1 })
	if commits != 2 || !same {
		t.Errorf("%d commits keep %d hashes, want %d", commits, len(got), len(want))
	}
}

// TestWhatAnEarlierReleaseHasAppendedIsReadInSpans, once: also where this one has kept hashes before and after.
func TestWhatAnEarlierReleaseHasAppendedIsReadInSpans(t *testing.T) {
	for _, missing := range []int{warmTiles, warmTiles + 1} {
		s := longJournal(t, 2*warmTiles+5)
		for _, row := range keptRows(t, s)[2 : 2+missing] {
			update(t, s, func(tx store.Tx) error { return tx.Delete(store.AuditHeads, tenant, row.ID) })
		}
		for start := range 2 {
			p, want := new(Prover), start == 1 || missing <= warmTiles
			view(t, s, func(tx store.Tx) error {
				if warm, err := p.IsWarm(tx, tenant); err != nil || warm != want {
					t.Errorf("%d hashes missing: at start %d it is warm: %t, %v", missing, start, warm, err)
				}
				return nil
			})
			if !want {
				warmAndKeep(t, p, s)
			}
		}
	}
}

func warmAndKeep(t *testing.T, p *Prover, s store.Store) {
	t.Helper()
	read := func(_ context.Context, span func(tx store.Tx) error) error {
		view(t, s, span)
		return nil
	}
	if err := p.Warm(t.Context(), tenant, read); err != nil {
		t.Fatal(err)
	}
	for before := p.Tiles(tenant); before > 0; {
		update(t, s, func(tx store.Tx) (err error) {
			before, err = p.Keep(tx, tenant, before)
			return err
		})
	}
}

// TestHashesAreCountedOnce: each later proof would count a row for 256 records.
func TestHashesAreCountedOnce(t *testing.T) {
	p, counts := new(Prover), 0
	view(t, longJournal(t, 2*warmTiles), func(tx store.Tx) error {
		for range 3 {
			if warm, err := p.IsWarm(countedCounts{tx, &counts}, tenant); err != nil || !warm {
				t.Errorf("warm is %t: %v", warm, err)
			}
		}
		return nil
	})
	if counts != 1 {
		t.Errorf("%d counts", counts)
	}
}

type countedCounts struct {
	store.Tx
	counts *int
}

func (c countedCounts) Count(k *store.Table, tenant string, q store.Query) (int, error) {
	*c.counts++
	return c.Tx.Count(k, tenant, q)
}

func keptIn(t *testing.T, s store.Store, at subtree) (h tlog.Hash, ok bool, err error) {
	view(t, s, func(tx store.Tx) error {
		h, ok, err = kept(tx, tenant, at)
		return err
	})
	return h, ok, err
}

// TestAKeptHashIsNotTrusted: where it is another, damaged or missing, records are proven
// nevertheless.
func TestAKeptHashIsNotTrusted(t *testing.T) {
	for name, doc := range map[string]string{
		"another":  `{"hash":"` + strings.Repeat("07", tlog.HashSize) + `"}`,
		"short":    `{"hash":"07"}`,
		"damaged":  `{"hash":`,
		"no value": `{}`,
		"missing":  "",
	} {
		t.Run(name, func(t *testing.T) {
			s := longJournal(t, 5)
			for _, row := range keptRows(t, s)[1:3] {
				update(t, s, func(tx store.Tx) error {
					if doc == "" {
						return tx.Delete(store.AuditHeads, tenant, row.ID)
					}
					return tx.Put(store.AuditHeads, tenant, store.Row{ID: row.ID, Doc: []byte(doc)}, row.Version)
				})
			}
			for seq := range int64(5) {
				proveOne(t, new(Prover), s, seq<<tileLevel)
			}
		})
	}
}

// TestALongLogIsReadInSpansBeforeTheFirstProof, of an earlier release: no snapshot reads more than some
// thousand records, the proof's own neither.
func TestALongLogIsReadInSpansBeforeTheFirstProof(t *testing.T) {
	s := longJournal(t, 2*warmTiles+3)
	ofEarlierRelease(t, s)
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
