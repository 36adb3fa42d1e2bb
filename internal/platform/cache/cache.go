// Package cache keeps some values in memory that are dear to make and never change.
package cache

import "sync"

// Cache keeps at most so many values, the ones used of late among them. Values must
// not be changed once they are in it. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	limit      int
	most       int // of the values' weights together; 0: whatever they weigh
	young, old map[K]weighed[V]
	weight     int // of the young
}

// weighed is a value and what it weighs.
type weighed[V any] struct {
	value  V
	weight int
}

// New makes a map for limit values.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return Weighed[K, V](limit, 0)
}

// Weighed makes a map for limit values that together weigh about most, and one that is
// heavier than that alone.
func Weighed[K comparable, V any](limit, most int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, most: most, young: map[K]weighed[V]{}}
}

// Get gives the value of a key, if it is still there.
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

// PutWeighed sets the value of a key, and what it weighs.
func (m *Cache[K, V]) PutWeighed(k K, v V, weight int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, weighed[V]{v, weight})
}

// put keeps two generations: when the younger has half of the values, or of the
// weight, the older one, which nobody has asked for since, is given up.
func (m *Cache[K, V]) put(k K, v weighed[V]) {
	delete(m.old, k)
	m.weight += v.weight - m.young[k].weight
	m.young[k] = v
	if len(m.young) > m.limit/2 || m.most > 0 && m.weight > m.most/2 {
		m.young, m.old, m.weight = map[K]weighed[V]{}, m.young, 0
	}
}
