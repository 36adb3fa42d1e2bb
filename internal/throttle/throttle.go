// Package throttle bounds how often somebody may try something: a token bucket
// for each key, in memory. It is forgotten at a restart, which costs an attacker
// more than it gives.
package throttle

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Throttle is safe for concurrent use. Its memory is bounded: with more keys than
// it may remember, those whose buckets are full again are forgotten first, and
// while none is, new keys are refused.
type Throttle struct {
	burst int
	every time.Duration
	most  int

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// New allows burst attempts of a key at once and then one in each interval. It
// remembers at most so many keys.
func New(burst int, every time.Duration, most int) *Throttle {
	return &Throttle{burst: burst, every: every, most: most, buckets: map[string]*rate.Limiter{}}
}

// Allow counts an attempt and reports whether it may be made.
func (t *Throttle) Allow(key string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[key]
	if b == nil {
		if len(t.buckets) >= t.most && !t.forget(now) {
			return false
		}
		b = rate.NewLimiter(rate.Every(t.every), t.burst)
		t.buckets[key] = b
	}
	return b.AllowN(now, 1)
}

// forget drops the buckets that are full again: they are as good as new ones.
func (t *Throttle) forget(now time.Time) bool {
	for key, b := range t.buckets {
		if b.TokensAt(now) >= float64(t.burst) {
			delete(t.buckets, key)
		}
	}
	return len(t.buckets) < t.most
}
