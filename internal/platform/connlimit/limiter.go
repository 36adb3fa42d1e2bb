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
func (l *Limiter) ConnState(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		l.forget(conn)
	case http.StateNew:
		known := &connection{Conn: conn}
		l.open[conn] = known
		l.moves(known, l.quiet)
		if len(l.open) > l.room {
			l.giveWay()
		}
	default: // a request begins, or its answer has been sent
		if known := l.open[conn]; known != nil && known.in == l.quiet {
			l.moves(known, l.quiet)
		}
	}
}

// moves puts a connection at the end of a list.
func (l *Limiter) moves(known *connection, to *list.List) {
	if known.in != nil {
		known.in.Remove(known.at)
	}
	known.in, known.at = to, to.PushBack(known)
}

func (l *Limiter) forget(conn net.Conn) {
	if known := l.open[conn]; known != nil {
		known.in.Remove(known.at)
		delete(l.open, conn)
	}
}

// giveWay closes the connection that was inactive for longest. The new connection is the
// last of quiet: it is closed only if it is the only connection. If it is the only one in
// quiet, giveWay closes the oldest one with a request in a handler.
func (l *Limiter) giveWay() {
	first := l.quiet.Front()
	if l.quiet.Len() == 1 && l.working.Len() > 0 {
		first = l.working.Front()
	}
	leaving, _ := first.Value.(*connection)
	l.forget(leaving.Conn)
	plain := leaving.Conn
	if secured, ok := plain.(*tls.Conn); ok {
		plain = secured.NetConn() // close without a TLS close_notify: its write would block if the peer doesn't read
	}
	_ = plain.Close()
}

type connectionKey struct{}

// ConnContext lets a request's handler find its connection.
func (l *Limiter) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Handler counts a connection as working while next serves its request.
func (l *Limiter) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
		l.goes(conn, l.working)
		defer l.goes(conn, l.quiet)
		next.ServeHTTP(w, r)
	})
}

func (l *Limiter) goes(conn net.Conn, to *list.List) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.open[conn]; known != nil {
		l.moves(known, to)
	}
}
