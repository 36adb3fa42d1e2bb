package postgres

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

var (
	drafts     = flag.Int("drafts", 300, "how many batches are drawn whose functions run while another store has the lock")
	draftsSeed = flag.Uint64("drafts-seed", 0, "draws them; 0: others each time")
)

// drafting opens two stores on a database, of which the first runs functions while it waits for
// the other.
func drafting(t *testing.T) (s, other *Store) {
	t.Helper()
	url := pgtest.Database(t)
	settings := calm()
	settings.draftFor, settings.aheadFor = generous, 0
	s, other = mustOpenWith(t, url, settings), mustOpen(t, url)
	return s, other
}

// function is a drawn function of an Update: the same draws do the same to the same rows.
type function struct {
	seed uint64
	sure bool          // it takes nothing for granted: a batch that does may give the lock back, and run again
	ends chan struct{} // of each run
	did  string        // what its last run has seen
}

func newFunction(seed uint64) *function { return &function{seed: seed, ends: make(chan struct{}, 100)} }

const drawnRows = 3

// last ends a function.
const last = "last"

var errDrawn = errors.New("drawn")

func (f *function) run(tx store.Tx) error {
	draw := rand.New(rand.NewPCG(f.seed, 1))
	var did strings.Builder
	var failed error
	for range 1 + draw.IntN(5) {
		if failed = errors.Join(failed, f.operation(tx, draw, &did)); errors.Is(failed, errDrawn) || strings.HasSuffix(did.String(), last+"\n") {
			break
		}
	}
	f.did = did.String()
	f.ends <- struct{}{}
	return failed
}

// operation writes down what it sees, and what it writes depends on what was seen before. Its
// error is one that is no answer.
func (f *function) operation(tx store.Tx, draw *rand.Rand, did *strings.Builder) error {
	id, kind := fmt.Sprint(draw.IntN(drawnRows)), draw.IntN(24)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(did.String())) // a hash never fails
	of := int64(sum.Sum32()) + draw.Int64N(9)
	doc, keys := fmt.Sprint(of%3), []any{of / 3 % 2}
	switch {
	case kind < 7:
		row, err := tx.Get(store.Models, "acme", id)
		fmt.Fprintln(did, "get", id, row.Version, string(row.Doc), row.Keys)
		return unexpected(err)
	case kind < 12:
		row, err := tx.Get(store.Models, "acme", id)
		if err = unexpected(err); err == nil {
			err = tx.Put(store.Models, "acme", store.Row{ID: id, Keys: keys, Doc: []byte(doc)}, row.Version)
		}
		if err == nil { // the row guards it
			err = tx.Put(store.Steps, "acme", store.Row{ID: id, Keys: []any{id, int64(0), ""}, Doc: []byte(doc)}, row.Version)
		}
		fmt.Fprintln(did, "put", id, row.Version)
		return err
	case kind < 14:
		err := tx.Put(store.Models, "acme", store.Row{ID: "new" + id, Keys: keys, Doc: []byte(doc), New: !f.sure}, 0)
		fmt.Fprintln(did, "new", id, errors.Is(err, store.ErrConflict))
		return unexpected(err)
	case kind < 16:
		err := tx.Put(store.Models, "acme", store.Row{ID: "new" + id, Keys: keys, Doc: []byte(doc)}, of%3)
		fmt.Fprintln(did, "blind", id, errors.Is(err, store.ErrConflict))
		return unexpected(err)
	case kind < 18:
		fmt.Fprintln(did, "delete", id)
		if of%2 == 0 {
			return tx.Delete(store.Models, "acme", "new"+id)
		}
		return errors.Join(tx.Delete(store.Models, "acme", id), tx.Delete(store.Steps, "acme", id))
	case kind < 20:
		n, err := tx.Count(store.Models, "acme", notRetired)
		fmt.Fprintln(did, "count", n)
		return err
	case kind == 20:
		rows, err := tx.List(store.Models, "acme", notRetired)
		fmt.Fprintln(did, "list", len(rows))
		return err
	case kind == 21 && !strings.Contains(did.String(), "new"): // else it might never learn that the row is there
		fmt.Fprintln(did, "fail")
		return errDrawn
	}
	mayFail := of%4 == 3 && !strings.Contains(did.String(), "new")
	if mayFail {
		fmt.Fprintln(did, last) // at once it fails before what follows, later behind it
	}
	return store.AtTurn(tx, func(tx store.Tx, _ time.Duration) error {
		row, err := tx.Get(store.AuditHeads, "acme", "head")
		if err = unexpected(err); err != nil {
			return err
		}
		if mayFail && row.Version%4 == 3 {
			return errDrawn
		}
		return tx.Put(store.AuditHeads, "acme", store.Row{ID: "head", Doc: fmt.Append(row.Doc, of%10)}, row.Version)
	})
}

