package field

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// receiver is the project's API: it answers by script, down to the bytes, and keeps what it received.
type receiver struct {
	listener net.Listener
	script   []answer
	fill     func(string) string
	closed   chan struct{}
	work     sync.WaitGroup

	mu       sync.Mutex
	begun    bool // the project is set up: what comes now is of the play
	taken    int  // of the script
	received []map[string]any
	open     []net.Conn // in the order in which they came
}

func (r *receiver) serve() {
	r.closed = make(chan struct{})
	r.work.Go(func() {
		for {
			conn, err := r.listener.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.open = append(r.open, conn)
			n := len(r.open)
			r.mu.Unlock()
			r.work.Go(func() { r.converse(conn, n) })
		}
	})
}

func (r *receiver) close() {
	_ = r.listener.Close()
	close(r.closed)
	r.mu.Lock()
	for _, conn := range r.open {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.work.Wait()
}

// converse answers the requests of one connection.
func (r *receiver) converse(conn net.Conn, number int) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		if a, is := r.atOnce(); is {
			r.act(conn, a)
			return
		}
		head, err := readHead(in)
		if err != nil {
			return
		}
		q, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil {
			return
		}
		if q.URL.Path == "/health" {
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"))
			return // each play begins with a new connection
		}
		a := r.next()
		if a.At == "head" {
			r.keep(q, nil, number)
			r.act(conn, a)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, in) // what is unread at a close could cost the caller the answer
			return
		}
		body, err := io.ReadAll(io.LimitReader(in, max(0, q.ContentLength)))
		if err != nil {
			return
		}
		r.keep(q, body, number)
		if !r.act(conn, a) {
			return
		}
	}
}

// readHead reads up to the empty line, and nothing of the body.
func readHead(in *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", err
		}
		head.WriteString(line)
		if strings.Trim(line, "\r\n") == "" {
			return head.String(), nil
		}
	}
}

// atOnce takes the next answer of the script if it is one before anything is read, which is then the
// script's only one, since health checks connect too.
func (r *receiver) atOnce() (answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun && r.taken < len(r.script) && r.script[r.taken].At == "connection" {
		return r.script[r.taken], true
	}
	return answer{}, false
}

// begin ends the setting up.
func (r *receiver) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
}

func (r *receiver) next() answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.script) == 0 {
		return good
	}
	a := r.script[min(r.taken, len(r.script)-1)]
	r.taken++
	return a
}

// good is what a receiver answers that nothing is said of.
var good = answer{Status: 200, Body: text{{Of: `{"ok":true}`, Times: 1}}}

func (r *receiver) keep(q *http.Request, body []byte, connection int) {
	headers := map[string]any{}
	for name, values := range q.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	kept := map[string]any{"method": q.Method, "target": q.RequestURI, "headers": headers, "body": string(body), "connection": jsonInt(connection)}
	if v, err := parse(body); err == nil {
		kept["json"] = v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = append(r.received, kept)
}

// act reports whether the connection stays open.
func (r *receiver) act(conn net.Conn, a answer) bool {
	for _, p := range r.bytes(a) {
		if a.Drips {
			for i := range p {
				_, _ = conn.Write(p[i : i+1])
			}
			continue
		}
		_, _ = conn.Write(p) // the caller may have gone
	}
	switch a.Then {
	case "close":
		return false
	case "reset":
		_ = conn.(*net.TCPConn).SetLinger(0)
		return false
	case "silence":
		<-r.closed
		return false
	}
	return true
}

func (r *receiver) bytes(a answer) [][]byte {
	if a.Status == 0 {
		return a.Send.parts(r.fill)
	}
	body := a.Body.all(r.fill)
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	headers := map[string]string{"Content-Type": "application/json", "Content-Length": fmt.Sprint(len(body))}
	for name, v := range a.Headers {
		headers[name] = r.fill(v)
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "%s: %s\r\n", name, headers[name])
	}
	out.WriteString("\r\n")
	out.Write(body)
	return [][]byte{out.Bytes()}
}

// seen is what was received, as a result that expectations are about, and a fault where a side effect
// was delivered twice under one key.
func (r *receiver) seen() (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys, requests := map[any]bool{}, []any{}
	var err error
	for _, q := range r.received {
		key := q["headers"].(map[string]any)["idempotency-key"]
		if q["method"] != "GET" && keys[key] {
			err = fmt.Errorf("a side effect was delivered twice under the key %v", key)
		}
		keys[key] = true
		requests = append(requests, q)
	}
	return map[string]any{"count": jsonInt(len(requests)), "requests": requests}, err
}
