package crash

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// delivery is one received request: a line of R.
type delivery struct {
	harness.Request
	at     time.Time
	forged error // what is wrong with its signature
	answer int   // the status of the answer, 0 for no readable answer
	// answering is set when the answer begins to be written. A caller that died before has received nothing of it.
	answering bool
}

func (d *delivery) key() string   { return d.Header.Get("Idempotency-Key") }
func (d *delivery) runID() string { return d.Header.Get("X-Runtime-Run-Id") }
func (d *delivery) stepID() string {
	return d.Header.Get("X-Runtime-Step-Id")
}

// ofStep reports whether a step sent the request; health checks and probes belong to no step.
func (d *delivery) ofStep() bool {
	return d.runID() != "health-check" && !strings.Contains(d.key(), ".probe-")
}

// sideEffect reports whether the request changes something. In the sample the method decides that.
func (d *delivery) sideEffect() bool { return d.Method != "GET" }

// shop is the receiver. It records each request before it decides about the answer.
type shop struct {
	*harness.Receiver

	mu      sync.Mutex
	log     []*delivery
	policy  policy
	arrived func() // called for every delivery
}

// policy decides the shop's answer, and what it waits for before; nil means no waiting. It is called for one delivery at
// a time.
type policy func(d *delivery) (a answer, wait func())

// answer is a reply and its status, 0 for a reply that leaves the outcome unknown.
type answer struct {
	status int
	reply  harness.Reply
}

func answering(status int, body string) answer {
	return answer{status, harness.Answering(status, body)}
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{Receiver: harness.NewReceiver(t), policy: alwaysGood, arrived: func() {}}
	s.Otherwise(s.serve)
	return s
}

func (s *shop) behave(m policy, arrived func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy, s.arrived = m, arrived
}

func (s *shop) serve(x *harness.Exchange) {
	d := &delivery{Request: x.Request, at: time.Now(), forged: harness.CheckSignature(x.Request, harness.Secret)}
	s.MayRepeat(d.key()) // checkKey checks the number of deliveries, by the audit log
	s.mu.Lock()
	s.log = append(s.log, d)
	a, wait := s.policy(d)
	d.answer = a.status
	arrived := s.arrived
	s.mu.Unlock()
	arrived()
	if wait != nil {
		wait()
	}
	s.mu.Lock()
	d.answering = true
	s.mu.Unlock()
	a.reply(x)
}

// deliveries is R from a position on.
func (s *shop) deliveries(from int) []*delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log[from:])
}

// unanswered lists the deliveries, from a position on, that wait for their answer now.
func (s *shop) unanswered(from int) (list []*delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.log[from:] {
		if !d.answering && d.ofStep() {
			list = append(list, d)
		}
	}
	return list
}

// alwaysGood answers everything with success and at once.
func alwaysGood(d *delivery) (answer, func()) { return good(d), nil }

// holding answers with success once the gate is open.
func holding(gate <-chan struct{}) policy {
	return func(d *delivery) (answer, func()) { return good(d), func() { <-gate } }
}

// once gives another answer to the first side effect at a path.
func once(path string, a answer) policy {
	given := false
	return func(d *delivery) (answer, func()) {
		if d.Path != path || d.Method == "GET" || given {
			return alwaysGood(d)
		}
		given = true
		return a, nil
	}
}

func good(d *delivery) answer {
	switch {
	case strings.HasPrefix(d.Path, "/orders/"):
		return answering(200, `{"total":12.50,"state":"returned"}`)
	case d.Path == "/refunds":
		return answering(200, `{"status":"refunded","id":"r-1"}`)
	case d.Path == "/count":
		return answering(200, `{"result":{"n":1}}`)
	default:
		return answering(200, `{"ok":true,"id":"x-1"}`)
	}
}

// randomAnswers answers mostly with success and soon; other answers leave the outcome unknown, refuse, or don't meet the
// expectation. The answers are drawn in the order of arrival.
func randomAnswers(r *rand.Rand) policy {
	return func(d *delivery) (answer, func()) {
		work := time.Duration(r.IntN(16)) * time.Millisecond
		if r.IntN(16) == 0 {
			work = 60 * time.Millisecond
		}
		return mood(r.IntN(40), d), func() { time.Sleep(work) }
	}
}

func mood(draw int, d *delivery) answer {
	switch draw {
	case 0, 1:
		return answering(500, `{}`)
	case 2:
		return answer{0, harness.HangingUp()}
	case 3:
		return answer{0, harness.Cutting("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")}
	case 4:
		return answering(409, `{}`)
	case 5:
		return answering(200, `{"status":"later","ok":false,"result":null}`)
	default:
		return good(d)
	}
}
