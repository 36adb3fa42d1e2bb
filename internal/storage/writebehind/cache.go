package writebehind

import (
	"sync"
	"sync/atomic"
)

// cache keeps rows of the database, as of the last written layer, for the writer and for
// Snapshots of that state; no rows of logs. It has two generations and drops the older one when the younger
// one is full.
type cache struct {
	mu         sync.RWMutex
	epoch      atomic.Int64 // how many layers were written
	young, old map[place]row
	size       int            // bytes of the younger generation
	counts     map[string]int // of this epoch, by what is counted
}

// A generation holds about this many bytes, and no row above maxCached: a plan of a
// megabyte would displace the rows that every step reads.
const (
	maxGeneration = 2 << 20
	maxCached     = 64 << 10
)

// maxCounts bounds how many counts are kept.
const maxCounts = 256

func newCache() *cache { return &cache{young: map[place]row{}, counts: map[string]int{}} }

func (c *cache) now() int64 { return c.epoch.Load() }

// get finds a row, if the cache is that of the epoch.
func (c *cache) get(p place, epoch int64) (row, bool) {
	c.mu.RLock()
	if c.epoch.Load() != epoch {
		c.mu.RUnlock()
		return row{}, false
	}
	r, ok := c.young[p]
	if ok {
		c.mu.RUnlock()
		return r, true
	}
	r, ok = c.old[p]
	c.mu.RUnlock()
	if ok {
		c.put(p, r, epoch)
	}
	return r, ok
}

// put adds a row that was read in an epoch, unless that is over.
func (c *cache) put(p place, r row, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch.Load() == epoch {
		c.set(p, r)
	}
}

func (c *cache) set(p place, r row) {
	if p.table.Log {
		return
	}
	if was, there := c.young[p]; there {
		c.size -= was.cost(p)
	}
	if len(r.doc) > maxCached {
		delete(c.young, p)
		delete(c.old, p)
		return
	}
	c.size += r.cost(p)
	c.young[p] = r
	if c.size > maxGeneration {
		c.young, c.old, c.size = map[place]row{}, c.young, 0
	}
}

// cost is about how many bytes a row takes in the cache.
func (r row) cost(p place) int { return entryOverhead + len(p.id) + len(r.doc) }

// count finds how many rows a query counted in an epoch.
func (c *cache) count(what string, epoch int64) (n int, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.epoch.Load() != epoch {
		return 0, false
	}
	n, ok = c.counts[what]
	return n, ok
}

func (c *cache) counted(what string, n int, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch.Load() == epoch && len(c.counts) < maxCounts {
		c.counts[what] = n
	}
}

// written begins an epoch: the rows of a layer are in the database.
func (c *cache) written(l *layer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch.Add(1)
	clear(c.counts)
	for g, of := range l.groups {
		for _, e := range of.order {
			c.set(place{g.table, g.tenant, e.id}, e.newest())
		}
	}
}
