package writebehind

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/countersign/countersign/internal/storage/store"
)

// Base is a snapshot of the database.
type Base interface {
	store.Whole
	// Close ends the snapshot.
	Close()
}

// Reader is a connection to the database. It begins a snapshot of the database as it is at
// that moment, once.
type Reader interface {
	Begin() (Base, error)
	// Release gives the connection back.
	Release()
}

// Borrow waits for a Reader.
type Borrow func() (Reader, error)

// Layers are the rows that are committed and not yet in the database.
type Layers struct {
	mu     sync.RWMutex
	active *layer
	frozen *layer // nil: none
	commit int64  // the last commit
	views  views

	// pins keeps the database from changing between the choice of the layers and the
	// beginning of the snapshot below them.
	pins  sync.RWMutex
	cache *cache
}

// New makes Layers above a database that has all commits up to the given one.
func New(commit int64) *Layers {
	return &Layers{active: newLayer(), commit: commit, cache: newCache()}
}

// Commit is the number of the last commit.
func (l *Layers) Commit() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.commit
}

// Lag is about how many bytes of rows are not in the database yet.
func (l *Layers) Lag() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n := l.active.bytes()
	if l.frozen != nil {
		n += l.frozen.bytes()
	}
	return n
}

// Pending is about how many bytes of rows the active layer has.
func (l *Layers) Pending() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.active.bytes()
}

// Freeze begins a new active layer and returns the frozen one, to be written with Rows and
// then dropped with Written. It returns nil if there is nothing to write, or if a layer is
// frozen already.
func (l *Layers) Freeze() *Frozen {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frozen != nil || l.active.empty() {
		return nil
	}
	l.frozen, l.active = l.active, newLayer()
	return &Frozen{layers: l, layer: l.frozen}
}

// Frozen is the frozen layer.
type Frozen struct {
	layers *Layers
	layer  *layer
}

// Last is the number of the last commit in it: once it is written the database has all
// commits up to that one.
func (f *Frozen) Last() int64 { return f.layer.last }

// Change is a row to be written. It must not be changed: others read it meanwhile.
type Change struct {
	Table  *store.Table
	Tenant string
	Row    store.Row // Version 0: the row is to be deleted
	// Stored is the version that the database has, 0 for none, and Columns are the values
	// that its columns have.
	Stored  int64
	Columns []any
}

