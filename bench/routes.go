package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// routes has what was measured of each route, in parts of equal length. A request belongs to the
// part in which it was due.
type routes struct {
	begin time.Time
	part  time.Duration
	parts int

	mu     sync.Mutex
	all    map[string]*routeFigures
	order  []string // names, in the order in which they were first used
	wrong  []error  // answers that must not be: the first few
	wrongs int
}

type routeFigures struct {
	parts []histogram
	codes map[string]int64
}

func newRoutes(begin time.Time, length time.Duration, parts int) *routes {
	return &routes{begin: begin, part: length / time.Duration(parts), parts: parts, all: map[string]*routeFigures{}}
}

// partAt is the part that a time is in; false before the first and after the last.
func (r *routes) partAt(at time.Time) (int, bool) {
	n := int(at.Sub(r.begin) / r.part)
	return n, !at.Before(r.begin) && n < r.parts
}

// took notes how long something took that was due at a time.
func (r *routes) took(name string, due time.Time, d time.Duration) {
	n, in := r.partAt(due)
	if !in {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).parts[n].add(d)
}

// of is called with the lock held.
func (r *routes) of(name string) *routeFigures {
	f := r.all[name]
	if f == nil {
		f = &routeFigures{parts: make([]histogram, r.parts), codes: map[string]int64{}}
		r.all[name], r.order = f, append(r.order, name)
	}
	return f
}

// answered counts an answer by its status, or what came instead. Any but those expected, and
// those that a service under load may give, are wrong. Where a run is read that may be archived
// meanwhile, 404 is expected: the check at the end finds each run that is missing.
func (r *routes) answered(name string, status int, err error, expected ...int) {
	code := strconv.Itoa(status)
	wrong := status < 200 || status >= 300
	for _, other := range append(expected, http.StatusServiceUnavailable, http.StatusTooManyRequests) {
		wrong = wrong && status != other
	}
	if err != nil {
		code, wrong = "no answer", true
		if errors.Is(err, context.DeadlineExceeded) {
			code, wrong = "timeout", false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).codes[code]++
	if wrong {
		r.isWrong(errors.Join(errors.New(name+": "+code), err))
	}
}

// end is when the last part is over.
func (r *routes) end() time.Time { return r.begin.Add(time.Duration(r.parts) * r.part) }

// gaveUp counts a request that was refused until its sender gave up.
func (r *routes) gaveUp(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).codes["gave up"]++
}

const wrongShown = 10

// isWrong is called with the lock held.
func (r *routes) isWrong(err error) {
	if r.wrongs++; len(r.wrong) < wrongShown {
		r.wrong = append(r.wrong, err)
	}
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// patience is how long a client waits for an answer.
const patience = 30 * time.Second

// ask sends a request and measures it from the time at which it was due to the end of the answer.
func (r *routes) ask(name string, due time.Time, q *http.Request, expected ...int) (a answer, err error) {
	ctx, cancel := context.WithTimeout(q.Context(), patience)
	defer cancel()
	resp, err := client.Transport.RoundTrip(q.WithContext(ctx)) // no redirect is followed
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = io.ReadAll(resp.Body)
		err = errors.Join(err, resp.Body.Close())
	}
	r.took(name, due, time.Since(due))
	r.answered(name, a.status, err, expected...)
	return a, err
}
