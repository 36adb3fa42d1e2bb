// Package recent keeps some values in memory that are dear to make and never change.
package recent

import "sync"

// Map keeps at most so many values, the ones used of late among them. Values must
// not be changed once they are in it. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	limit      int
	young, old map[K]V
}

// New makes a map for limit values.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{limit: limit, young: map[K]V{}}
}

// Get gives the value of a key, if it is still there.
func (m *Map[K, V]) Get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.young[k]
	if !ok {
		if v, ok = m.old[k]; ok {
			m.put(k, v)
		}
	}
	return v, ok
}

// Put sets the value of a key.
func (m *Map[K, V]) Put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, v)
}

// put keeps two generations: when the younger has half of the values, the older
// one, which nobody has asked for since, is given up.
func (m *Map[K, V]) put(k K, v V) {
	delete(m.old, k)
	m.young[k] = v
	if len(m.young) > m.limit/2 {
		m.young, m.old = map[K]V{}, m.young
	}
}
