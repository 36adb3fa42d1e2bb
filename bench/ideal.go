package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// ideal runs the canonical workload with nothing but HTTP and a group-commit
// log, and gives steps per second. With syncs 2 it syncs before and after each
// call; with 1 the outcome of a step is merged with the intent of the next.
func ideal(dir string, r *receiver, conc int, d time.Duration, syncs int) (float64, error) {
	w, err := newWAL(filepath.Join(dir, fmt.Sprintf("ideal-%d.wal", os.Getpid())))
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.close() }()
	var steps atomic.Int64
	var failed atomic.Value
	begin := time.Now()
	end := begin.Add(d)
	var wg sync.WaitGroup
	for i := range conc {
		wg.Go(func() {
			for k := 0; time.Now().Before(end); k++ {
				if err := idealStep(w, r, fmt.Sprintf("ideal-%d", i), k, syncs); err != nil {
					failed.Store(err)
					return
				}
				steps.Add(1)
			}
		})
	}
	wg.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, err
	}
	return float64(steps.Load()) / time.Since(begin).Seconds(), nil
}

func idealStep(w *wal, r *receiver, run string, k, syncs int) error {
	if syncs == 2 {
		if err := w.append(make([]byte, 300)); err != nil {
			return err
		}
	}
	if err := r.post(run, k); err != nil {
		return err
	}
	return w.append(make([]byte, 600/syncs))
}

// fdatasync is the mean time of appending 300 bytes durably, alone.
func fdatasync(dir string, d time.Duration) (time.Duration, error) {
	w, err := newWAL(filepath.Join(dir, fmt.Sprintf("sync-%d.wal", os.Getpid())))
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.close() }()
	begin, n := time.Now(), 0
	for time.Since(begin) < d {
		if err := w.append(make([]byte, 300)); err != nil {
			return 0, err
		}
		n++
	}
	return time.Since(begin) / time.Duration(n), nil
}
