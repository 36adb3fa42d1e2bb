package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/store"
)

func TestDiskFullIsUnavailableUntilSpaceReturns(t *testing.T) {
	s := mustOpenFaulty(t, t.TempDir())
	if err := putPair(s, 1); err != nil {
		t.Fatal(err)
	}
	breakDisk(fault{on: writes, nth: 1, sticky: true, code: lib.SQLITE_FULL})
	for range 3 {
		if err := putPair(s, 2); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Update on a full disk: %v", err)
		}
		if got, err := readPair(s); got != 1 || err != nil {
			t.Fatalf("the store is at %d (%v), want 1", got, err)
		}
	}
	mendDisk()
	if err := putPair(s, 2); err != nil {
		t.Fatalf("Update after space returned: %v", err)
	}
	wantHealthy(t, s)
}

func TestDiskFullFailsTheWholeBatch(t *testing.T) {
	synctest.Test(t, diskFullFailsTheWholeBatch)
}

func diskFullFailsTheWholeBatch(t *testing.T) {
	s := mustOpenFaulty(t, t.TempDir())
	errs := inOneBatch(s, 5, func() { breakDisk(fault{on: writes, nth: 1, sticky: true, code: lib.SQLITE_FULL}) },
		func(i int, tx store.Tx) error {
			if i == 3 {
				return errors.New("a failure of its own")
			}
			return tx.Put(store.Models, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
		})
	for i, err := range errs {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update %d of the batch: %v", i, err)
		}
	}
}

func TestFailedSyncPoisonsForGood(t *testing.T) {
	synctest.Test(t, failedSyncPoisonsForGood)
}

func failedSyncPoisonsForGood(t *testing.T) {
	s := mustOpenFaulty(t, t.TempDir())
	if err := putPair(s, 1); err != nil {
		t.Fatal(err)
	}
	breakDisk(fault{on: syncs, nth: 1})
	errs := inOneBatch(s, 4, func() {}, func(i int, tx store.Tx) error {
		return tx.Put(store.Models, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
	})
	for i, err := range errs {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update %d of the batch: %v", i, err)
		}
	}
	<-s.Failed()
	if err := putPair(s, 2); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update after the failed sync: %v", err)
	}
	if got, err := readPair(s); got != 1 || err != nil {
		t.Errorf("View after the failed sync: %d, %v", got, err)
	}
	wantNoSyncAfterTheFailedOne(t, s)
}

func TestFailedSyncOfCheckpointPoisons(t *testing.T) {
	s := mustOpenFaulty(t, t.TempDir())
	breakDisk(fault{on: syncs, nth: 4}) // commits sync once, the third brings a checkpoint
	acknowledged := 0
	for i := 1; i <= 10; i++ {
		if putPair(s, i) == nil {
			acknowledged = i
		}
	}
	if acknowledged == 0 || acknowledged == 10 {
		t.Errorf("%d of 10 Updates were acknowledged", acknowledged)
	}
	<-s.Failed()
	wantNoSyncAfterTheFailedOne(t, s)
}

func wantNoSyncAfterTheFailedOne(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if all, untilFailed := syncCalls(); all != untilFailed {
		t.Errorf("%d syncs after the failed one", all-untilFailed)
	}
}

// TestEveryFault fails each call to the disk in turn, from opening the store to
// closing it, and then looks at what a mended disk holds.
func TestEveryFault(t *testing.T) {
	made := t.TempDir()
	if err := mustOpen(t, made).Close(); err != nil {
		t.Fatal(err)
	}
	everyFault(t, 11, map[string]fault{
		"read":      {on: reads},
		"write":     {on: writes},
		"disk full": {on: writes, code: lib.SQLITE_FULL},
		"truncate":  {on: truncates},
		"sync":      {on: syncs},
	}, func(t *testing.T) string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
		return dir
	})
}

// TestEveryFaultInANewStore does the same from making the store on.
func TestEveryFaultInANewStore(t *testing.T) {
	everyFault(t, 80, map[string]fault{"any": {on: reads | writes | truncates | syncs}}, (*testing.T).TempDir)
}

// everyFault tries each stride-th fault, all of them if asked to.
func everyFault(t *testing.T, stride int, faults map[string]fault, dir func(*testing.T) string) {
	settings := faultySettings(t)
	if os.Getenv("COUNTERSIGN_EXHAUSTIVE") != "" {
		stride = 1
	}
	for name, f := range faults {
		for _, f.sticky = range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sticky %t", name, f.sticky), func(t *testing.T) {
				for f.nth = 1; survives(t, dir(t), settings, f); {
					f.nth += stride
				}
				t.Logf("%d calls to the disk", f.nth)
			})
		}
	}
}

