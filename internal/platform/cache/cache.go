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
func (m *Cache[K, V]) Get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.young[k]
	if !ok {
		if v, ok = m.old[k]; ok {
			m.put(k, v)
		}
	}
	return v.value, ok
}

// Put sets the value of a key.
func (m *Cache[K, V]) Put(k K, v V) { m.PutWeighed(k, v, 0) }

// PutWeighed sets the value of a key and its weight.
func (m *Cache[K, V]) PutWeighed(k K, v V, weight int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, weighed[V]{v, weight})
}

// put keeps two generations. When the young one has half of the values or of the weight,
// put drops the old one, whose values were not read since, and starts a new young one.
func (m *Cache[K, V]) put(k K, v weighed[V]) {
	delete(m.old, k)
	m.weight += v.weight - m.young[k].weight
	m.young[k] = v
	if len(m.young) > m.limit/2 || m.most > 0 && m.weight > m.most/2 {
		m.young, m.old, m.weight = map[K]weighed[V]{}, m.young, 0
	}
}
