package batches

import (
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// tally is the answer to a Count, kept up to date as the batch changes rows, so that it is
// asked of the database once: each start of a run counts the runs in some states, and each
// end changes them.
type tally struct {
	table  *store.Table
	tenant string
	where  []store.Filter
	n      int
	asked  bool // in this batch
	idle   int  // batches since it was last asked
}

// maxTallies bounds those in a cache, maxIdleTally how many batches one stays unasked.
const (
	maxTallies   = 64
	maxIdleTally = 256
)

// tallied gives a count that is known.
func (b *Batch) tallied(key string) (n int, ok bool) {
	t, ok := b.tallies[key]
	if ok {
		t.asked, t.idle = true, 0
		b.tallies[key] = t
	}
	return t.n, ok
}

// remember keeps the answer to a Count.
func (b *Batch) remember(key string, t tally) {
	t.where = slices.Clone(t.where)
	for i := range t.where {
		t.where[i].Values = slices.Clone(t.where[i].Values)
	}
	b.tallies[key] = t
}

// weigh is what a row adds to the tally: 1 or 0.
func (t *tally) weigh(p place, version int64, keys []any) int {
	if version != 0 && t.table.Matches(p.id, keys, t.where) {
		return 1
	}
	return 0
}

// count brings the tallies up to date with a change of a row. If it isn't known what the row
// was, those of its table are dropped.
func (b *Batch) count(p place, was entry, known bool, is entry) {
	for key, t := range b.tallies {
		switch {
		case t.table != p.table || t.tenant != p.tenant:
		case !known:
			delete(b.tallies, key)
		default:
			t.n += t.weigh(p, is.version, is.keys) - t.weigh(p, was.version, was.keys)
			b.tallies[key] = t
		}
	}
}

// unwritten is by how much the deferred writes change a count of the database; false if that
// isn't known.
func (b *Batch) unwritten(t tally) (n int, ok bool) {
	seen := map[place]bool{}
	for _, p := range b.order {
		e := b.known[p]
		if p.table != t.table || p.tenant != t.tenant || !e.dirty || seen[p] {
			continue
		}
		seen[p] = true
		if e.stored == sqldoc.Unread || e.stored > 0 && e.columns == nil && len(p.table.Columns) > 0 {
			return 0, false
		}
		n += t.weigh(p, e.version, e.keys) - t.weigh(p, e.stored, e.columns)
	}
	return n, true
}

func (t *tally) query() store.Query { return store.Query{Where: t.where} }

func (c *Cache) copied() map[string]tally { return maps.Clone(c.tallies) }

// keepTallies passes the tallies to the cache, after the commit.
func (b *Batch) keepTallies() {
	kept := maps.Clone(b.tallies)
	for key, t := range kept {
		if !t.asked {
			t.idle++
		}
		t.asked = false
		if kept[key] = t; t.idle > maxIdleTally || len(kept) > maxTallies && t.idle > 0 {
			delete(kept, key)
		}
	}
	b.cache.tallies = kept
}
