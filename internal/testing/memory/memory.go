// Package memory is a store in a map: the reference to which engines are compared, and a fast store
// for simulations. It favors obvious correctness over speed: each commit copies the tables that it
// changed.
package memory

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/countersign/countersign/internal/storage/store"
)

// Store has the newest committed state. A committed state is never changed: View reads the one that
// is current at its beginning, Update builds the next one.
type Store struct {
	current atomic.Pointer[state]
	turn    chan struct{} // has one token, the right to write
	closed  chan struct{}
	once    sync.Once

	mu     sync.Mutex
	writes map[string]int64 // by tenant
}

var _ store.Store = (*Store)(nil)

// state has every row by place and id.
type state map[place]map[string]store.Row

// place is a table of a tenant.
type place struct {
	table  string
	tenant string
}

// New returns an empty store.
func New() *Store {
	s := &Store{turn: make(chan struct{}, 1), closed: make(chan struct{}), writes: map[string]int64{}}
	s.current.Store(&state{})
	s.turn <- struct{}{}
	return s
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	t := &tx{state: *s.current.Load(), readOnly: true}
	defer t.end()
	return fn(t)
}

// Update implements store.Store. A panic of fn passes through and discards what fn wrote.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { s.turn <- struct{}{} }()
	t := &tx{state: maps.Clone(*s.current.Load()), fresh: map[place]bool{}}
	defer t.end()
	if err := fn(t); err != nil {
		return err
	}
	s.current.Store(&t.state)
	s.count(t.fresh)
	return nil
}

// count counts a commit after it can be seen: who reads the count and then the rows has those of
// this count or newer ones.
func (s *Store) count(written map[place]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range written {
		s.writes[p.tenant]++
	}
}

// Writes rises with each commit that wrote rows of the tenant: while it stays, so do they.
func (s *Store) Writes(tenant string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes[tenant]
}

// Failed implements store.Store; memory never fails.
func (s *Store) Failed() <-chan struct{} { return nil }

// Full implements store.Store; memory has space.
func (s *Store) Full() bool { return false }

// Close implements store.Store. It waits for the running Update.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closed)
		<-s.turn
	})
	return nil
}

// acquire waits for the right to write.
func (s *Store) acquire(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	select {
	case <-s.turn:
		return nil
	case <-s.closed:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) open(ctx context.Context) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
		return ctx.Err()
	}
}
