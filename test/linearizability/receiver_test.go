package linearizability

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// receiver is the shop's API: it records requests and answers at once or, on the held paths, when the test says so.
type receiver struct {
	mu       sync.Mutex
	arrivals map[string][]*delivery // by idempotency key
	news     chan struct{}          // closed at the next arrival
	isOpen   bool                   // requests are no longer held
}

// delivery is one received request.
type delivery struct {
	call     request.Call
	at       int64           // tick of its arrival
	answered int64           // tick at which it was answered, 0 before
	told     request.Outcome // the answer
	answer   chan request.Outcome
}

func newReceiver() *receiver {
	return &receiver{arrivals: map[string][]*delivery{}, news: make(chan struct{})}
}

// Call implements engine.Caller and control.Prober.
func (r *receiver) Call(ctx context.Context, c request.Call) request.Outcome {
	d := r.arrive(c)
	select {
	case o := <-d.answer:
		return o
	case <-ctx.Done():
		return request.Outcome{Certainty: request.Unknown, Cause: "the call was ended"}
	}
}

func (r *receiver) arrive(c request.Call) *delivery {
	d := &delivery{call: c, answer: make(chan request.Outcome, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	d.at = tick()
	r.arrivals[c.IdempotencyKey] = append(r.arrivals[c.IdempotencyKey], d)
	close(r.news)
	r.news = make(chan struct{})
	if r.isOpen || !isHeld(c) {
		d.release(good())
	}
	return d
}

func isHeld(c request.Call) bool {
	u, err := url.Parse(c.Request.URL)
	return err == nil && strings.HasPrefix(u.Path, heldPath)
}

// Health implements control.Prober.
func (r *receiver) Health(_ context.Context, _ string, _ map[string]string, p *countersign.Project) countersign.HealthCheck {
	return countersign.HealthCheck{ProjectID: p.ID, Revision: p.Revision, Healthy: true, StatusCode: 200, CheckedAt: time.Now()}
}

// release answers a delivery, once.
func (d *delivery) release(o request.Outcome) bool {
	if d.answered != 0 {
		return false
	}
	d.answered, d.told = tick(), o
	d.answer <- o
	return true
}

// release answers the n-th delivery of a key; it returns false if there is none or it has been answered.
func (r *receiver) release(key string, n int, o request.Outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.arrivals[key]
	return n > 0 && n <= len(list) && list[n-1].release(o)
}

// open answers everything, now and in the future.
func (r *receiver) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isOpen = true
	for _, list := range r.arrivals {
		for _, d := range list {
			d.release(good())
		}
	}
}

// deliveries are copies of those of a key, in order.
func (r *receiver) deliveries(key string) (list []delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.arrivals[key] {
		list = append(list, *d)
	}
	return list
}

// await waits until a key has arrived n times.
func (r *receiver) await(key string, n int) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		r.mu.Lock()
		arrived, news := len(r.arrivals[key]), r.news
		r.mu.Unlock()
		if arrived >= n {
			return nil
		}
		select {
		case <-news:
		case <-late.C:
			return fmt.Errorf("key %s arrived %d times, want %d", key, arrived, n)
		}
	}
}

// good is the answer of a receiver that did what was requested.
func good() request.Outcome {
	const body = `{"state":"done"}`
	return request.Outcome{
		Certainty: request.Returned, Body: countersign.RawValue(body),
		Response: &countersign.Response{StatusCode: 200, Bytes: countersign.ByteCount(len(body)), BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))},
	}
}

// lost is the outcome of a call without an answer.
func lost() request.Outcome {
	return request.Outcome{Certainty: request.Unknown, Cause: "no answer came"}
}

// pending are the keys whose last delivery has no answer yet.
func (r *receiver) pending() (keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, list := range r.arrivals {
		if list[len(list)-1].answered == 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// finish waits until a key has arrived n times, and answers all its deliveries.
func (r *receiver) finish(key string, n int) error {
	if err := r.await(key, n); err != nil {
		return err
	}
	for i := range r.deliveries(key) {
		r.release(key, i+1, good())
	}
	return nil
}

// all is how many requests have arrived.
func (r *receiver) all() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range r.arrivals {
		n += len(list)
	}
	return n
}
