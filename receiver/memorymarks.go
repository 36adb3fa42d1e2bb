package receiver

import (
	"bytes"
	"container/list"
	"context"
	"time"
)

// Look implements Memory.
func (m *MemoryStore) Look(ctx context.Context, key string) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, known := m.keys[key]
	if !known {
		return Entry{}, false, nil
	}
	return m.copyOf(at.Value.(*Entry)), true, nil
}

// Withdraw implements Memory. Marks are never dropped; they count as keys.
func (m *MemoryStore) Withdraw(ctx context.Context, key string, at time.Time) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, is := m.keys[key]; is {
		return m.copyOf(known.Value.(*Entry)), false, nil
	}
	if !m.makeRoom() {
		return Entry{}, false, ErrFull
	}
	e := Entry{Claim: Claim{Key: key, At: at}, State: Withdrawn}
	m.keys[key] = m.claimed.PushBack(&e)
	return e, true, nil
}

// Since implements Memory: what only this process remembers may have been forgotten up to now.
func (m *MemoryStore) Since(_ context.Context, now time.Time) (time.Time, error) { return now, nil }

// RestoredAt implements Memory.
func (m *MemoryStore) RestoredAt(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restored, nil
}

// Restored implements Memory.
func (m *MemoryStore) Restored(_ context.Context, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.restored = at
	return nil
}

func (m *MemoryStore) copyOf(kept *Entry) Entry {
	e := *kept
	e.Answer.Body = bytes.Clone(e.Answer.Body)
	return e
}

// makeRoom drops the oldest FINISHED keys for one more. It returns false if only keys that must
// not be forgotten are left.
func (m *MemoryStore) makeRoom() bool {
	limit := orDefault(m.MaxKeys, defaultKeys)
	for len(m.keys) >= limit && m.finished.Len() > 0 {
		m.drop(m.finished.Front())
	}
	if m.keys == nil {
		m.keys = map[string]*list.Element{}
	}
	return len(m.keys) < limit
}
