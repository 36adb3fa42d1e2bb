package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// filled is a store with rows of several tenants, with several versions, on more than one page,
// and with an audit log.
func filled(t *testing.T) store.Store {
	t.Helper()
	s := memory.New()
	do(t, update(context.Background(), s, func(tx store.Whole) error {
		for n := range 3*atOnce + 1 {
			for _, tenant := range []string{"acme", "only-runs"} {
				row := store.Row{ID: fmt.Sprintf("run-%03d", n), Version: int64(n + 1), Keys: []any{int64(-n), "READY", "p", "", ""}, Doc: fmt.Appendf(nil, " {\"n\":%d} ", n)}
				if err := tx.Load(store.Runs, tenant, row); err != nil {
					return err
				}
			}
		}
		if err := tx.Load(store.Meta, store.Realm, store.Row{ID: "known", Version: 7, Doc: []byte("{}")}); err != nil {
			return err
		}
		return audit.Append(tx, "acme", []countersign.AuditRecord{{Actor: "user:a", Action: "a", Subject: "s", Outcome: countersign.AuditDone}})
	}))
	return s
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copied(t *testing.T, from store.Store) (store.Store, Report) {
	t.Helper()
	to := memory.New()
	r, err := Copy(t.Context(), from, to, Config{})
	do(t, err)
	return to, r
}

func TestACopyHoldsEveryRowWithItsVersionAndIsComplete(t *testing.T) {
	from := filled(t)
	last, calls := int64(0), 0
	to := memory.New()
	r, err := Copy(t.Context(), from, to, Config{Progress: func(done, all int64) {
		last, calls = all-done, calls+1
	}})
	do(t, err)
	if want := int64(2*(3*atOnce+1) + 3); !r.Sound() || r.Rows != want || last != 0 || calls == 0 || len(r.Logs) != 3 {
		t.Errorf("%+v of %d rows; %d to go after %d calls", r, want, last, calls)
	}
	do(t, Complete(t.Context(), to))
	_, again := copied(t, to)
	if again.From != r.From || again.Rows != r.Rows {
		t.Errorf("a copy of the copy is %+v instead of %+v", again, r)
	}
}

// TestTheDigestIsOfEveryPartOfARow, and of its table and tenant.
func TestTheDigestIsOfEveryPartOfARow(t *testing.T) {
	row := store.Row{ID: "run", Version: 2, Keys: []any{int64(1), "READY", "p", "eu", ""}, Doc: []byte(`{}`)}
	seen := map[string]string{}
	for name, change := range map[string]func(p *page, r *store.Row){
		"nothing": func(*page, *store.Row) {}, "tenant": func(p *page, _ *store.Row) { p.tenant = "b" },
		"table": func(p *page, _ *store.Row) { p.table = store.Approvals }, "id": func(_ *page, r *store.Row) { r.ID = "ruN" },
		"version": func(_ *page, r *store.Row) { r.Version = 3 }, "document": func(_ *page, r *store.Row) { r.Doc = []byte(`{ }`) },
		"integer": func(_ *page, r *store.Row) { r.Keys = []any{int64(2), "READY", "p", "eu", ""} },
		"text":    func(_ *page, r *store.Row) { r.Keys = []any{int64(1), "READY", "p", "us", ""} },
		"border":  func(_ *page, r *store.Row) { r.Keys = []any{int64(1), "READYp", "", "eu", ""} },
	} {
		p, r, d := page{table: store.Runs, tenant: "a"}, row, newDigest()
		change(&p, &r)
		p.rows = []store.Row{r}
		d.add(p)
		if other, is := seen[d.sum()]; is {
			t.Errorf("%s and %s are not told apart", name, other)
		}
		seen[d.sum()] = name
	}
}

func TestATargetWithAnyRowIsRefusedUnchanged(t *testing.T) {
	to := memory.New()
	do(t, to.Update(t.Context(), func(tx store.Tx) error {
		return tx.Put(store.Sessions, "elsewhere", store.Row{ID: "s", Keys: []any{"e", int64(1)}, Doc: []byte("{}")}, 0)
	}))
	if _, err := Copy(t.Context(), filled(t), to, Config{}); !errors.Is(err, ErrOccupied) || err.Error() != "the target is not empty: its table sessions has rows" {
		t.Error(err)
	}
	do(t, Complete(t.Context(), to))
}

func TestASourceThatHoldsNothingIsRefused(t *testing.T) {
	to := memory.New()
	if _, err := Copy(t.Context(), memory.New(), to, Config{}); !errors.Is(err, ErrEmpty) || err.Error() != "the source holds nothing" {
		t.Error(err)
	}
	copiedInto, err := Copy(t.Context(), filled(t), to, Config{})
	if err != nil || !copiedInto.Sound() {
		t.Errorf("%+v, %v", copiedInto, err)
	}
}

// TestASourceInUseIsRefusedUnlessAllowed: the copy leaves out the records of processes. What is
// allowed are those that have crashed: one that stood still can neither commit nor send once the
// source is marked, since the same runs go on in the copy.
func TestASourceInUseIsRefusedUnlessAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := filled(t), memory.New()
		_, before := copied(t, from)
		reopened(t, from)
		stood, err := lease.Join(t.Context(), from, "replica-1", "test")
		do(t, err)
		if _, err := Copy(t.Context(), from, to, Config{}); !errors.Is(err, ErrInUse) || err.Error() != "the source is in use: process replica-1 has a record in it, one of 1" {
			t.Error(err)
		}
		r, err := Copy(t.Context(), from, to, Config{Crashed: true})
		if err != nil || !r.Sound() || r.From != before.From {
			t.Errorf("%+v, %v", r, err)
		}
		if err := from.View(t.Context(), stood.Check); !errors.Is(err, lease.ErrLost) {
			t.Errorf("a process that stood still may commit to the marked source: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if until, err := stood.Hold(ctx); err == nil {
			t.Errorf("a process that stood still may send until %s", until)
		}
		_, again := copied(t, to) // it has no record of a process
		if again.Rows != r.Rows {
			t.Errorf("%+v", again)
		}
	})
}

