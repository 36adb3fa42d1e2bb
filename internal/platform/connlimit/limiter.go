package connlimit

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Limiter are those that a server has open. Its three methods are what
// http.Server calls: ConnState, ConnContext and Handler.
type Limiter struct {
	room int

	mu      sync.Mutex
	quiet   *list.List // of *connection, on which longest nothing happened first
	working *list.List // of those whose request is in a handler
	open    map[net.Conn]*connection
}

// connection stands in one of the two lists.
type connection struct {
	net.Conn
	in *list.List
	at *list.Element
}

// New has room for so many connections.
func New(room int) *Limiter {
	return &Limiter{room: room, quiet: list.New(), working: list.New(), open: map[net.Conn]*connection{}}
}

// ConnState follows a connection's life, and makes room where one comes too many.
func (c *Limiter) ConnState(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		c.forget(conn)
	case http.StateNew:
		known := &connection{Conn: conn}
		c.open[conn] = known
		c.moves(known, c.quiet)
		if len(c.open) > c.room {
			c.giveWay()
		}
	default: // a request begins, or its answer has been sent
		if known := c.open[conn]; known != nil && known.in == c.quiet {
			c.moves(known, c.quiet)
		}
	}
}

// moves puts a connection behind the others of a list.
func (c *Limiter) moves(known *connection, to *list.List) {
	if known.in != nil {
		known.in.Remove(known.at)
	}
	known.in, known.at = to, to.PushBack(known)
}

func (c *Limiter) forget(conn net.Conn) {
	if known := c.open[conn]; known != nil {
		known.in.Remove(known.at)
		delete(c.open, conn)
	}
}

// closeOldest closes the connection on which nothing has happened for longest. The
// newest one is last in its list: it goes only where it is alone there.
func (c *Limiter) giveWay() {
	first := c.quiet.Front()
	if c.quiet.Len() == 1 && c.working.Len() > 0 {
		first = c.working.Front()
	}
	leaving, _ := first.Value.(*connection)
	c.forget(leaving.Conn)
	plain := leaving.Conn
	if secured, ok := plain.(*tls.Conn); ok {
		plain = secured.NetConn() // without a farewell, which the other side may never take
	}
	_ = plain.Close()
}

type connectionKey struct{}

// ConnContext lets a request's handler find its connection.
func (c *Limiter) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Handler is a handler whose connections count as working while it is.
func (c *Limiter) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
		c.goes(conn, c.working)
		defer c.goes(conn, c.quiet)
		next.ServeHTTP(w, r)
	})
}

func (c *Limiter) goes(conn net.Conn, to *list.List) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.open[conn]; known != nil {
		c.moves(known, to)
	}
}
