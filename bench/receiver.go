package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// receiver is the API that the canonical workload calls, on the loopback interface. It
// answers at once and records when it answered the calls of each run, so that the contenders
// are measured by their calls.
type receiver struct {
	origin string
	server *http.Server
	calls  atomic.Int64
	runs   sync.Map // run id -> *progress
	steps  int
	log    atomic.Pointer[deliveries] // if set, calls are logged here instead of in runs
}

// progress has the calls of one run.
type progress struct {
	mu   sync.Mutex
	n    int             // calls so far
	last time.Time       // when the last one was answered
	gaps []time.Duration // from an answer to the next request
	done chan struct{}   // closed when the call of the last step was answered
}

func newReceiver(steps int) (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{origin: "http://" + l.Addr().String(), steps: steps}
	r.server = &http.Server{Handler: http.HandlerFunc(r.answer), ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) answer(w http.ResponseWriter, q *http.Request) {
	arrived := time.Now()
	body, _ := io.ReadAll(q.Body)
	w.Header().Set("Content-Type", "application/json")
	n := r.calls.Add(1)
	answer := []byte(`{"ok":true,"id":"` + strconv.FormatInt(n, 10) + `"}`)
	if q.URL.Path == signedPath {
		sign(w.Header(), q, body, answer)
	}
	_, _ = w.Write(answer)
	id := q.Header.Get("X-Runtime-Run-Id")
	switch log := r.log.Load(); {
	case id == "" || q.Method != http.MethodPost:
	case log != nil:
		log.saw(id, q.Header.Get("X-Runtime-Step-Id"), arrived, time.Now())
	default:
		r.of(id).saw(arrived, r.steps)
	}
}

func (r *receiver) of(run string) *progress {
	p, _ := r.runs.LoadOrStore(run, &progress{done: make(chan struct{})})
	return p.(*progress)
}

func (p *progress) saw(arrived time.Time, steps int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n > 0 {
		p.gaps = append(p.gaps, arrived.Sub(p.last))
	}
	p.n++
	p.last = time.Now()
	if p.n == steps {
		close(p.done)
	}
}

// finished is the time at which the last call of a run was answered.
func (p *progress) finished() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// payload is a body of about 200 bytes. All contenders send the same.
func payload(run string, step int) []byte {
	return fmt.Appendf(nil, `{"run":%q,"step":%d,"order":"ord-000123","customer":"cust-42","amount":1250.75,"currency":"EUR","note":"canonical workload body padded to roughly two hundred bytes of json........"}`, run, step)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}

// post sends one call of ideal: without a signature or a log.
func (r *receiver) post(run string, step int) error {
	q, err := http.NewRequest(http.MethodPost, r.origin+"/step", bytes.NewReader(payload(run, step)))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Runtime-Run-Id", run)
	resp, err := client.Do(q)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}