// Rows calls each for the rows that the database has otherwise, by table, tenant and id,
// and returns the first error.
func (f *Frozen) Rows(each func(Change) error) error {
	groups := slices.SortedFunc(maps.Keys(f.layer.groups), group.compare) // nobody changes them any more
	for _, g := range groups {
		for _, e := range f.layer.groups[g].order {
			is := e.newest()
			if is.version == 0 && e.below.version == 0 {
				continue
			}
			err := each(Change{
				Table: g.table, Tenant: g.tenant,
				Row:    store.Row{ID: e.id, Version: is.version, Keys: is.keys, Doc: is.doc},
				Stored: e.below.version, Columns: e.below.keys,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Written commits the transaction that the rows were written in, and drops the layer. No
// snapshot of the database begins meanwhile.
func (f *Frozen) Written(commit func() error) error {
	l := f.layers
	l.pins.Lock()
	defer l.pins.Unlock()
	if err := commit(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = nil
	l.cache.written(f.layer)
	return nil
}

// errOvertaken says that the layers of a Snapshot have been written before it began to read
// the database: the function must run again.
var errOvertaken = errors.New("writebehind: the snapshot was overtaken")

// Snapshot is the state after a commit.
type Snapshot struct {
	layers *Layers
	commit int64
	own    []*layer // oldest first: the frozen one if there was one, and the active one
	borrow Borrow
	reader Reader // of base
	base   Base   // nil: not begun
	epoch  int64  // of the cache when base was begun
}

// snapshot is the state after the last commit. The caller holds the layers' lock.
func (l *Layers) snapshot(borrow Borrow) *Snapshot {
	s := &Snapshot{layers: l, commit: l.commit, borrow: borrow}
	if l.frozen != nil {
		s.own = append(s.own, l.frozen)
	}
	s.own = append(s.own, l.active)
	return s
}

// viewed is a snapshot that commits may follow before it is closed.
func (l *Layers) viewed(borrow Borrow) *Snapshot {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.snapshot(borrow)
	l.views.began(s.commit)
	return s
}

func (s *Snapshot) close() {
	if s.base != nil {
		s.base.Close()
		s.reader.Release()
	}
}

// begun returns the snapshot of the database, and begins it at the first call. It waits for
// a Reader before it keeps the database from changing.
func (s *Snapshot) begun() (Base, error) {
	if s.base != nil {
		return s.base, nil
	}
	reader, err := s.borrow()
	if err != nil {
		return nil, err
	}
	base, err := s.begin(reader)
	if err != nil {
		reader.Release()
		return nil, err
	}
	s.base, s.reader = base, reader
	return base, nil
}

func (s *Snapshot) begin(reader Reader) (Base, error) {
	l := s.layers
	l.pins.RLock()
	defer l.pins.RUnlock()
	l.mu.RLock()
	err := s.current()
	l.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	s.epoch = l.cache.now()
	return reader.Begin()
}

// current drops a layer that is in the database by now. It fails if the database may have
// rows of later commits. The caller holds the layers' lock.
func (s *Snapshot) current() error {
	l := s.layers
	switch s.own[len(s.own)-1] {
	case l.active:
		if l.frozen == nil || s.own[0] != l.frozen {
			s.own = s.own[len(s.own)-1:]
		}
	case l.frozen:
		s.own = s.own[len(s.own)-1:]
	default:
		return errOvertaken
	}
	return nil
}

// fetch reads a row that no layer has.
func (s *Snapshot) fetch(p place) (row, error) {
	r, ok, err := s.cached(p)
	if ok || err != nil {
		return r, err
	}
	base, err := s.begun()
	if err != nil {
		return row{}, err
	}
	found, err := base.Get(p.table, p.tenant, p.id)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return row{}, err
	default:
		r = row{found.Version, bytes.Clone(found.Doc), found.Keys} // it may be part of something larger
	}
	s.layers.cache.put(p, r, s.epoch)
	return r, nil
}

// cached finds a row of the database in the cache.
func (s *Snapshot) cached(p place) (r row, ok bool, err error) {
	epoch, err := s.now()
	if err == nil {
		r, ok = s.layers.cache.get(p, epoch)
	}
	return r, ok, err
}

// now is the epoch of the cache that this snapshot shows. The cache gives nothing for an
// epoch that ends meanwhile.
func (s *Snapshot) now() (epoch int64, err error) {
	if s.base != nil {
		return s.epoch, nil
	}
	s.layers.mu.RLock()
	defer s.layers.mu.RUnlock()
	return s.layers.cache.now(), s.current()
}

// count counts rows of the database. Starts of runs count the same rows again and again, and
// between two written layers nothing changes that.
func (s *Snapshot) count(table *store.Table, tenant string, q store.Query) (int, error) {
	what := table.CountKey(tenant, q.Where)
	n, ok, err := s.remembered(what)
	if ok || err != nil {
		return n, err
	}
	base, err := s.begun()
	if err != nil {
		return 0, err
	}
	if n, err = base.Count(table, tenant, q); err == nil {
		s.layers.cache.counted(what, n, s.epoch)
	}
	return n, err
}

// remembered finds a count of the database in the cache.
func (s *Snapshot) remembered(what string) (n int, ok bool, err error) {
	epoch, err := s.now()
	if err == nil {
		n, ok = s.layers.cache.count(what, epoch)
	}
	return n, ok, err
}

// place identifies a row.
type place struct {
	table      *store.Table
	tenant, id string
}
