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

// delivery is one request as it arrived: a line of R.
type delivery struct {
	harness.Request
	at     time.Time
	forged error // what is wrong with its signature
	answer int   // the status that it gets, 0 for none that can be read
	// answering is set when the answer begins to be written. A caller that died
	// before has not seen a byte of it.
	answering bool
}

func (d *delivery) key() string   { return d.Header.Get("Idempotency-Key") }
func (d *delivery) runID() string { return d.Header.Get("X-Runtime-Run-Id") }
func (d *delivery) stepID() string {
	return d.Header.Get("X-Runtime-Step-Id")
}

// ofStep reports a request that a step sent: health checks and a reviewer's
// probes belong to no step.
func (d *delivery) ofStep() bool {
	return d.runID() != "health-check" && !strings.Contains(d.key(), ".probe-")
}

// sideEffect reports a request that changes something: none of the sample's
// capabilities says otherwise of its method.
func (d *delivery) sideEffect() bool { return d.Method != "GET" }

// shop is the receiver. It writes everything down before it thinks about an
// answer.
type shop struct {
	*harness.Receiver

	mu      sync.Mutex
	log     []*delivery
	manner  manner
	arrived func() // told of every delivery
}

// manner is how the shop answers, and what it waits for before; nil: nothing. It
// is asked for one delivery at a time.
type manner func(d *delivery) (a answer, wait func())

// answer is a reply and its status, 0 for one that says nothing for certain.
type answer struct {
	status int
	reply  harness.Reply
}

func answering(status int, body string) answer {
	return answer{status, harness.Answering(status, body)}
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{Receiver: harness.NewReceiver(t), manner: calm, arrived: func() {}}
	s.Otherwise(s.serve)
	return s
}

func (s *shop) behave(m manner, arrived func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manner, s.arrived = m, arrived
}

func (s *shop) serve(x *harness.Exchange) {
	d := &delivery{Request: x.Request, at: time.Now(), forged: harness.CheckSignature(x.Request, harness.Secret)}
	s.MayRepeat(d.key()) // how often is judged here, with the audit log in hand
	s.mu.Lock()
	s.log = append(s.log, d)
	a, wait := s.manner(d)
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

// unanswered lists what waits for its answer now, from a position on.
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

// calm answers everything well and at once.
func calm(d *delivery) (answer, func()) { return good(d), nil }

// holding answers well once the gate is open.
func holding(gate <-chan struct{}) manner {
	return func(d *delivery) (answer, func()) { return good(d), func() { <-gate } }
}

// once gives another answer to the first side effect at a path.
func once(path string, a answer) manner {
	given := false
	return func(d *delivery) (answer, func()) {
		if d.Path != path || d.Method == "GET" || given {
			return calm(d)
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

// moody answers mostly well and mostly soon: the rest leaves outcomes unknown,
// refuses, or breaks what was expected. It is drawn in the order of arrival.
func moody(r *rand.Rand) manner {
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
