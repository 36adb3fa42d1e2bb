package sqlite

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// BenchmarkOverwritingWhatIsFreed writes the same twice side by side, to a store that overwrites what it frees and to one that
// doesn't: commits of a run's steps, and the removal of runs, as archiving does. It reports how many times as much the first
// writes and takes.
func BenchmarkOverwritingWhatIsFreed(b *testing.B) {
	overwrites := writerPragmas
	defer func() { writerPragmas = overwrites }()
	plain := slices.DeleteFunc(slices.Clone(overwrites), func(p string) bool { return strings.HasPrefix(p, "secure_delete") })
	for _, removing := range []bool{false, true} {
		b.Run(map[bool]string{false: "steps", true: "removals"}[removing], func(b *testing.B) {
			var bytes [2]int64
			var took [2]time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range 2 {
					side := (i + n) % 2 // each goes first as often
					writerPragmas = [][]string{plain, append(slices.Clone(plain), "secure_delete(ON)")}[side]
					written, spent := writesOf(b, removing)
					bytes[side], took[side] = bytes[side]+written, took[side]+spent
				}
			}
			b.ReportMetric(float64(bytes[1])/float64(bytes[0]), "x-bytes")
			b.ReportMetric(float64(took[1])/float64(took[0]), "x-time")
			b.ReportMetric(float64(bytes[0])/float64(b.N)/(1<<20), "MB/op")
		})
	}
}

// writesOf plays the work on a new store, and returns how much the process has written, with the store closed.
func writesOf(b *testing.B, removing bool) (written int64, spent time.Duration) {
	s, err := Open(context.Background(), emptyStore(b))
	if err != nil {
		b.Fatal(err)
	}
	before, began := processWrote(b), time.Now()
	for i := range 20 {
		r := newBenchRun(b, s, i)
		for range 50 {
			r.step(b, s)
		}
		if !removing {
			continue
		}
		if err := s.Update(context.Background(), func(tx store.Tx) error {
			for seq := range r.seq {
				if err := tx.Delete(store.Steps, "acme", fmt.Sprintf("%s-%d", r.id, seq+1)); err != nil {
					return err
				}
			}
			return tx.Delete(store.Runs, "acme", r.id)
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return processWrote(b) - before, time.Since(began)
}

// processWrote is how many bytes the process has written to files.
func processWrote(b *testing.B) int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "wchar: ")
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
