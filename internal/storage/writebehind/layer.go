package writebehind

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign/internal/storage/store"
)

// group identifies the rows of a tenant in a table.
type group struct {
	table  *store.Table
	tenant string
}

// compare orders groups, so that equal layers are written in one order.
func (g group) compare(other group) int {
	return cmp.Or(strings.Compare(g.table.Name, other.table.Name), strings.Compare(g.tenant, other.tenant))
}

// row is a row as Get returns it; version 0: there is none. Nobody changes doc and keys:
// batches, layers and the cache share them.
type row struct {
	version int64
	doc     []byte
	keys    []any
}

// entry is a row in a layer.
type entry struct {
	id       string
	below    row        // the row under this layer, without its document
	versions []version  // oldest first; never empty
	one      [1]version // the memory of versions while there is one, as there mostly is
}

// version is a row as a commit left it.
type version struct {
	commit int64
	row
}

func (e *entry) newest() row { return e.versions[len(e.versions)-1].row }

// at is the row as of a commit; ok is false if the layer had none by then.
func (e *entry) at(commit int64) (r row, ok bool) {
	for i := len(e.versions) - 1; i >= 0; i-- {
		if e.versions[i].commit <= commit {
			return e.versions[i].row, true
		}
	}
	return row{}, false
}

// rows are the rows of a group in a layer.
type rows struct {
	byID  map[string]*entry
	order []*entry // by id
}

func byID(e *entry, id string) int { return strings.Compare(e.id, id) }

// insert adds an entry. Most ids are above those that are there.
func (r *rows) insert(e *entry) {
	r.byID[e.id] = e
	if n := len(r.order); n == 0 || r.order[n-1].id < e.id {
		r.order = append(r.order, e)
		return
	}
	i, _ := slices.BinarySearchFunc(r.order, e.id, byID)
	r.order = slices.Insert(r.order, i, e)
}

func (r *rows) remove(id string) {
	delete(r.byID, id)
	i, _ := slices.BinarySearchFunc(r.order, id, byID)
	r.order = slices.Delete(r.order, i, i+1)
}

// layer holds rows that are not in the database yet. Rows are only added, by the writer;
// a frozen layer doesn't change.
type layer struct {
	mu     sync.RWMutex
	groups map[group]*rows
	size   int   // about how many bytes of memory it takes
	last   int64 // the last commit in it
}

func newLayer() *layer { return &layer{groups: map[group]*rows{}} }

// entryOverhead is about what an entry takes beside its texts.
const entryOverhead = 250

// add adds the rows of a commit. shown is the last commit that a View still shows.
func (l *layer) add(commit, shown int64, changes *changes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = commit
	var last group
	var of *rows // of last
	for i := range changes.list {
		c := &changes.list[i]
		if g := (group{c.table, c.tenant}); of == nil || g != last {
			last, of = g, l.groups[g]
			if of == nil {
				of = &rows{byID: map[string]*entry{}}
				l.groups[g] = of
			}
		}
		l.set(of, c.id, commit, shown, c)
	}
}

// set replaces the newest version of a row, or adds one if a View may show the newest.
func (l *layer) set(of *rows, id string, commit, shown int64, c *change) {
	e := of.byID[id]
	if e == nil {
		e = &entry{id: id, below: row{version: c.below.version, keys: c.below.keys}}
		e.versions = e.one[:0]
		of.insert(e)
		l.size += entryOverhead + len(id)
	}
	if n := len(e.versions); n > 0 && e.versions[n-1].commit > shown {
		l.size -= len(e.versions[n-1].doc)
		e.versions = e.versions[:n-1]
	}
	if c.version == 0 && e.below.version == 0 && len(e.versions) == 0 {
		of.remove(id) // it came and went, and nobody saw it
		l.size -= entryOverhead + len(id)
		return
	}
	l.size += len(c.doc)
	e.versions = append(e.versions, version{commit, c.row})
}

// get finds a row as of a commit.
func (l *layer) get(g group, id string, commit int64) (row, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if of := l.groups[g]; of != nil {
		if e := of.byID[id]; e != nil {
			return e.at(commit)
		}
	}
	return row{}, false
}

// each calls f for the rows of a group in a range of ids that the layer had at a commit.
func (l *layer) each(g group, in idRange, commit int64, f func(id string, below, is row)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	of := l.groups[g]
	if of == nil {
		return
	}
	first, _ := slices.BinarySearchFunc(of.order, in.first, byID)
	for _, e := range of.order[first:] {
		if !in.has(e.id) {
			return
		}
		if is, ok := e.at(commit); ok {
			f(e.id, e.below, is)
		}
	}
}

// tenants calls f for the tenants that have entries in a table.
func (l *layer) tenants(table *store.Table, f func(tenant string)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for g, of := range l.groups {
		if g.table == table && len(of.order) > 0 {
			f(g.tenant)
		}
	}
}

func (l *layer) bytes() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.size
}

func (l *layer) empty() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.last == 0
}
