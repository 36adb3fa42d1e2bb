package outbound

import (
	"maps"
	"sync"
	"time"
)

// closerTime is how long an origin is remembered that closed a connection without a word.
const closerTime = time.Hour

// closers are the origins that closed a reused connection instead of answering what was
// sent on it. Whether they had read it nobody knows, so that what must not be sent twice
// gets a new connection there: one that nobody had a reason to close yet. They are among
// the operator's origins, which bounds them. The zero value is ready.
type closers struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (c *closers) add(origin string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = map[string]time.Time{}
	}
	maps.DeleteFunc(c.until, func(_ string, until time.Time) bool { return !now.Before(until) })
	c.until[origin] = now.Add(closerTime)
}

func (c *closers) includes(origin string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Before(c.until[origin])
}
