package engine_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// answering says what becomes of a call. It takes its time on the bubble's clock
// and returns when ctx ends.
type answering func(ctx context.Context, c request.Call) request.Outcome

// receiver is the scripted Caller: what is sent to it, and what it answers.
type receiver struct {
	answer answering

	mu      sync.Mutex
	calls   []request.Call
	flying  int
	flown   int // most calls at a time
	aborted int // calls whose context ended first
}

func newReceiver(a answering) *receiver { return &receiver{answer: a} }

// Call implements engine.Caller.
func (r *receiver) Call(ctx context.Context, c request.Call) request.Outcome {
	r.mu.Lock()
	r.calls = append(r.calls, c)
	r.flying++
	r.flown = max(r.flown, r.flying)
	r.mu.Unlock()
	o := r.answer(ctx, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying--
	if ctx.Err() != nil {
		r.aborted++
	}
	return o
}

// keys are the idempotency keys received, in order.
func (r *receiver) keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []string
	for _, c := range r.calls {
		keys = append(keys, c.IdempotencyKey)
	}
	return keys
}

func (r *receiver) count(key string) int {
	n := 0
	for _, k := range r.keys() {
		if k == key {
			n++
		}
	}
	return n
}

// ok answers 200 with a body.
func ok(body string) request.Outcome {
	return request.Outcome{
		Certainty: request.Returned, Body: countersign.RawValue(body),
		Response: &countersign.Response{StatusCode: 200, Bytes: countersign.ByteCount(len(body)), BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))},
	}
}

const done = `{"state":"done","id":"o-1"}`

// at once answers every call with what is done.
func atOnce(context.Context, request.Call) request.Outcome { return ok(done) }

// after answers when the time has passed; a call that is ended before is Unknown.
func after(d time.Duration) answering {
	return func(ctx context.Context, _ request.Call) request.Outcome {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return ok(done)
		case <-ctx.Done():
			return request.Outcome{Certainty: request.Unknown, Cause: "the call was ended"}
		}
	}
}

// held answers nothing before it is released.
type held struct{ release chan struct{} }

func hold() held { return held{make(chan struct{})} }

func (h held) answer(ctx context.Context, c request.Call) request.Outcome {
	select {
	case <-h.release:
		return ok(done)
	case <-ctx.Done():
		return request.Outcome{Certainty: request.Unknown, Cause: "the call was ended"}
	}
}

// one lets one call go on.
func (h held) one() { h.release <- struct{}{} }

// all lets every call go on, now and later.
func (h held) all() { close(h.release) }

// only answers some steps with a and all others at once.
func only(a answering, steps ...string) answering {
	return func(ctx context.Context, c request.Call) request.Outcome {
		if slices.Contains(steps, c.StepID) {
			return a(ctx, c)
		}
		return atOnce(ctx, c)
	}
}
