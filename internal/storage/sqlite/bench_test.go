package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// BenchmarkUpdate is the hot path: what a run's step commits, one Get and six
// Puts of 500-byte documents, by several runs at once.
func BenchmarkUpdate(b *testing.B) {
	for _, callers := range []int{1, 4, 32} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { benchmarkUpdate(b, callers) })
	}
}

func benchmarkUpdate(b *testing.B, callers int) {
	s := mustOpen(b, emptyStore(b))
	runs := make([]*benchRun, callers)
	for i := range runs {
		runs[i] = newBenchRun(b, s, i)
	}
	latencies := make([]time.Duration, b.N)
	var done atomic.Int64
	before := s.writer.commits.Load()
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for _, r := range runs {
		all.Go(func() {
			for n := done.Add(1); n <= int64(b.N); n = done.Add(1) {
				begun := time.Now()
				r.step(b, s)
				latencies[n-1] = time.Since(begun)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(latencies)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(s.writer.commits.Load()-before)/float64(b.N), "syncs/op")
	b.ReportMetric(float64(latencies[b.N*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(latencies[b.N-1].Microseconds()), "max-us")
}

// BenchmarkView reads one document.
func BenchmarkView(b *testing.B) {
	s := mustOpen(b, emptyStore(b))
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
	err := s.Update(context.Background(), func(tx store.Tx) error { return r.putAll(tx, 0) })
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *benchRun) step(b *testing.B, s *Store) {
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
	r.seq++
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

// BenchmarkFlushOfRuns writes rows of 500 runs that have ended, as the flusher does.
func BenchmarkFlushOfRuns(b *testing.B) {
	const runs = 500
	s, n := mustOpen(b, emptyStore(b)), 0
	doc := []byte(`{"fill":"` + strings.Repeat("x", 490) + `"}`)
	for b.Loop() {
		b.StopTimer()
		layers := writebehind.New(int64(n))
		batch := layers.NewWriter(func() (writebehind.Reader, error) { return reader{conn: s.reading}, nil }).Begin()
		err, broken := batch.Run(func(tx store.Tx) error {
			for range runs {
				n++
				row := store.Row{ID: fmt.Sprintf("run-%018d", n), Doc: doc, Keys: []any{int64(n) * 1000, "COMPLETED", "plan", "eu", "clerk"}}
				if err := tx.Put(store.Runs, "acme", row, 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err = errors.Join(err, broken); err != nil {
			b.Fatal(err)
		}
		batch.Committed()
		batch.End()
		frozen := layers.Freeze()
		b.StartTimer()
		err = errors.Join(s.flusher.rows(frozen), s.flusher.conn.Exec("COMMIT"))
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "us/run")
}