// survives plays the scenario with a fault and checks what is left. It returns
// false when the scenario was over before the fault.
func survives(t *testing.T, dir string, settings settings, f fault) (fired bool) {
	t.Helper()
	breakDisk(f)
	acknowledged, tried := scenario(t, dir, settings, f)
	fired = faultFired()
	mendDisk()
	s, err := open(context.Background(), dir, settings)
	if err != nil {
		t.Fatalf("fault %+v: the store doesn't open again: %v", f, err)
	}
	defer func() { _ = s.Close() }()
	got, err := readPair(s)
	if err != nil || got < acknowledged || got > tried {
		t.Fatalf("fault %+v: after a restart the store is at %d (%v), acknowledged were %d", f, got, err, acknowledged)
	}
	if err := putPair(s, got+1); err != nil {
		t.Fatalf("fault %+v: after a restart: %v", f, err)
	}
	return fired
}

// scenario opens a store and moves the pair until it is at 5 or a fault lets it
// not. It returns what was acknowledged last and what may be there besides.
func scenario(t *testing.T, dir string, settings settings, f fault) (acknowledged, tried int) {
	t.Helper()
	s, err := open(context.Background(), dir, settings)
	if err != nil {
		return 0, 0
	}
	defer func() { wantNoSyncAfterPoison(t, s, f) }()
	failures := 0
	for next := 1; next <= 5 && failures < 3; {
		err := putPair(s, next)
		switch {
		case err == nil:
			acknowledged = next
			next++
		case errors.Is(err, store.ErrUnavailable):
			failures++
		default:
			t.Fatalf("fault %+v: Update: %v", f, err)
		}
		if got, err := readPair(s); err == nil && got != acknowledged {
			t.Fatalf("fault %+v: a View shows %d, acknowledged were %d", f, got, acknowledged)
		}
	}
	if failures > 1 && !f.sticky && !isFailed(s) {
		t.Fatalf("fault %+v: one fault failed %d Updates", f, failures)
	}
	tried = acknowledged
	if isFailed(s) {
		tried++ // in doubt, so it may turn out to be there
	}
	return acknowledged, tried
}

func wantNoSyncAfterPoison(t *testing.T, s *Store, f fault) {
	t.Helper()
	_ = s.Close()
	if all, untilFailed := syncCalls(); isFailed(s) && f.on == syncs && all != untilFailed {
		t.Errorf("fault %+v: %d syncs after the failed one", f, all-untilFailed)
	}
}

func isFailed(s *Store) bool {
	select {
	case <-s.Failed():
		return true
	default:
		return false
	}
}

func wantHealthy(t *testing.T, s *Store) {
	t.Helper()
	if isFailed(s) {
		t.Error("the store is poisoned")
	}
}

// putPair sets two documents to n, in one Update. They are there for certain
// together or not at all.
func putPair(s *Store, n int) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		for _, id := range []string{"left", "right"} {
			row, err := tx.Get(store.Models, "pair", id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			doc := store.Row{ID: id, Doc: fmt.Appendf(nil, `{"n":%d,"fill":"%0*d"}`, n, 3000, n)}
			if err := tx.Put(store.Models, "pair", doc, row.Version); err != nil {
				return err
			}
		}
		return nil
	})
}

// readPair returns what putPair set last, 0 if nothing.
func readPair(s *Store) (n int, err error) {
	err = s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Models, "pair", store.Query{})
		if err != nil || len(rows) == 0 {
			return err
		}
		both := make([]int, len(rows))
		for i, row := range rows {
			if _, err := fmt.Sscanf(string(row.Doc), `{"n":%d,`, &both[i]); err != nil {
				return err
			}
		}
		if len(both) != 2 || both[0] != both[1] {
			return fmt.Errorf("half a pair: %v", both)
		}
		n = both[0]
		return nil
	})
	return n, err
}

// inOneBatch runs fn n times in Updates that surely share a commit: they queue
// up while another Update, the last in the result, has the turn. ready is called
// before the commit. It must be called in a synctest bubble.
func inOneBatch(s *Store, n int, ready func(), fn func(i int, tx store.Tx) error) []error {
	errs := make([]error, n+1)
	var all sync.WaitGroup
	errs[n] = s.Update(context.Background(), func(store.Tx) error {
		for i := range n {
			all.Go(func() {
				errs[i] = s.Update(context.Background(), func(tx store.Tx) error { return fn(i, tx) })
			})
		}
		synctest.Wait()
		ready()
		return nil
	})
	all.Wait()
	return errs
}
