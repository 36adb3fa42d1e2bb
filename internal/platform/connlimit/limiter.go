package connlimit

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Limiter tracks the open connections of a server. http.Server and its handler call its
// three methods: ConnState, ConnContext and Handler.
type Limiter struct {
	room int

	mu      sync.Mutex
	quiet   *list.List // of *connection, the one that was inactive for longest first
	working *list.List // of *connection whose request is in a handler
	open    map[net.Conn]*connection
}

// connection is an element of one of the two lists.
type connection struct {
	net.Conn
	in *list.List
	at *list.Element
}

// New makes a limiter for so many connections.
func New(room int) *Limiter {
	return &Limiter{room: room, quiet: list.New(), working: list.New(), open: map[net.Conn]*connection{}}
}

// ConnState tracks the state of a connection, and closes another one above the limit.
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

// moves puts a connection at the end of a list.
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

// giveWay closes the connection that was inactive for longest. The new connection is the
// last of quiet: it is closed only if it is the only connection. If it is the only one in
// quiet, giveWay closes the oldest one with a request in a handler.
func (c *Limiter) giveWay() {
	first := c.quiet.Front()
	if c.quiet.Len() == 1 && c.working.Len() > 0 {
		first = c.working.Front()
	}
	leaving, _ := first.Value.(*connection)
	c.forget(leaving.Conn)
	plain := leaving.Conn
	if secured, ok := plain.(*tls.Conn); ok {
		plain = secured.NetConn() // close without a TLS close_notify: its write would block if the peer doesn't read
	}
	_ = plain.Close()
}

type connectionKey struct{}

// ConnContext lets a request's handler find its connection.
func (c *Limiter) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Handler counts a connection as working while next serves its request.
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
