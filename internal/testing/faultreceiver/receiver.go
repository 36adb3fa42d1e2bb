// Package faultreceiver is a project API for tests. It speaks raw TCP, answers wrongly on demand,
// and logs every byte that it receives, so that tests can count what was really delivered. It does
// not depend on the client that it tests.
package faultreceiver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"
)

// settleTime is how long Settle waits for connections to end before it returns an error.
const settleTime = 10 * time.Second

// sentinel is the first line of a connection that Settle makes: when it arrives, every earlier
// connection was accepted.
const sentinel = "SETTLE\r\n"

// Receiver accepts connections on loopback. It answers each request with the next queued fault, or
// correctly if the queue is empty.
type Receiver struct {
	listener net.Listener
	scheme   string
	open     sync.WaitGroup

	mu      sync.Mutex
	next    []Fault
	log     []*wiretap
	settled []chan struct{}
}

// Start listens on a free port of 127.0.0.1.
func Start() (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return serve(listener, "http"), nil
}

// StartTLS is Start with a certificate.
func StartTLS(cfg *tls.Config) (*Receiver, error) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		return nil, err
	}
	return serve(listener, "https"), nil
}

func serve(listener net.Listener, scheme string) *Receiver {
	r := &Receiver{listener: listener, scheme: scheme}
	go r.accept()
	return r
}

// URL is the receiver's origin.
func (r *Receiver) URL() string { return r.scheme + "://" + r.listener.Addr().String() }

// Next appends faults to the queue, one for each future request.
func (r *Receiver) Next(faults ...Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = append(r.next, faults...)
}

// Refuse stops listening, so that further connections are refused, and closes every connection.
func (r *Receiver) Refuse() {
	_ = r.listener.Close()
	r.CloseConnections()
}

// CloseConnections closes every open connection, as a receiver does with idle ones.
func (r *Receiver) CloseConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.log {
		_ = c.Close()
	}
}

// Settle waits until every connection has ended; then Requests and Raw are final. The client must
// have closed its idle connections.
func (r *Receiver) Settle() error {
	if c, err := r.dial(); err == nil {
		passed := make(chan struct{})
		r.mu.Lock()
		r.settled = append(r.settled, passed)
		r.mu.Unlock()
		_, _ = c.Write([]byte(sentinel))
		_ = waitFor(passed)
		_ = c.Close()
	}
	ended := make(chan struct{})
	go func() { r.open.Wait(); close(ended) }()
	return waitFor(ended)
}

func (r *Receiver) dial() (net.Conn, error) {
	if r.scheme == "http" {
		return net.Dial("tcp", r.listener.Addr().String())
	}
	return tls.Dial("tcp", r.listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10})
}

func waitFor(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-time.After(settleTime):
		return errors.New("faultreceiver: a connection is still open")
	}
}

// Close stops listening and closes every connection.
func (r *Receiver) Close() {
	r.Refuse()
	r.open.Wait()
}

// Raw returns the bytes that each connection received, in the order in which the connections were
// accepted, including those that received nothing.
func (r *Receiver) Raw() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, c := range r.log {
		if text := c.text(); text != sentinel {
			all = append(all, text)
		}
	}
	return all
}

// requestLine may match in the middle of a line, since a second request follows the body of the
// first one directly.
var requestLine = regexp.MustCompile(`(?:GET|POST|PUT|PATCH|DELETE) \S+ HTTP/1\.[01]\r\n`)

// Requests lists the request lines that the receiver got on all connections, also of incomplete
// requests: the number of deliveries.
func (r *Receiver) Requests() []string {
	var lines []string
	for _, raw := range r.Raw() {
		for _, line := range requestLine.FindAllString(raw, -1) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func (r *Receiver) accept() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		tap := &wiretap{Conn: c}
		r.mu.Lock()
		r.log = append(r.log, tap)
		r.open.Add(1)
		r.mu.Unlock()
		go r.handle(tap)
	}
}

func (r *Receiver) handle(c *wiretap) {
	defer r.open.Done()
	defer func() { _ = c.Close() }()
	if f, ok := r.take(true); ok {
		f.play(&Exchange{Conn: c})
		return
	}
	x := &Exchange{Conn: c, reader: bufio.NewReader(c)}
	for {
		first, err := x.reader.Peek(1)
		if err != nil {
			return
		}
		if first[0] == sentinel[0] { // no HTTP method begins with this byte
			r.passed()
			return
		}
		f, ok := r.take(false)
		if !ok {
			f = OK
		}
		if f.play(x); !f.keep {
			return
		}
	}
}

// take returns the next fault if it applies now: when a connection is accepted, or when a request
// begins.
func (r *Receiver) take(accepting bool) (Fault, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.next) == 0 || r.next[0].atAccept != accepting {
		return Fault{}, false
	}
	f := r.next[0]
	r.next = r.next[1:]
	return f, true
}

func (r *Receiver) passed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.settled {
		close(c)
	}
	r.settled = nil
}

// wiretap logs what is read from a connection.
type wiretap struct {
	net.Conn
	mu  sync.Mutex
	raw []byte
}

func (w *wiretap) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw = append(w.raw, b[:n]...)
	return n, err
}

func (w *wiretap) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.raw)
}
