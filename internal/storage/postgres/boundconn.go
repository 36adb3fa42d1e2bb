package postgres

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// boundConn is a connection on which no read waits longer than answer: the driver reads
// only while it waits for an answer. It replaces a context, with its timer and goroutines,
// for each statement. Deadlines that the driver sets take precedence.
type boundConn struct {
	net.Conn
	answer time.Duration

	mu      sync.Mutex
	drivers bool // the driver has set a deadline
}

// errStalled doesn't look like a timeout to the driver, which would keep the connection.
var errStalled = errors.New("the connection is lost")

// Read implements net.Conn.
func (c *boundConn) Read(b []byte) (int, error) {
	bounded, err := c.bound((*boundConn).readDeadline)
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	return n, c.stalled(bounded, err)
}

// Write implements net.Conn.
func (c *boundConn) Write(b []byte) (int, error) {
	bounded, err := c.bound((*boundConn).writeDeadline)
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	return n, c.stalled(bounded, err)
}

// SetDeadline implements net.Conn, for the driver.
func (c *boundConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drivers = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

func (c *boundConn) readDeadline(t time.Time) error  { return c.SetReadDeadline(t) }
func (c *boundConn) writeDeadline(t time.Time) error { return c.SetWriteDeadline(t) }

// bound sets our deadline unless the driver has set one.
func (c *boundConn) bound(set func(*boundConn, time.Time) error) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drivers {
		return false, nil
	}
	return true, set(c, time.Now().Add(c.answer))
}

// stalled closes the connection when our deadline has passed.
func (c *boundConn) stalled(bounded bool, err error) error {
	c.mu.Lock()
	bounded = bounded && !c.drivers
	c.mu.Unlock()
	if !bounded || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	_ = c.Close()
	return fmt.Errorf("%w: no answer within %s", errStalled, c.answer)
}
