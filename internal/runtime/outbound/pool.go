package outbound

import (
	"sync"
	"time"
)

// An idle connection is kept for less than the shortest time after which
// receivers close theirs, for one that dies while a request is on its way makes
// the outcome unknown; and a busy one not so long that it would outlive a change
// of address or certificate by much.
const (
	maxIdle = time.Second
	maxAge  = time.Minute
	// fewest is how many idle connections of an origin are kept at least.
	fewest = 64
)

// pool keeps idle connections, by origin.
type pool struct {
	maxIdle time.Duration
	most    int // idle connections of an origin

	mu     sync.Mutex
	idle   map[string][]*conn
	closed bool
}

// newPool makes a pool for so many calls at once. After a commit many steps call together: with
// fewer connections than calls each time some would be closed, and others opened.
func newPool(calls int) *pool {
	return &pool{maxIdle: maxIdle, most: max(fewest, calls), idle: map[string][]*conn{}}
}

// take hands out the connection used last that is still alive, nil when there is
// none. The others that it meets are closed.
func (p *pool) take(origin string) *conn {
	for {
		c := p.pop(origin)
		if c == nil || c.isIdle() {
			return c
		}
		c.close()
	}
}

func (p *pool) pop(origin string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[origin]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	p.idle[origin] = list[:len(list)-1]
	c.expiry.Stop()
	return c
}

// put takes a connection back whose last exchange is wholly over.
func (p *pool) put(origin string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle[origin]) >= p.most || time.Since(c.born) > maxAge {
		c.close()
		return
	}
	p.idle[origin] = append(p.idle[origin], c)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(p.maxIdle, func() { p.drop(origin, c) })
	} else {
		c.expiry.Reset(p.maxIdle)
	}
}

// drop closes a connection if it is still idle. A timer that fires late may meet
// it idle again, which costs a new connection and nothing else.
func (p *pool) drop(origin string, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle[origin] {
		if other == c {
			p.idle[origin] = append(p.idle[origin][:i], p.idle[origin][i+1:]...)
			c.close()
			return
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, list := range p.idle {
		for _, c := range list {
			c.expiry.Stop()
			c.close()
		}
	}
	p.idle = map[string][]*conn{}
}
