package judge

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
	"github.com/countersign/countersign/test/judge/evaluator"
)

// receiver is the project API of the sequences, one after the other. It keeps no connections, so that it is
// unreachable as soon as it stops listening.
type receiver struct {
	address string
	server  *http.Server

	mu       sync.Mutex
	listener net.Listener // nil: it is unreachable
	answer   string
	state    string // what the read of the state answers; see evaluator.States
	path     string // below which the present sequence's requests are
	requests int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{address: harness.UnusedAddress(t), answer: "ok"}
	r.server = &http.Server{Handler: r}
	r.server.SetKeepAlivesEnabled(false)
	r.listen(t)
	t.Cleanup(func() { _ = r.server.Close() }) // it has answered all
	return r
}

func (r *receiver) origin() string { return "http://" + r.address }

func (r *receiver) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	r.listener = l
	go func() { _ = r.server.Serve(l) }() // until the listener is closed
}

// begins makes it the receiver of the next sequence.
func (r *receiver) begins(t *testing.T, path string) {
	t.Helper()
	r.answers(t, "ok")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.path, r.requests, r.state = path, 0, evaluator.States[0]
}

func (r *receiver) answers(t *testing.T, how string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = how
	if how == "unreachable" && r.listener != nil {
		_ = r.listener.Close() // no request is on its way
		r.listener = nil
	}
	if how != "unreachable" && r.listener == nil {
		r.listen(t)
	}
}

func (r *receiver) becomes(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

func (r *receiver) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	answer, state := r.answer, r.state
	if q.URL.Path == r.path+"state" {
		r.mu.Unlock()
		tells(w, state)
		return
	}
	if strings.HasPrefix(q.URL.Path, r.path) {
		r.requests++
	} else {
		answer = "ok" // a health check
	}
	r.mu.Unlock()
	write(w, answer)
}

func tells(w http.ResponseWriter, state string) {
	w.Header().Set("Content-Type", "application/json")
	if status, err := strconv.Atoi(strings.TrimSpace(state)); err == nil {
		w.WriteHeader(status)
	}
	_, _ = io.WriteString(w, state) // the service reads it
}

var bodies = map[string]string{"ok": `{"ok":true}`, "other": `{"ok":false}`, "missing": `{"other":1}`, "empty": ``, "no JSON": `{"ok":tru`, "409 in_progress": `{"error":"in_progress"}`, "409 in_doubt": `{"error":"in_doubt"}`}

func write(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "application/json")
	status := map[string]int{"400": 400, "404": 404, "408": 408, "409": 409, "422": 422, "500": 500, "503": 503, "302": 302, "409 in_progress": 409, "409 in_doubt": 409}[answer]
	switch answer {
	case "hang up":
		panic(http.ErrAbortHandler)
	case "cut":
		w.Header().Set("Content-Length", "11")
		_, _ = w.Write([]byte(`{"ok":`))
		panic(http.ErrAbortHandler)
	}
	if status != 0 {
		w.WriteHeader(status)
	}
	body, is := bodies[answer]
	if !is {
		body = `{"error":"as it was drawn"}`
	}
	_, _ = w.Write([]byte(body)) // the service reads it
}
