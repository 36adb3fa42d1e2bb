// Package throttle bounds how often a caller may try something, with a token bucket for each
// key. Throttle keeps the buckets in memory. A restart forgets them, which costs an attacker
// more than it gives.
package throttle

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Throttle is safe for concurrent use. Its memory is bounded: above its limit of keys it
// forgets the keys whose buckets are full, and if there are none, the half whose buckets are
// full soonest. A new key is never refused for lack of space, so an attacker with many keys
// can't lock others out; the key with the most attempts is forgotten last.
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
	if !known && len(t.buckets) >= t.most {
		t.forget(now)
	}
	after, allowed := t.rate.Take(bucket, now)
	t.buckets[key] = after
	return allowed
}

// Return takes back a counted attempt.
func (t *Throttle) Return(key string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bucket, ok := t.buckets[key]; ok {
		t.buckets[key] = t.rate.Return(bucket, now)
	}
}

// forget drops the full buckets, which equal new ones. If there are none, it drops the half
// with the fewest attempts.
func (t *Throttle) forget(now time.Time) {
	maps.DeleteFunc(t.buckets, func(_ string, bucket time.Time) bool { return !t.rate.Holds(bucket, now) })
	if len(t.buckets) < t.most {
		return
	}
	times := slices.SortedFunc(maps.Values(t.buckets), time.Time.Compare)
	middle := times[len(times)/2]
	maps.DeleteFunc(t.buckets, func(_ string, bucket time.Time) bool { return !bucket.After(middle) })
}
