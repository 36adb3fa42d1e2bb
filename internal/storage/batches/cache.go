package batches

import (
	"unsafe"

	"github.com/countersign/countersign/internal/storage/store"
)

// Cache keeps rows and tallies as of the last commit, for a writer that knows which rows
// others have changed since. It has two generations of rows and drops the older one when the
// younger one is full. Only the writer's goroutine uses it.
type Cache struct {
	young, old map[Sum]cached
	size       int // bytes of the younger generation
	tallies    map[string]tally
	hot        wanted // see Hot
}

type cached struct {
	place
	entry
}

// A generation holds about this many bytes, and no row above maxRemembered: a plan of a
// megabyte is read once a run, and would displace the rows that every step reads.
const (
	maxGeneration = 4 << 20
	maxRemembered = 64 << 10
)

// Sum stands for a row, in what processes tell each other, or for all lists of a table. Two
// may have the same: then what is said of one holds for the other too.
type Sum = uint64

// sum is FNV-1a, with a zero behind each part. It must be the same in each release.
func (p place) sum() Sum {
	sum := Sum(14695981039346656037)
	for _, part := range [...]string{p.table.Name, p.tenant, p.id} {
		for i := range len(part) {
			sum = (sum ^ Sum(part[i])) * fnvPrime
		}
		sum *= fnvPrime
	}
	return sum
}

const fnvPrime = 1099511628211

// listed stands for all lists and counts of a table.
func listed(t *store.Table) Sum { return place{table: t}.sum() }

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{young: map[Sum]cached{}, tallies: map[string]tally{}} }

// Clear drops all rows and tallies, after others have written nobody knows what.
func (c *Cache) Clear() {
	if len(c.young)+len(c.old)+len(c.tallies) > 0 {
		*c = *NewCache()
	}
}

func (c *Cache) get(p place) (entry, bool) {
	sum := p.sum()
	e, ok := c.young[sum]
	if !ok {
		if e, ok = c.old[sum]; ok {
			c.put(e.place, e.entry)
		}
	}
	if !ok || e.place != p {
		return entry{}, false
	}
	return e.entry, true
}

func (c *Cache) put(p place, e entry) {
	sum, row := p.sum(), cached{p, e}
	if len(e.doc) > maxRemembered {
		c.drop(sum)
		return
	}
	if was, there := c.young[sum]; there {
		c.size -= was.cost()
	}
	c.size += row.cost()
	c.young[sum] = row
	if c.size > maxGeneration {
		c.young, c.old, c.size = map[Sum]cached{}, c.young, 0
	}
}

// cost is about how many bytes a row takes in the cache, as it is now.
func (c *cached) cost() int {
	n := int(unsafe.Sizeof(Sum(0))+unsafe.Sizeof(*c)) + len(c.id) + len(c.doc)
	for _, key := range c.keys {
		n += int(unsafe.Sizeof(key))
		if text, is := key.(string); is {
			n += len(text)
		}
	}
	return n
}

// drop drops a row.
func (c *Cache) drop(sum Sum) {
	if was, there := c.young[sum]; there {
		c.size -= was.cost()
	}
	delete(c.young, sum)
	delete(c.old, sum)
}
