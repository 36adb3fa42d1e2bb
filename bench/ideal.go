package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// ideal does the canonical workload with nothing but HTTP and a group-commit log, to find
// the limit of the machine. With 2 syncs per step it syncs before and after each call; with 1
// it writes the outcome of a step together with the intent of the next one.
type ideal struct {
	dir     string
	r       *receiver
	perStep int
	runs    atomic.Int64
}

func (i *ideal) name() string {
	return map[int]string{1: "Ideal, one sync a step", 2: "Ideal, two syncs a step"}[i.perStep]
}

func (i *ideal) drive(conc int, d time.Duration) (result, error) {
	w, err := newWAL(filepath.Join(i.dir, fmt.Sprintf("ideal-%d.wal", os.Getpid())))
	if err != nil {
		return result{}, err
	}
	defer func() { _ = w.close() }()
	res, err := closedLoop(i.r, conc, d, func(int) (time.Duration, error) { return 0, i.run(w) })
	res.starts, res.syncs = nil, w.syncs.Load()
	return res, err
}

func (i *ideal) run(w *wal) error {
	run := fmt.Sprintf("ideal-%d", i.runs.Add(1))
	for k := range i.r.steps {
		if i.perStep == 2 {
			if err := w.append(make([]byte, 300)); err != nil {
				return err
			}
		}
		if err := i.r.post(run, k); err != nil {
			return err
		}
		if err := w.append(make([]byte, 600/i.perStep)); err != nil {
			return err
		}
	}
	return nil
}

// ideal has no process and no trace of its own, and keeps no files.
func (i *ideal) roots() []int                { return nil }
func (i *ideal) storedBytes() (int64, error) { return 0, nil }
func (i *ideal) syncs() (int, error)         { return 0, nil }
func (i *ideal) clear()                      {}

// fdatasync is the mean time of one append of 300 bytes with an fdatasync, without
// concurrent appends.
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
