package httpapi

import (
	"strconv"
	"sync"
	"time"

	"github.com/countersign/countersign"
)

// comebacks says after how many seconds a start that got no slot may be sent again, so that
// those who wait come back one after the other, half as fast as runs start. If all of them came
// back after a second, then in an overload refusing them would take what the service can do more
// than is asked for, and the overload would outlast its cause. Each tenant has its own, so that
// none makes another one's callers wait.
type comebacks struct {
	mu            sync.Mutex
	next          time.Time // when the latest that was refused comes back
	second        time.Time // since when starts are counted
	started, last int       // starts since then, and in the second before
}

const (
	soonest      = time.Second
	latest       = 20 * time.Second // SDKs wait up to 30 s
	fewComebacks = 100              // in a second: cheap, however few runs start
	comebacksRun = 0.5              // for each run that starts; others are asked for besides
)

// countStart counts a start that was accepted, and tells one that got no slot when to come back.
func (a *API) countStart(c *call, err error) {
	of, _ := a.comebacks.LoadOrStore(c.actor.Tenant, new(comebacks))
	switch {
	case err == nil:
		of.(*comebacks).granted(a.cfg.Now())
	case countersign.ErrorCode(err) == countersign.CodeCapacity:
		c.w.Header().Set("Retry-After", strconv.Itoa(of.(*comebacks).refused(a.cfg.Now())))
	}
}

// granted counts a start.
func (c *comebacks) granted(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(now)
	c.started++
}

// refused gives the Retry-After of a start that got no slot, in seconds.
func (c *comebacks) refused(now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(now)
	rate := max(fewComebacks, comebacksRun*float64(c.last))
	c.next = c.next.Add(time.Duration(float64(time.Second) / rate))
	if first := now.Add(soonest); c.next.Before(first) {
		c.next = first
	}
	if last := now.Add(latest); c.next.After(last) { // also after the clock was set back
		c.next = last
	}
	return int(c.next.Sub(now) / time.Second)
}

// count begins a new second where one has passed.
func (c *comebacks) count(now time.Time) {
	switch passed := now.Sub(c.second); {
	case passed >= 0 && passed < time.Second:
		return
	case passed >= time.Second && passed < 2*time.Second:
		c.last = c.started
	default:
		c.last = 0
	}
	c.second, c.started = now, 0
}