// TestASourceWithALivingProcessIsNeverCopied: both would send what is unfinished. Nothing is
// changed, on either side.
func TestASourceWithALivingProcessIsNeverCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := filled(t), memory.New()
		_, err := lease.Join(t.Context(), from, "crashed", "test")
		do(t, err)
		alive, err := lease.Join(t.Context(), from, "alive", "test")
		do(t, err)
		var late sync.WaitGroup
		defer late.Wait()
		late.Go(func() {
			time.Sleep(lease.Length - time.Second)
			_ = alive.Renew(context.Background())
		})
		if _, err := Copy(t.Context(), from, to, Config{Crashed: true}); !errors.Is(err, lease.ErrAlive) || errors.Is(err, ErrBrokenOff) || err.Error() != "a replica is alive: alive" {
			t.Error(err)
		}
		if mark := markOf(t, from); mark != nil {
			t.Errorf("the source is marked with %+v", mark)
		}
		do(t, from.View(t.Context(), alive.Check))
		do(t, Complete(t.Context(), to))
	})
}

func TestWhoHasTriedToSignInIsNotCopied(t *testing.T) {
	from := filled(t)
	_, before := copied(t, from)
	reopened(t, from)
	do(t, from.Update(t.Context(), func(tx store.Tx) error {
		_, err := records.Limits.Put(tx, store.Realm, records.LimitID("trying", "0a1"), &records.Limit{}, 0)
		return err
	}))
	if _, after := copied(t, from); after.Rows != before.Rows || after.From != before.From {
		t.Errorf("%+v", after)
	}
}

func reopened(t *testing.T, s store.Store) {
	t.Helper()
	do(t, s.Update(t.Context(), records.UnmarkCopied))
}

func markOf(t *testing.T, s store.Store) (mark *records.Copied) {
	t.Helper()
	do(t, s.View(t.Context(), func(tx store.Tx) (err error) { mark, err = records.CopiedTo(tx); return err }))
	return mark
}

// TestTheSourceIsMarkedBeforeAnythingIsCopied, and for good once the copy may be in use: from
// then on it isn't copied once more. The mark stays behind.
func TestTheSourceIsMarkedBeforeAnythingIsCopied(t *testing.T) {
	from, to := filled(t), memory.New()
	at, told := time.Date(2026, 11, 27, 12, 0, 0, 1, time.UTC), false
	_, err := Copy(t.Context(), from, to, Config{To: "there", At: at, Progress: func(done, _ int64) {
		if mark := markOf(t, from); mark == nil || mark.To != "there" || !mark.At.Equal(at) || mark.Complete {
			t.Errorf("after %d rows the source is marked with %+v", done, mark)
		}
		told = true
	}})
	do(t, err)
	if mark := markOf(t, from); !told || mark == nil || !mark.Complete {
		t.Errorf("after the copy the source is marked with %+v", mark)
	}
	if mark := markOf(t, to); mark != nil {
		t.Errorf("the copy is marked with %+v", mark)
	}
	elsewhere := memory.New()
	if _, err := Copy(t.Context(), from, elsewhere, Config{Crashed: true}); !errors.Is(err, ErrCopied) || err.Error() != "the source was copied before, to there at 2026-11-27T12:00:00Z" {
		t.Errorf("a second copy: %v", err)
	}
	do(t, Complete(t.Context(), elsewhere))
}

