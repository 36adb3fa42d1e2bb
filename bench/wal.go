package main

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// wal is a minimal group-commit log: many goroutines append, and one fdatasync serves all
// that wait. It does nothing else, so its throughput is the limit of the machine.
type wal struct {
	file     *os.File
	mu       sync.Mutex
	cond     *sync.Cond
	buf      []byte
	appended uint64
	durable  uint64
	failed   error // of a write or sync; the log takes nothing more
	flushing bool
	offset   int64
	syncs    atomic.Int64
}

func newWAL(path string) (*wal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	w := &wal{file: f}
	w.cond = sync.NewCond(&w.mu)
	return w, nil
}

// append returns when the record is durable.
func (w *wal) append(record []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, record...)
	w.appended++
	mine := w.appended
	for w.durable < mine && w.failed == nil {
		if w.flushing {
			w.cond.Wait()
			continue
		}
		w.flush()
	}
	if w.durable < mine {
		return w.failed
	}
	return nil
}

// flush writes and syncs all records appended so far. The caller holds the lock; flush
// releases it during the write, so that others can append.
func (w *wal) flush() {
	batch, upTo := w.buf, w.appended
	w.buf, w.flushing = nil, true
	w.mu.Unlock()
	_, err := w.file.WriteAt(batch, w.offset)
	if err == nil {
		err = syscall.Fdatasync(int(w.file.Fd()))
	}
	w.mu.Lock()
	w.flushing = false
	if err != nil {
		w.failed = err
	} else {
		w.offset += int64(len(batch))
		w.durable = upTo
		w.syncs.Add(1)
	}
	w.cond.Broadcast()
}

func (w *wal) close() error {
	name := w.file.Name()
	if err := w.file.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}
