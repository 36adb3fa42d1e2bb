package harness

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Receiver is a project API on loopback. It keeps the bytes of every request and answers by script.
type Receiver struct {
	listener net.Listener
	work     sync.WaitGroup
	end      sync.Once
	closed   chan struct{}

	mu          sync.Mutex
	scripts     map[string][]Reply // by method and path, without the query
	otherwise   Reply              // answers requests without a script
	seen        []Request
	connections int
	open        map[net.Conn]bool
	again       map[string]bool // idempotency keys that may arrive twice
}

// Request is one request as received.
type Request struct {
	Raw    []byte // head and body, byte for byte
	Method string
	Target string // path and query
	Path   string
	Header http.Header
	Body   []byte

	Arrived time.Time
}

// Exchange is a request waiting for its reply.
type Exchange struct {
	Request
	conn   net.Conn
	closed <-chan struct{}
}

// Reply answers a request.
type Reply func(x *Exchange)

// NewReceiver starts a receiver; without a script it answers 200 {"ok":true}. At the end of the test it
// checks that no side effect arrived twice under one idempotency key.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return receiverAt(t, listener)
}

// receiverAt starts a receiver on an existing listener.
func receiverAt(t testing.TB, listener net.Listener) *Receiver {
	t.Helper()
	r := &Receiver{listener: listener, closed: make(chan struct{}), scripts: map[string][]Reply{}, otherwise: Answering(200, `{"ok":true}`), open: map[net.Conn]bool{}, again: map[string]bool{}}
	r.work.Go(r.accept)
	t.Cleanup(func() {
		r.Close()
		r.checkDeliveries(t)
	})
	return r
}

// Origin is the receiver's address.
func (r *Receiver) Origin() string { return origin(r.listener) }

func origin(l net.Listener) string { return "http://" + l.Addr().String() }

// On scripts the answers for a method and path: each is used once, the last one repeatedly.
func (r *Receiver) On(method, path string, replies ...Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts[method+" "+path] = replies
}

// Otherwise sets the answer for requests without a script.
func (r *Receiver) Otherwise(reply Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.otherwise = reply
}

// MayRepeat allows a side effect's key to arrive twice, since its first delivery was confirmed as not
// executed.
func (r *Receiver) MayRepeat(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again[key] = true
}

// Seen lists the requests for a method and path in the order of arrival.
func (r *Receiver) Seen(method, path string) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Request
	for _, q := range r.seen {
		if q.Method == method && q.Path == path {
			out = append(out, q)
		}
	}
	return out
}

// Connections counts the connections that were opened, used or not.
func (r *Receiver) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.connections
}

// Await waits until a method and path was requested n times, and returns the latest request.
func (r *Receiver) Await(t testing.TB, method, path string, n int) Request {
	t.Helper()
	Until(t, "a request "+method+" "+path, func() bool { return len(r.Seen(method, path)) >= n })
	return r.Seen(method, path)[n-1]
}

func (r *Receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.connections++
		r.open[conn] = true
		r.mu.Unlock()
		r.work.Go(func() { r.serve(conn) })
	}
}

// serve answers the requests of one connection. The caller waits for each answer before it sends the
// next request, so all bytes that were read belong to one request.
func (r *Receiver) serve(conn net.Conn) {
	defer r.forget(conn)
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		raw.Reset()
		parsed, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(parsed.Body)
		if err != nil {
			return
		}
		x := &Exchange{conn: conn, closed: r.closed, Request: Request{
			Raw: bytes.Clone(raw.Bytes()), Method: parsed.Method, Target: parsed.RequestURI, Path: parsed.URL.Path,
			Header: parsed.Header, Body: body, Arrived: time.Now(),
		}}
		r.next(x)(x)
	}
}

func (r *Receiver) forget(conn net.Conn) {
	_ = conn.Close() // the peer may have closed it first
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, conn)
}

// next records the request and takes its reply from the script.
func (r *Receiver) next(x *Exchange) Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, x.Request)
	key := x.Method + " " + x.Path
	script := r.scripts[key]
	switch len(script) {
	case 0:
		return r.otherwise
	case 1:
		return script[0]
	}
	r.scripts[key] = script[1:]
	return script[0]
}

// Close stops the receiver; later calls are refused.
func (r *Receiver) Close() {
	r.end.Do(r.close)
	r.work.Wait()
}

func (r *Receiver) close() {
	close(r.closed)
	_ = r.listener.Close()
	r.mu.Lock()
	for conn := range r.open {
		_ = conn.Close()
	}
	r.mu.Unlock()
}

// checkDeliveries checks that each side effect's idempotency key arrived once.
func (r *Receiver) checkDeliveries(t testing.TB) {
	t.Helper()
	count := map[string]int{}
	for _, q := range r.seen {
		key := q.Header.Get("Idempotency-Key")
		if q.Method == http.MethodGet || r.again[key] {
			continue
		}
		if count[key]++; count[key] == 2 {
			t.Errorf("%s %s was delivered twice under the idempotency key %q", q.Method, q.Path, key)
		}
	}
}
