package slacktest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// OpenPiped is Open without sockets: who is given its Transport reaches it by pipes in memory, whose
// waiting goroutines don't hold up virtual time.
func OpenPiped(t testing.TB) *Workspace {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	w := open(t, l)
	w.transport = &http.Transport{DialContext: l.dial}
	t.Cleanup(w.transport.CloseIdleConnections)
	return w
}

// Transport reaches a workspace that OpenPiped opened.
func (w *Workspace) Transport() *http.Transport { return w.transport }

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
