package restart

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// reading is how many bytes a start has read, and the size of the store.
type reading struct{ read, size int64 }

// TestARecoveryReadsNoRunThatHasEnded: with n, 2n and 4n ended runs the engine reads the same rows at its start, and the program each
// page twice at most.
func TestARecoveryReadsNoRunThatHasEnded(t *testing.T) {
	w := open(t)
	for range unfinished.N() {
		w.waits(t)
	}
	var rows []int64
	var bytes []reading
	for _, more := range []int{1, 1, 2} {
		w.startMany(t, more*stored.N()/4)
		w.waitUntilAllHaveEnded(t)
		w.Stop()
		rows = append(rows, rowsAtStart(t, w.Store))
		w.Restart()
		bytes = append(bytes, measure(t, w.PID(), w.Store))
	}
	checkBytes(t, bytes)
	t.Logf("with n, 2n and 4n runs that have ended a recovery reads %d rows", rows)
	if slices.Min(rows) != slices.Max(rows) {
		t.Errorf("with n, 2n and 4n runs that have ended a recovery reads %d rows", rows)
	}
}

// rowsAtStart starts the engine on a store and counts the rows that it reads.
func rowsAtStart(t *testing.T, dir string) int64 {
	t.Helper()
	opened, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &counted{Store: opened}
	l := runrepo.New(runrepo.Config{
		MaxActive: 4, ApprovalTTL: time.Hour, NewID: func(kind string) string { return kind },
		OriginAllowed: func(string) bool { return true }, Now: time.Now,
	})
	e := engine.New(s, l, nobody{}, nobody{}, slog.New(slog.DiscardHandler))
	if err := e.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	rows := s.rows.Load()
	e.Stop(0)
	s.mustCount(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// mustCount checks the counter: reading every run counts every run.
func (c *counted) mustCount(t *testing.T) {
	t.Helper()
	before, runs := c.rows.Load(), 0
	if err := c.View(context.Background(), func(tx store.Tx) error {
		list, err := tx.List(store.Runs, "default", store.Query{})
		runs = len(list)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if counted := c.rows.Load() - before; runs == 0 || counted != int64(runs) {
		t.Errorf("of %d runs %d rows were counted", runs, counted)
	}
}

// nobody is a caller and publisher that is never used: all runs wait for approval.
type nobody struct{}

func (nobody) Call(context.Context, request.Call) request.Outcome { return request.Outcome{} }

func (nobody) Publish(string, *countersign.Run) {}

// counted is a store that counts the rows that it returns.
type counted struct {
	store.Store
	rows atomic.Int64
}

func (c *counted) View(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.View(ctx, func(tx store.Tx) error { return fn(countedTx{tx, &c.rows}) })
}

func (c *counted) Update(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.Update(ctx, func(tx store.Tx) error { return fn(countedTx{tx, &c.rows}) })
}

type countedTx struct {
	store.Tx
	rows *atomic.Int64
}

func (c countedTx) Get(t *store.Table, tenant, id string) (store.Row, error) {
	c.rows.Add(1)
	return c.Tx.Get(t, tenant, id)
}

func (c countedTx) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	list, err := c.Tx.List(t, tenant, q)
	c.rows.Add(int64(len(list)))
	return list, err
}

func (c countedTx) Count(t *store.Table, tenant string, q store.Query) (int, error) {
	n, err := c.Tx.Count(t, tenant, q)
	c.rows.Add(int64(n))
	return n, err
}

func (c countedTx) Distinct(t *store.Table, tenant, column string) ([]string, error) {
	values, err := c.Tx.Distinct(t, tenant, column)
	c.rows.Add(int64(len(values)))
	return values, err
}
