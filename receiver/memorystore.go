package receiver

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// ErrFull is the error of MemoryStore.Claim when as many keys are CLAIMED as the store holds.
var ErrFull = errors.New("the store is full of claimed keys")

// MemoryStore keeps keys in this process. When the process ends all keys are lost, and a
// repeated call performs its effect again. So it is for tests, for trying the package out,
// and for effects that can be repeated without harm. Use a SQLStore for everything else.
//
// When a bound is exceeded, the oldest FINISHED keys are dropped first; a CLAIMED or WITHDRAWN
// key is never dropped. The zero value is ready to use.
type MemoryStore struct {
	MaxKeys  int           // default 10,000
	MaxBytes int           // of the bodies of all answers together; default 64 MiB
	MaxAge   time.Duration // of a FINISHED key, since it was claimed; default 90 days

	mu       sync.Mutex
	keys     map[string]*list.Element
	claimed  list.List // of *Entry, in the order in which they were claimed or withdrawn
	finished list.List // of *Entry, in the order in which they were finished
	bytes    int
	restored time.Time
}

const (
	defaultKeys  = 10_000
	defaultBytes = 64 << 20
	defaultAge   = 90 * 24 * time.Hour
)

// Claim implements Store. It also drops FINISHED keys to stay within the bounds, and takes
// c.At as the current time.
func (m *MemoryStore) Claim(ctx context.Context, c Claim) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropOlder(c.At.Add(-orDefault(m.MaxAge, defaultAge)))
	if at, known := m.keys[c.Key]; known {
		return m.copyOf(at.Value.(*Entry)), false, nil
	}
	if !m.makeRoom() {
		return Entry{}, false, ErrFull
	}
	e := Entry{Claim: c, State: Claimed}
	m.keys[c.Key] = m.claimed.PushBack(&e)
	return e, true, nil
}

// Finish implements Store.
func (m *MemoryStore) Finish(ctx context.Context, key string, a Answer) error {
	return m.change(ctx, key, func(at *list.Element) {
		e := m.claimed.Remove(at).(*Entry)
		e.State, e.Answer = Finished, a
		e.Answer.Body = bytes.Clone(a.Body)
		m.keys[key] = m.finished.PushBack(e)
		m.bytes += len(a.Body)
		for m.bytes > orDefault(m.MaxBytes, defaultBytes) && m.finished.Len() > 1 {
			m.drop(m.finished.Front())
		}
	})
}

// Release implements Store.
func (m *MemoryStore) Release(ctx context.Context, key string) error {
	return m.change(ctx, key, func(at *list.Element) {
		m.claimed.Remove(at)
		delete(m.keys, key)
	})
}

func (m *MemoryStore) change(ctx context.Context, key string, apply func(*list.Element)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, known := m.keys[key]
	if !known || at.Value.(*Entry).State != Claimed {
		return ErrNotClaimed
	}
	apply(at)
	return nil
}

func (m *MemoryStore) dropOlder(than time.Time) {
	for at := m.finished.Front(); at != nil && at.Value.(*Entry).At.Before(than); at = m.finished.Front() {
		m.drop(at)
	}
}

// drop deletes a FINISHED key.
func (m *MemoryStore) drop(at *list.Element) {
	e := m.finished.Remove(at).(*Entry)
	delete(m.keys, e.Key)
	m.bytes -= len(e.Answer.Body)
}

func orDefault[T int | time.Duration](n, otherwise T) T {
	if n <= 0 {
		return otherwise
	}
	return n
}
