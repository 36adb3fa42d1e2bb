// Package cache keeps some values in memory that are expensive to make and never change.
package cache

import "sync"

// Cache keeps a limited number of values, preferring the recently used ones. Callers must
// not change a value that is in the cache. A Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	limit      int
	most       int // bound on the sum of the values' weights; 0: no bound
	young, old map[K]weighed[V]
	weight     int // sum of the weights in young
}

// weighed is a value with its weight.
type weighed[V any] struct {
	value  V
	weight int
}

// New makes a cache of at most limit values.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return Weighed[K, V](limit, 0)
}

// Weighed makes a cache of at most limit values whose weights add up to at most most. A
// single value may be heavier than that.
func Weighed[K comparable, V any](limit, most int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, most: most, young: map[K]weighed[V]{}}
}

// Get returns the value of a key if the cache still has it.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.young[k]
	if !ok {
		if v, ok = c.old[k]; ok {
			c.put(k, v)
		}
	}
	return v.value, ok
}

// Put sets the value of a key.
func (c *Cache[K, V]) Put(k K, v V) { c.PutWeighed(k, v, 0) }

// PutWeighed sets the value of a key and its weight.
func (c *Cache[K, V]) PutWeighed(k K, v V, weight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, weighed[V]{v, weight})
}

// put keeps two generations. When the young one has half of the values or of the weight,
// put drops the old one, whose values were not read since, and starts a new young one.
func (c *Cache[K, V]) put(k K, v weighed[V]) {
	delete(c.old, k)
	c.weight += v.weight - c.young[k].weight
	c.young[k] = v
	if len(c.young) > c.limit/2 || c.most > 0 && c.weight > c.most/2 {
		c.young, c.old, c.weight = map[K]weighed[V]{}, c.young, 0
	}
}