// unexpected is an error that isn't an answer.
func unexpected(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// whole is what a store has.
func whole(t *testing.T, s store.Store) string {
	t.Helper()
	var all strings.Builder
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		all.Reset()
		for _, table := range []*store.Table{store.Models, store.Steps, store.AuditHeads} {
			rows, err := tx.List(table, "acme", store.Query{})
			if err != nil {
				return err
			}
			for _, row := range rows {
				fmt.Fprintln(&all, table.Name, row.ID, row.Version, string(row.Doc), row.Keys)
			}
		}
		return nil
	}))
	return all.String()
}

// TestADraftIsTakenOverOnlyIfItHolds: functions run while another store has the lock and changes
// rows. Then each has seen, and the rows are, what they would be had each run after the other.
func TestADraftIsTakenOverOnlyIfItHolds(t *testing.T) {
	t.Parallel()
	s, other := drafting(t)
	alike := memory.New()
	seed := cmp.Or(*draftsSeed, rand.Uint64())
	t.Logf("again with -drafts-seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 2))
	once, again := 0, 0
	for i := range *drafts {
		first := newFunction(draw.Uint64())
		first.sure = true
		var members []*function
		for range 1 + draw.IntN(aCrowd-1) {
			members = append(members, newFunction(draw.Uint64()))
		}
		errs := inDrafts(t, s, other, first, members)
		for range 3 {
			mustIncrement(t, alike)
		}
		for n, f := range append([]*function{first}, members...) {
			same := newFunction(f.seed)
			err := alike.Update(context.Background(), same.run)
			if (err == nil) != (errs[n] == nil) || f.did != same.did {
				t.Fatalf("batch %d, function %d: %v\n%s\nalone: %v\n%s", i, n, errs[n], f.did, err, same.did)
			}
			if n > 0 && len(f.ends) == 0 { // the first end was waited for
				once++
			} else if n > 0 {
				again++
			}
		}
		if is, want := whole(t, s), whole(t, alike); is != want {
			t.Fatalf("batch %d: the store has\n%s\nand should have\n%s", i, is, want)
		}
	}
	t.Logf("%d functions ran once, %d again", once, again)
	if once < *drafts/4 || again < *drafts/4 {
		t.Errorf("of %d batches %d functions were taken over, and %d ran again", *drafts, once, again)
	}
}

// warm makes rows, a count and the head known to the first store, which then knows that it isn't
// alone.
func warm(t *testing.T, s, other *Store) {
	t.Helper()
	mustWrite(t, s, "a", "old")
	mustWrite(t, s, "b", "old")
	mustIncrement(t, other)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Count(store.Models, "acme", notRetired)
		_, unread := read(tx, "mine")
		return errors.Join(err, unexpected(unread), write(tx, "b", "old"), write(tx, "a", "old"), increment(tx))
	}))
}

var notRetired = store.Query{Where: []store.Filter{store.Equal("retired", int64(0))}}

