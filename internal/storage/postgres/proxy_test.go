package postgres

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy stands between a store and its server and can break one connection.
type proxy struct {
	listener net.Listener
	server   string
	database string // its address, for who goes there directly
	all      sync.WaitGroup

	mu    sync.Mutex
	fault *fault
	open  map[net.Conn]chan struct{} // closed by hangUp
	shut  bool                       // new connections are refused
	heard *bytes.Buffer              // the requests, while somebody wants them
	late  []late                     // messages on their way
}

// late is a message that its sender has given up.
type late struct {
	bytes  []byte
	to     net.Conn
	closed chan struct{} // by the server
}

// direction of bytes.
type direction int

const (
	requests direction = iota // to the server
	answers                   // to the store
)

// String names a direction.
func (d direction) String() string { return [...]string{"requests", "answers"}[d] }

// fault breaks the first connection on which it comes true.
type fault struct {
	of direction
	// after so many bytes, the bytes beyond are not passed on; or
	after int
	// at the bytes that hold this text, which are not passed on.
	at string
	// silent: nothing is passed on any more, but the connection stays.
	silent bool
	// deaf: nothing is read any more, but the connection stays.
	deaf bool
	// shut: from then on no connection can be made, until reopen.
	shut bool
	// late: the client loses its connection, and what it had sent arrives by deliver.
	late bool

	struck chan struct{} // closed when it has come true
}

func startProxy(t testing.TB, database string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: u.Host, database: database, open: map[net.Conn]chan struct{}{}}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.all.Go(p.accept)
	t.Cleanup(p.stop)
	u.Host = p.listener.Addr().String()
	return p, u.String()
}

// arm sets what happens next.
func (p *proxy) arm(f fault) *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.struck = make(chan struct{})
	p.fault = &f
	return p.fault
}

// disarm says whether the fault had come true.
func (p *proxy) disarm() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	struck := p.fault == nil
	p.fault = nil
	return struck
}

func (p *proxy) reopen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = false
}

func (p *proxy) stop() {
	_ = p.listener.Close()
	p.hangUp()
	p.all.Wait()
}

// hangUp closes all connections.
func (p *proxy) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, gone := range p.open {
		_ = conn.Close()
		close(gone)
	}
	clear(p.open)
}

// listen returns the requests that pass while do runs.
func (p *proxy) listen(do func()) []byte {
	var heard bytes.Buffer
	set := func(to *bytes.Buffer) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = to
	}
	set(&heard)
	do()
	set(nil)
	return heard.Bytes()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.connect(client) })
	}
}

func (p *proxy) connect(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	if !p.enter(client, server) {
		return
	}
	var both sync.WaitGroup
	closed := make(chan struct{})
	both.Go(func() { p.pass(requests, client, server, closed) })
	both.Go(func() {
		p.pass(answers, server, client, closed)
		close(closed)
	})
	both.Wait()
}

// deliver has the messages arrive that were late, and returns once the server has done what
// it does with each.
func (p *proxy) deliver(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	all := p.late
	p.late = nil
	p.mu.Unlock()
	if len(all) == 0 {
		t.Error("no message is on its way")
	}
	for _, m := range all {
		_, _ = m.to.Write(m.bytes)
		_ = m.to.(*net.TCPConn).CloseWrite()
		<-m.closed
	}
}

func (p *proxy) enter(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.shut {
			_ = c.Close()
		}
		p.open[c] = make(chan struct{})
	}
	return !p.shut
}

// pass copies until one side closes or the fault comes true.
func (p *proxy) pass(d direction, from, to net.Conn, closed chan struct{}) {
	silent := false
	for buffer := make([]byte, 1<<16); ; {
		n, err := from.Read(buffer)
		keep, struck := p.judge(d, buffer[:n])
		if struck != nil && struck.late {
			p.hold(late{bytes.Clone(buffer[:n]), to, closed}, from)
			return
		}
		if !silent {
			_, _ = to.Write(buffer[:keep])
		}
		silent = silent || struck != nil && struck.silent
		if struck != nil && struck.deaf {
			<-p.gone(from)
		}
		if err != nil || struck != nil && !struck.silent {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// hold keeps a message, and cuts its sender off.
func (p *proxy) hold(m late, from net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = append(p.late, m)
	_ = from.Close()
}

// gone is closed when the connection has been hung up.
func (p *proxy) gone(conn net.Conn) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone := p.open[conn]; gone != nil {
		return gone
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// judge says how many of the bytes may pass, and whether the fault has come true.
func (p *proxy) judge(d direction, b []byte) (int, *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.heard != nil && d == requests {
		p.heard.Write(b)
	}
	f := p.fault
	if f == nil || f.of != d {
		return len(b), nil
	}
	keep := min(f.after, len(b))
	if f.at == "" {
		f.after -= keep
	} else if keep = bytes.Index(b, []byte(f.at)); keep < 0 {
		keep = len(b)
	}
	if keep == len(b) {
		return keep, nil
	}
	p.fault, p.shut = nil, f.shut
	close(f.struck)
	return keep, f
}
