package sqldoc

import "unsafe"

// Cache keeps rows as of the last commit, for the only writer of a store. It has two
// generations and drops the older one when the younger one is full. Only the writer's
// goroutine uses it.
type Cache struct {
	young, old map[place]entry
	size       int // bytes of the younger generation
}

// A generation holds about this many bytes, and no row above maxRemembered: a plan of a
// megabyte is read once a run, and would displace the rows that every step reads.
const (
	maxGeneration = 4 << 20
	maxRemembered = 64 << 10
)

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{young: map[place]entry{}} }

// Clear drops all rows, after another process has written.
func (c *Cache) Clear() {
	if len(c.young)+len(c.old) > 0 {
		*c = *NewCache()
	}
}

func (c *Cache) get(p place) (entry, bool) {
	e, ok := c.young[p]
	if ok {
		return e, true
	}
	if e, ok = c.old[p]; ok {
		c.put(p, e)
	}
	return e, ok
}

func (c *Cache) put(p place, e entry) {
	if len(e.doc) > maxRemembered {
		c.drop(p)
		return
	}
	if _, there := c.young[p]; !there {
		c.size += int(unsafe.Sizeof(p)+unsafe.Sizeof(e)) + len(p.id) + len(e.doc)
	}
	c.young[p] = e
	if c.size > maxGeneration {
		c.young, c.old, c.size = map[place]entry{}, c.young, 0
	}
}

// drop drops a row.
func (c *Cache) drop(p place) {
	delete(c.young, p)
	delete(c.old, p)
}