// TestWhatOthersChangeRunsAgain: the function's last run is the one that counts.
func TestWhatOthersChangeRunsAgain(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		first, fn func(tx store.Tx) error
		want      error
	}{
		"a refusal": {
			func(tx store.Tx) error { return write(tx, "a", "new") },
			func(tx store.Tx) error {
				if doc, err := read(tx, "a"); doc == "old" || err != nil {
					return errors.Join(refused, err)
				}
				return nil
			}, nil,
		},
		"a count": {
			func(tx store.Tx) error { return write(tx, "c", "new") },
			func(tx store.Tx) error {
				if n, err := tx.Count(store.Models, "acme", notRetired); n != 2 {
					return errors.Join(refused, err)
				}
				return write(tx, "b", "new")
			}, refused,
		},
		"a row that is written without a look": {
			func(tx store.Tx) error { return write(tx, "a", "new") },
			func(tx store.Tx) error {
				return tx.Put(store.Models, "acme", store.Row{ID: "a", Keys: []any{int64(0)}, Doc: []byte("x")}, 2)
			}, store.ErrConflict,
		},
		"what fails at its turn": {
			func(tx store.Tx) error { return nil },
			func(tx store.Tx) error {
				row, err := tx.Get(store.Models, "acme", "b")
				if err = errors.Join(err, write(tx, "b", "new")); row.Version != 2 {
					err = errors.Join(err, fmt.Errorf("b is at version %d", row.Version))
				}
				return errors.Join(err, store.AtTurn(tx, func(_ store.Tx, waited time.Duration) error {
					if waited > 0 {
						return refused
					}
					return nil
				}))
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := drafting(t)
			warm(t, s, other)
			runs := 0
			err := whileLocked(t, s, other, c.first, func(tx store.Tx) error {
				runs++
				return c.fn(tx)
			})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || runs != 2 {
				t.Errorf("after %d runs: %v", runs, err)
			}
		})
	}
}

// TestADraftSeesWhatTheFunctionBeforeItMakesThisTime: a row of the same version, but of another
// content.
func TestADraftSeesWhatTheFunctionBeforeItMakesThisTime(t *testing.T) {
	s, other := drafting(t)
	warm(t, s, other)
	release, stop := locked(t, other, func(tx store.Tx) error { return write(tx, "a", "new") })
	seen, ran := "", make(chan struct{}, 9)
	var all sync.WaitGroup
	for _, fn := range []func(store.Tx) error{
		func(tx store.Tx) error {
			doc, err := read(tx, "a")
			return errors.Join(err, write(tx, "b", doc))
		},
		func(tx store.Tx) (err error) {
			seen, err = read(tx, "b")
			return errors.Join(err, increment(tx))
		},
	} {
		all.Go(func() {
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
				defer func() { ran <- struct{}{} }()
				return fn(tx)
			}))
		})
		<-ran
	}
	release()
	mustDo(t, stop())
	all.Wait()
	if seen != "new" {
		t.Errorf("the second function saw %q", seen)
	}
}

// maxIdle and maxWarm are those of sqldoc.
const maxIdle, maxWarm = 2, 16

// TestADraftOfWhatIsNotReadAgainDoesNotHold: others have changed a row, or made it, which recent
// batches didn't read, so it isn't known.
func TestADraftOfWhatIsNotReadAgainDoesNotHold(t *testing.T) {
	for name, c := range map[string]struct{ is, reads bool }{
		"a row": {true, true}, "no row": {false, true}, "no row, deleted without a look": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := drafting(t)
			if c.is {
				mustWrite(t, s, "a", "old")
			}
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { // it is cached
				_, err := read(tx, "a")
				return errors.Join(unexpected(err), write(tx, "b", "any"))
			}))
			for i := range maxIdle + maxWarm { // at last it isn't asked for in advance either
				mustDo(t, other.Update(context.Background(), func(tx store.Tx) error {
					if i < maxIdle {
						return errors.Join(write(tx, "a", "changed"), tx.Delete(store.Models, "acme", "a"))
					}
					return increment(tx)
				}))
				mustIncrement(t, s)
			}
			seen := "new"
			err := whileLocked(t, s, other, func(tx store.Tx) error { return write(tx, "a", "new") }, func(tx store.Tx) (err error) {
				if c.reads {
					seen, err = read(tx, "a")
				}
				return errors.Join(err, tx.Delete(store.Models, "acme", "a"))
			})
			if err != nil || seen != "new" {
				t.Errorf("the function saw %q: %v", seen, err)
			}
			if rows := whole(t, s); strings.Contains(rows, "models a") {
				t.Errorf("the row that it has deleted is there:\n%s", rows)
			}
		})
	}
}

// TestACountOfWhatTheFunctionChangedDoesNotHold: what others have added looks like its own row.
func TestACountOfWhatTheFunctionChangedDoesNotHold(t *testing.T) {
	s, other := drafting(t)
	warm(t, s, other)
	n := 0
	mustDo(t, whileLocked(t, s, other, func(tx store.Tx) error { return write(tx, "theirs", "") }, func(tx store.Tx) (err error) {
		if err = write(tx, "mine", ""); err == nil {
			n, err = tx.Count(store.Models, "acme", notRetired)
		}
		return err
	}))
	if n != 4 {
		t.Errorf("the function counted %d rows of 4", n)
	}
}

