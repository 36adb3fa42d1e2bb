// Package faults runs real runs against a receiver with every fault of faultreceiver: the real engine, state machine and
// outbound client, down to the bytes on the wire. The expected outcome of each fault comes from the table of contract 6,
// by classes, and not from the product.
package faults

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// class is the meaning of an answer (contract 6).
type class int

const (
	answered  class = iota // a complete 2xx with a readable body or without one
	refused                // a 4xx other than 408
	uncertain              // everything else after which the request may have arrived
)

// classes of the faults that are not uncertain.
var classes = map[string]class{
	"one-interim": answered, "large-headers": answered, "trailing-garbage": answered, "second-answer": answered, "chunked": answered,
	"until-close-1.0-object": answered, "until-close-1.0-array": answered, "until-close-1.1-object": answered, "until-close-1.1-array": answered,
	"length-list": answered, "two-equal-lengths": answered, "white-space": answered, "byte-order-mark": answered, "byte-order-mark-only": answered, "not-compressed": answered,
	"connection-close": answered, "204": answered, "201": answered, "ok": answered, "empty": answered, "limit-body": answered, "cookie": answered,
	"400": refused, "404": refused, "409": refused, "429": refused, "404-cut": refused, "422-huge": refused, "400-not-json": refused, "413-early": refused,
}

// kind is a kind of step.
type kind struct {
	name, method string
	idempotent   bool
}

var kinds = []kind{{"read", "GET", false}, {"side effect", "POST", false}, {"idempotent side effect", "POST", true}}

// outcome is the expected result of a step and its run.
func outcome(c class, k kind) (countersign.StepStatus, countersign.RunStatus, countersign.Code) {
	switch {
	case c == answered:
		return countersign.StepCompleted, countersign.RunCompleted, ""
	case c == refused:
		return countersign.StepFailed, countersign.RunFailed, countersign.CodeReceiverRefused
	case k.method == "GET":
		return countersign.StepFailed, countersign.RunFailed, countersign.CodeOutcomeUnknown
	default:
		return countersign.StepRecoveryRequired, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown
	}
}

// TestEveryMisbehaviourEndsAsTheTableSays: {read, side effect, idempotent side effect} x {new, reused connection} x
// fault, with the exact number of deliveries by the receiver's own log.
func TestEveryMisbehaviourEndsAsTheTableSays(t *testing.T) {
	t.Parallel()
	n := 0
	for _, f := range faultreceiver.Faults() {
		for _, k := range kinds {
			for _, reused := range []bool{false, true} {
				if reused && f.Name == acceptClose {
					continue // the fault needs a new connection
				}
				n++
				t.Run(fmt.Sprintf("%s/%s/reused=%t", f.Name, k.name, reused), func(t *testing.T) {
					t.Parallel()
					check(t, f, k, reused)
				})
			}
		}
	}
	if n < 3*2*40 {
		t.Errorf("only %d cases", n)
	}
}

// turns bounds how many cases use the processor concurrently. Most others wait for an answer that doesn't come; any number
// of them may wait.
var turns = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func check(t *testing.T, f faultreceiver.Fault, k kind, reused bool) {
	turns <- struct{}{}
	end := sync.OnceFunc(func() { <-turns })
	defer end()
	h := open(t, k, f.Stalls)
	before := 0
	if reused {
		h.run(t, "warm")
		before = 1
	}
	h.receiver.Next(f)
	if f.Stalls {
		go h.whenDelivered(before+1, end)
	}
	r := h.run(t, "work")
	step, run, code := outcome(classOf(f.Name), k)
	s := r.Steps[0]
	if s.Status != step || r.Status != run {
		t.Errorf("step %s, run %s; want %s, %s (%s)", s.Status, r.Status, step, run, r.Error)
	}
	if s.Error != nil && s.Error.Code != code || s.Error == nil && code != "" {
		t.Errorf("the error is %+v; want code %q", s.Error, code)
	}
	if s.Attempt != 1 {
		t.Errorf("attempt %d", s.Attempt)
	}
	delivered := before + 1
	if f.Name == acceptClose {
		delivered = before // the receiver read nothing of it, but the sender can't know that
	}
	if got := h.delivered(t); got != delivered {
		t.Errorf("the receiver saw %d requests; want %d", got, delivered)
	}
}

// whenDelivered calls then when so many requests have reached the receiver. If they never do, the case fails.
func (f *fixture) whenDelivered(n int, then func()) {
	for len(f.receiver.Requests()) < n {
		select {
		case <-f.over:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	then()
}

func classOf(name string) class {
	if c, ok := classes[name]; ok {
		return c
	}
	return uncertain
}

// TestNothingIsSentAgainLater: a run that stopped at an uncertain side effect stays there.
func TestNothingIsSentAgainLater(t *testing.T) {
	t.Parallel()
	h := open(t, kinds[2], false)
	h.receiver.Next(faultreceiver.Named("reset-after-body"))
	r := h.run(t, "work")
	h.engineAgain(t)
	if after := h.read(t, r.ID); after.Status != countersign.RunRecoveryRequired || after.Revision != r.Revision {
		t.Errorf("after a restart: %s, revision %d", after.Status, after.Revision)
	}
	if got := h.delivered(t); got != 1 {
		t.Errorf("it was delivered %d times", got)
	}
	if r.WaitingFor == nil || r.WaitingFor.Kind != countersign.WaitReconcile {
		t.Errorf("it doesn't say what it waits for: %+v", r.WaitingFor)
	}
}

// TestARefusedConnectionIsNotSent: nothing was sent, so the outcome is not uncertain.
func TestARefusedConnectionIsNotSent(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		h := open(t, k, false)
		h.receiver.Refuse()
		if r := h.run(t, "work"); r.Status != countersign.RunFailed || r.Steps[0].Error.Code != countersign.CodeNotSent {
			t.Errorf("%s: %s %s", k.name, r.Status, r.Error)
		}
	}
}

const acceptClose = "accept-close"