// TestACopyOfASourceThatIsReopenedMeanwhileIsBrokenOff, or that somebody copies elsewhere: of
// two copies at most one is complete.
func TestACopyOfASourceThatIsReopenedMeanwhileIsBrokenOff(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, from store.Store){
		"reopened": reopened,
		"copied elsewhere": func(t *testing.T, from store.Store) {
			_, err := Copy(t.Context(), from, memory.New(), Config{To: "elsewhere"})
			do(t, err)
		},
		"a copy elsewhere was begun": func(t *testing.T, from store.Store) {
			ctx, cancel := context.WithCancel(t.Context())
			_, _ = Copy(ctx, from, memory.New(), Config{To: "elsewhere", Progress: func(int64, int64) { cancel() }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, once := filled(t), memory.New(), false
			_, err := Copy(t.Context(), from, to, Config{To: "there", Progress: func(int64, int64) {
				if !once {
					once = true
					meanwhile(t, from)
				}
			}})
			if !errors.Is(err, ErrBrokenOff) || !errors.Is(Complete(t.Context(), to), ErrIncomplete) {
				t.Errorf("Copy: %v", err)
			}
			if !errors.Is(err, ErrCopied) && err.Error() != "the copy was broken off: the source was reopened, or copied elsewhere, meanwhile" {
				t.Errorf("Copy: %v", err)
			}
		})
	}
}

// TestACopyThatWasBrokenOffMayBeMadeAgain.
func TestACopyThatWasBrokenOffMayBeMadeAgain(t *testing.T) {
	from := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Copy(ctx, from, memory.New(), Config{To: "there", Progress: func(int64, int64) { cancel() }}); !errors.Is(err, ErrBrokenOff) {
		t.Fatal(err)
	}
	if mark := markOf(t, from); mark == nil || mark.Complete {
		t.Errorf("the source is marked with %+v", mark)
	}
	to := memory.New()
	r, err := Copy(t.Context(), from, to, Config{To: "elsewhere"})
	if err != nil || !r.Sound() || Complete(t.Context(), to) != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if mark := markOf(t, from); mark == nil || !mark.Complete || mark.To != "elsewhere" {
		t.Errorf("the source is marked with %+v", mark)
	}
}

func TestASourceThatIsTakenIntoUseMeanwhileGivesNoCompleteCopy(t *testing.T) {
	for _, crashed := range []bool{false, true} {
		from, to := filled(t), memory.New()
		joined := false
		_, err := Copy(t.Context(), from, to, Config{Crashed: crashed, Progress: func(int64, int64) {
			if !joined {
				_, err := lease.Join(t.Context(), from, "replica-1", "test")
				do(t, err)
				joined = true
			}
		}})
		if !errors.Is(err, ErrBrokenOff) || !errors.Is(err, ErrInUse) || !errors.Is(Complete(t.Context(), to), ErrIncomplete) {
			t.Errorf("crashed ones allowed: %t: %v", crashed, err)
		}
	}
}

// TestACopyThatIsBrokenOffLeavesAMarkedTarget: a further copy to it is refused.
func TestACopyThatIsBrokenOffLeavesAMarkedTarget(t *testing.T) {
	from, to := filled(t), memory.New()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Copy(ctx, from, to, Config{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "the copy was broken off") {
		t.Error(err)
	}
	if err := Complete(t.Context(), to); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
	if _, err := Copy(t.Context(), from, to, Config{}); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
}

// TestACopyWithABrokenLogIsNotComplete although it equals its source.
// again is a store that reads twice, as an engine does after a lost connection.
type again struct{ store.Store }

func (a again) View(ctx context.Context, fn func(store.Tx) error) error {
	_ = a.Store.View(ctx, fn)
	return a.Store.View(ctx, fn)
}

// TestACopyOfWhichTheSourceIsReadTwiceIsBrokenOff: the second time is of another state.
func TestACopyOfWhichTheSourceIsReadTwiceIsBrokenOff(t *testing.T) {
	const want = "the copy was broken off: the connection to the source was lost"
	to := memory.New()
	if _, err := Copy(t.Context(), again{filled(t)}, to, Config{}); !errors.Is(err, ErrBrokenOff) || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if err := Complete(t.Context(), to); !errors.Is(err, ErrIncomplete) {
		t.Errorf("the target is served from: %v", err)
	}
}

func TestACopyWithABrokenLogIsNotComplete(t *testing.T) {
	from, to := filled(t), memory.New()
	do(t, from.Update(t.Context(), func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, "acme", store.Query{})
		if err == nil {
			err = tx.Delete(store.Audit, "acme", rows[0].ID)
		}
		return err
	}))
	r, err := Copy(t.Context(), from, to, Config{})
	if err != nil || r.Sound() || r.From != r.To || !errors.Is(Complete(t.Context(), to), ErrIncomplete) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestATargetThatChangesWhatItIsGivenIsFound: the digests differ.
func TestATargetThatChangesWhatItIsGivenIsFound(t *testing.T) {
	to := memory.New()
	changed := false
	r, err := Copy(t.Context(), filled(t), to, Config{Progress: func(done, all int64) {
		if done > all/4 && !changed {
			do(t, to.Update(t.Context(), func(tx store.Tx) error { return tx.Delete(store.Runs, "acme", "run-000") }))
			changed = true
		}
	}})
	if err != nil || r.Sound() || r.From == r.To || !errors.Is(Complete(t.Context(), to), ErrIncomplete) {
		t.Errorf("%+v, %v", r, err)
	}
}