// TestAFunctionOfADraftIsToldWhenItNeedsTheDatabase, and runs again once that can be asked.
func TestAFunctionOfADraftIsToldWhenItNeedsTheDatabase(t *testing.T) {
	const told = "batches: what the function asks for is not cached"
	for name, ask := range map[string]func(tx store.Tx) error{
		"a row":   func(tx store.Tx) error { _, err := read(tx, "unknown"); return unexpected(err) },
		"a count": func(tx store.Tx) error { _, err := tx.Count(store.Users, "acme", store.Query{}); return err },
		"a list":  func(tx store.Tx) error { _, err := tx.List(store.Models, "acme", notRetired); return err },
		"values":  func(tx store.Tx) error { _, err := tx.Distinct(store.Audit, "acme", "actor"); return err },
	} {
		s, other := drafting(t)
		warm(t, s, other)
		var answers []string
		mustDo(t, whileLocked(t, s, other, increment, func(tx store.Tx) error {
			err := ask(tx)
			answers = append(answers, fmt.Sprint(err))
			_ = write(tx, "a", "new") // is undone with the first run
			return err
		}))
		if want := []string{told, "<nil>"}; !slices.Equal(answers, want) {
			t.Errorf("%s: %q", name, answers)
		}
	}
}

// TestAnOldDraftIsNotTakenOver: its functions have compared times with that of a moment long ago.
func TestAnOldDraftIsNotTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		draftFor time.Duration
		runs     int
	}{"young": {generous, 1}, "old": {1, 2}} {
		s, other := drafting(t)
		s.writer.settings.draftFor = c.draftFor
		for _, store := range []*Store{s, other, s} {
			mustIncrement(t, store)
		}
		runs := 0
		mustDo(t, whileLocked(t, s, other, func(store.Tx) error { return nil }, func(tx store.Tx) error {
			runs++
			return increment(tx)
		}))
		if runs != c.runs {
			t.Errorf("%s: the function ran %d times", name, runs)
		}
	}
}

// whileLocked runs fn in the store while the other one has the lock, and then first in that.
func whileLocked(t *testing.T, s, other *Store, first, fn func(store.Tx) error) error {
	t.Helper()
	release, stop := locked(t, other, first)
	defer func() { _ = stop() }() // after a failure nobody has asked for its error
	ran, answer := make(chan struct{}, 9), make(chan error, 1)
	go func() {
		answer <- s.Update(context.Background(), func(tx store.Tx) error {
			defer func() { ran <- struct{}{} }()
			return fn(tx)
		})
	}()
	select {
	case <-ran:
	case <-time.After(generous):
		t.Fatal("the function waits for the lock")
	}
	release()
	return <-answer
}

// inDrafts runs first in the other store, and while it has the lock the members of one batch.
// Then it lets them go on, and returns the errors of all.
func inDrafts(t *testing.T, s, other *Store, first *function, members []*function) []error {
	t.Helper()
	for _, store := range []*Store{s, other, s} { // so s knows that it isn't alone
		mustIncrement(t, store)
	}
	errs := make([]error, 1+len(members))
	release, stop := locked(t, other, first.run)
	defer func() { _ = stop() }() // after a failure nobody has asked for its error
	var all sync.WaitGroup
	for n, f := range members {
		all.Go(func() { errs[n+1] = s.Update(context.Background(), f.run) })
		select {
		case <-f.ends:
		case <-time.After(generous):
			t.Fatal("the function waits for the lock")
		}
	}
	release()
	errs[0] = stop()
	all.Wait()
	return errs
}

// locked has a store take the lock. Its function goes on once it is released; stop releases it
// and waits for the end.
func locked(t *testing.T, s *Store, fn func(store.Tx) error) (release func(), stop func() error) {
	t.Helper()
	holds, released := make(chan struct{}, 9), make(chan struct{})
	answer := make(chan error, 1)
	go func() {
		answer <- s.Update(context.Background(), func(tx store.Tx) error {
			if _, err := tx.List(store.Tenants, "acme", store.Query{}); err != nil { // it asks, so it has the lock
				return err
			}
			holds <- struct{}{}
			<-released
			return fn(tx)
		})
	}()
	<-holds
	release = sync.OnceFunc(func() { close(released) })
	return release, sync.OnceValue(func() error {
		release()
		return <-answer
	})
}
