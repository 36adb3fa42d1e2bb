package leveled_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/leveled"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// engine is a store that can be closed to earlier releases.
type engine interface {
	store.Store
	store.Leveled
}

// engines opens a store of each engine, and opens it again.
func engines(t *testing.T) map[string]func() engine {
	t.Helper()
	dir, url := filepath.Join(t.TempDir(), "store"), pgtest.Database(t)
	must := func(s engine, err error) engine {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return map[string]func() engine{
		"embedded":   func() engine { return must(sqlite.Open(t.Context(), dir)) },
		"PostgreSQL": func() engine { return must(postgres.Open(t.Context(), url)) },
	}
}

func put(s store.Store, id string, gate int64, runs *int) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		*runs++
		_, err := records.Plans.Put(tx, "acme", id, &records.Plan{Plan: countersign.Plan{ID: id, Gate: gate}}, 0)
		return err
	})
}

// TestTheFirstRecordThatEarlierReleasesDoNotKnowClosesTheStoreToThem, before it is there, and
// nothing before it does.
func TestTheFirstRecordThatEarlierReleasesDoNotKnowClosesTheStoreToThem(t *testing.T) {
	for name, open := range engines(t) {
		t.Run(name, func(t *testing.T) {
			raw, runs := open(), 0
			s := leveled.New(raw, raw, slog.New(slog.DiscardHandler))
			if err := put(s, "plan-1", 0, &runs); err != nil || raw.Raised() || runs != 1 {
				t.Fatalf("a plan as earlier releases know it: %v, raised %v, %d runs", err, raw.Raised(), runs)
			}
			failed := errors.New("failed")
			err := s.Update(t.Context(), func(tx store.Tx) error { return failed })
			if !errors.Is(err, failed) || raw.Raised() {
				t.Fatalf("what writes nothing: %v, raised %v", err, raw.Raised())
			}
			if err := put(s, "plan-2", countersign.Gate, &runs); err != nil || !raw.Raised() || runs != 3 {
				t.Fatalf("a plan with an edition: %v, raised %v, %d runs", err, raw.Raised(), runs)
			}
			if err := put(s, "plan-3", countersign.Gate, &runs); err != nil || runs != 4 {
				t.Fatalf("another: %v, %d runs", err, runs)
			}
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}
			again := open()
			defer func() { _ = again.Close() }()
			if !again.Raised() {
				t.Error("opened again, it is open to earlier releases")
			}
			err = again.View(t.Context(), func(tx store.Tx) error {
				for _, id := range []string{"plan-1", "plan-2", "plan-3"} {
					if _, _, err := records.Plans.Get(tx, "acme", id); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestACopyIsClosedAsItsSourceIs.
func TestACopyIsClosedAsItsSourceIs(t *testing.T) {
	all := engines(t)
	from, to := all["embedded"](), all["PostgreSQL"]()
	defer func() { _, _ = from.Close(), to.Close() }()
	if err := leveled.Carry(t.Context(), from, to); err != nil || to.Raised() {
		t.Fatalf("of one that is open: %v, raised %v", err, to.Raised())
	}
	if err := from.Raise(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := leveled.Carry(t.Context(), from, to); err != nil || !to.Raised() {
		t.Errorf("of one that is closed: %v, raised %v", err, to.Raised())
	}
}
