// Package throttle bounds how often somebody may try something: a token bucket
// for each key. Throttle keeps them in memory, where they are forgotten at a
// restart, which costs an attacker more than it gives.
package throttle

import (
	"sync"
	"time"
)

// Throttle is safe for concurrent use. Its memory is bounded: with more keys than
// it may remember, those whose buckets are full again are forgotten first, and
// while none is, new keys are refused.
type Throttle struct {
	rate Rate
	most int

	mu      sync.Mutex
	buckets map[string]time.Time
}

// New makes a throttle that remembers at most so many keys.
func New(rate Rate, most int) *Throttle {
	return &Throttle{rate: rate, most: most, buckets: map[string]time.Time{}}
}

// Allow counts an attempt and reports whether it may be made.
func (t *Throttle) Allow(key string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	bucket, known := t.buckets[key]
	if !known && len(t.buckets) >= t.most && !t.forget(now) {
		return false
	}
	after, allowed := t.rate.Take(bucket, now)
	t.buckets[key] = after
	return allowed
}

// forget drops the buckets that are full again: they are as good as new ones.
func (t *Throttle) forget(now time.Time) bool {
	for key, bucket := range t.buckets {
		if !t.rate.Holds(bucket, now) {
			delete(t.buckets, key)
		}
	}
	return len(t.buckets) < t.most
}
