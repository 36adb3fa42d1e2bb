package mcpup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// maxMessage bounds one message of a server: a list of tools is longer than any answer.
const maxMessage = 8 << 20

var errFlood = errors.New("the server sends a message of more than 8 MiB")

// tap watches the bytes between the protocol's client and a server, for what the client doesn't
// tell: whether a request can have left, and the result as it was written, digit for digit.
type tap struct {
	mu      sync.Mutex
	waiting map[string]*capture // by progress token
	ids     map[string]*capture // by the request's id, once that is known
}

// capture is what was seen of one request.
type capture struct {
	token string
	lost  func() // ends the wait for an answer that can't come any more

	mu     sync.Mutex
	sent   bool // a byte of it can have left
	result json.RawMessage
	failed *rpcError
	status int // of HTTP, where that was no 2xx
	body   []byte
	kind   string
}

// rpcError is the error of a server's answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func newTap() *tap { return &tap{waiting: map[string]*capture{}, ids: map[string]*capture{}} }

func (t *tap) watch(c *capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[c.token] = c
}

func (t *tap) forget(c *capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, c.token)
	for id, other := range t.ids {
		if other == c {
			delete(t.ids, id)
		}
	}
}

// leaving finds the capture of a message that is about to be written; nil: nobody asked for it.
func (t *tap) leaving(message []byte) *capture {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Meta struct {
				Token string `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if !bytes.Contains(message, []byte("progressToken")) || json.Unmarshal(message, &m) != nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.waiting[m.Params.Meta.Token]
	if c != nil {
		t.ids[string(m.ID)] = c
	}
	return c
}

func (c *capture) left() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = true
}

// came keeps the result of a message that came.
func (t *tap) came(message []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil || m.Method != "" {
		return
	}
	t.mu.Lock()
	c := t.ids[string(m.ID)]
	t.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.result == nil && c.failed == nil { // a server answers once
			c.result, c.failed = m.Result, m.Error
		}
	}
}

// lines reads a server's standard output: a message a line. What is none, such as a greeting, is
// left out.
type lines struct {
	tap  *tap
	from *bufio.Reader
	io.Closer
	rest []byte
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		var line []byte
		for {
			part, err := l.from.ReadSlice('\n')
			line = append(line, part...)
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return 0, err
			}
			if len(line) > maxMessage {
				return 0, errFlood
			}
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
			l.tap.came(line)
			l.rest = line
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// writes notes what leaves for a server's standard input.
type writes struct {
	tap *tap
	io.WriteCloser
}

func (w writes) Write(p []byte) (int, error) {
	if c := w.tap.leaving(p); c != nil {
		c.left()
	}
	return w.WriteCloser.Write(p)
}

// wire is the way to a server over HTTP.
type wire struct {
	tap     *tap
	auth    *up.Auth
	headers map[string]string
	next    http.RoundTripper
}

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	var c *capture
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			text, _ := io.ReadAll(body) // bytes in memory
			c = w.tap.leaving(text)
		}
	}
	name, value, err := w.auth.Header(req.Context())
	if err != nil {
		return nil, err
	}
	ctx, begun := up.Sending(req.Context())
	req = req.Clone(ctx)
	req.GetBody = nil // nothing is sent again
	req.Header.Set("User-Agent", "countersign-adapter")
	req.Header.Set("Accept-Encoding", "identity")
	for n, v := range w.headers {
		req.Header.Set(n, v)
	}
	if name != "" {
		req.Header.Set(name, value)
	}
	resp, err := w.next.RoundTrip(req)
	if c != nil && begun() {
		c.left()
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		w.auth.Refused()
	}
	return w.watched(resp, c)
}

// watched shows the tap what comes, and bounds it.
func (w wire) watched(resp *http.Response, c *capture) (*http.Response, error) {
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if stream && resp.StatusCode < 300 {
		resp.Body = &events{ReadCloser: resp.Body, tap: w.tap, c: c}
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	_ = resp.Body.Close() // read, or given up
	if err != nil {
		return nil, err
	}
	w.tap.came(body)
	if c != nil && resp.StatusCode >= 300 {
		c.mu.Lock()
		c.status, c.body, c.kind = resp.StatusCode, body[:min(len(body), countersign.MaxBodyBytes)], resp.Header.Get("Content-Type")
		c.mu.Unlock()
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// events shows the tap each event of a stream. Where the stream of a request ends without its
// answer, and has no id by which it could be resumed, nothing comes any more.
type events struct {
	io.ReadCloser
	tap       *tap
	c         *capture
	line      []byte
	data      []byte
	resumable bool
}

func (e *events) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	for _, b := range p[:n] {
		if b != '\n' {
			if len(e.line) < maxMessage {
				e.line = append(e.line, b)
			}
			continue
		}
		e.take(strings.TrimSuffix(string(e.line), "\r"))
		e.line = e.line[:0]
	}
	if err != nil && e.c != nil && !e.resumable {
		e.c.lost()
	}
	return n, err
}

func (e *events) take(line string) {
	switch name, value, _ := strings.Cut(line, ":"); {
	case line == "":
		e.tap.came(e.data)
		e.data = nil
	case name == "data" && len(e.data) < maxMessage:
		e.data = append(append(e.data, strings.TrimPrefix(value, " ")...), '\n')
	case name == "id":
		e.resumable = strings.TrimSpace(value) != ""
	}
}
