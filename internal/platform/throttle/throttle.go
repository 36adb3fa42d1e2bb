// Package throttle bounds how often somebody may try something: a token bucket
// for each key. Throttle keeps them in memory, where they are forgotten at a
// restart, which costs an attacker more than it gives.
package throttle

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Throttle is safe for concurrent use. Its memory is bounded: with more keys than
// it may remember, those whose buckets are full again are forgotten first, and then
// the half that will be soonest. New keys are never refused for want of place, so
// that who comes as many can't keep others out; who tried most is forgotten last.
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

// Return takes back an attempt that was counted.
func (t *Throttle) Return(key string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bucket, ok := t.buckets[key]; ok {
		t.buckets[key] = t.rate.Return(bucket, now)
	}
}

// forget drops the buckets that are full again: they are as good as new ones. Where
// none is, it drops the half that holds least.
func (t *Throttle) forget(now time.Time) {
	maps.DeleteFunc(t.buckets, func(_ string, bucket time.Time) bool { return !t.rate.Holds(bucket, now) })
	if len(t.buckets) < t.most {
		return
	}
	times := slices.SortedFunc(maps.Values(t.buckets), time.Time.Compare)
	middle := times[len(times)/2]
	maps.DeleteFunc(t.buckets, func(_ string, bucket time.Time) bool { return !bucket.After(middle) })
}
