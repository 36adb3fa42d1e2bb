package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// BenchmarkUpdate is the hot path: what a run's step commits, one Get and six Puts
// of 500-byte documents, by several runs at once, in one process or three. The
// server syncs.
func BenchmarkUpdate(b *testing.B) {
	server := pgtest.Start(b)
	for _, stores := range []int{1, 3} {
		for _, callers := range []int{1, 4, 32} {
			b.Run(fmt.Sprintf("stores=%d/callers=%d", stores, callers), func(b *testing.B) {
				benchmarkUpdate(b, openMany(b, server.Database(b), stores), callers)
			})
		}
	}
}

func openMany(b testing.TB, url string, n int) []*Store {
	stores := make([]*Store, n)
	for i := range stores {
		stores[i] = mustOpen(b, url)
	}
	return stores
}

func benchmarkUpdate(b *testing.B, stores []*Store, callers int) {
	runs := make([]*benchRun, callers)
	for i := range runs {
		runs[i] = newBenchRun(b, stores[i%len(stores)], i)
	}
	latencies := make([]time.Duration, b.N)
	var done atomic.Int64
	before := commits(stores)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for i, r := range runs {
		all.Go(func() {
			for n := done.Add(1); n <= int64(b.N); n = done.Add(1) {
				begun := time.Now()
				r.step(b, stores[i%len(stores)])
				latencies[n-1] = time.Since(begun)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(latencies)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	b.ReportMetric(float64(commits(stores)-before)/float64(b.N), "commits/op")
	b.ReportMetric(float64(latencies[b.N*99/100].Microseconds()), "p99-us")
}

func commits(stores []*Store) (n int64) {
	for _, s := range stores {
		n += s.writer.commits.Load()
	}
	return n
}

// BenchmarkView reads one document.
func BenchmarkView(b *testing.B) {
	s := mustOpen(b, pgtest.Database(b))
	r := newBenchRun(b, s, 1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := s.View(context.Background(), func(tx store.Tx) error {
				_, err := tx.Get(store.Runs, "acme", r.id)
				return err
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

// benchRun stands for a run that takes step after step.
type benchRun struct {
	id  string
	doc []byte
	seq int64
}

func newBenchRun(b *testing.B, s *Store, i int) *benchRun {
	r := &benchRun{id: fmt.Sprintf("%08x-run", i*7919), doc: []byte(`{"fill":"` + strings.Repeat("x", 490) + `"}`)}
	if err := s.Update(context.Background(), func(tx store.Tx) error { return r.putAll(tx, 0) }); err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *benchRun) step(b *testing.B, s *Store) {
	r.seq++
	err := s.Update(context.Background(), func(tx store.Tx) error {
		row, err := tx.Get(store.Runs, "acme", r.id)
		if err != nil {
			return err
		}
		return r.putAll(tx, row.Version)
	})
	if err != nil {
		b.Error(err)
	}
}

// putAll moves the run on: the outcome of a step, the intent of the next, an
// audit record and its head.
func (r *benchRun) putAll(tx store.Tx, version int64) error {
	put := func(t *store.Table, id string, expected int64, keys ...any) error {
		return tx.Put(t, "acme", store.Row{ID: id, Keys: keys, Doc: r.doc}, expected)
	}
	step := fmt.Sprintf("%s-%d", r.id, r.seq)
	for _, err := range []error{
		put(store.Runs, r.id, version, int64(1000), "RUNNING", "plan-"+r.id, "eu", "clerk"),
		put(store.Steps, step, 0, r.id, r.seq, ""),
		put(store.Steps, step, 1, r.id, r.seq, ""),
		put(store.Unfinished, r.id, version, "acme", "RUNNING", int64(1000), r.seq),
		put(store.Audit, fmt.Sprintf("%s-%012d", r.id, r.seq), 0, r.seq, r.seq, "agent", "step.sent", r.id),
		put(store.AuditHeads, r.id, version),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
