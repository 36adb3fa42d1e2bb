package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// Starts under idempotency keys: a key belongs for ever to the first start under it that is not refused. A run holds a slot until it
// ends.

// keys is how many keys a history uses.
const keys = 8

// The possible states of a key's run.
const (
	unused = '-'
	active = 'a'
	over   = 'e'
)

// claim is the use of a key; run is "" until an answer has shown its id.
type claim struct {
	content string
	run     string
	at      rune
}

// startsState is the state: the keys, and whether the project is enabled.
type startsState struct {
	claims   [keys]claim
	disabled bool
}

func (s startsState) active() (n int) {
	for _, c := range s.claims {
		if c.at == active {
			n++
		}
	}
	return n
}

func (s startsState) shown() string {
	text := ""
	for _, c := range s.claims {
		text += string(c.at)
	}
	return text
}

// startsOp is an operation. A LIVE start needs the project enabled. The service itself ends a run.
type startsOp struct {
	what    string // start, end, look, disable, enable
	key     int
	content string
	live    bool
}

func (o startsOp) String() string { return fmt.Sprintf("%s %d %s", o.what, o.key, o.content) }

// startsAnswer is an answer. A new run is shown READY; a look shows the state of every run.
type startsAnswer struct {
	answer
	run      string
	replayed bool
	status   countersign.RunStatus
	shown    string
}

func (a startsAnswer) String() string {
	return fmt.Sprintf("%s %s %t %s %s", a.code, a.run, a.replayed, a.status, a.shown)
}

var startsSpec = spec[startsState, startsOp, startsAnswer]{
	start: startsState{claims: func() (c [keys]claim) {
		for i := range c {
			c[i].at = unused
		}
		return c
	}()},
	next: func(s startsState, in startsOp, given startsAnswer) (startsState, startsAnswer) {
		switch in.what {
		case "start":
			return startUnder(s, in, given)
		case "end":
			if s.claims[in.key].at != active {
				return s, startsAnswer{shown: "impossible"}
			}
			s.claims[in.key].at = over
		case "look":
			return s, startsAnswer{shown: s.shown()}
		default:
			s.disabled = in.what == "disable"
		}
		return s, startsAnswer{}
	},
}

func startUnder(s startsState, in startsOp, given startsAnswer) (startsState, startsAnswer) {
	refused := func(code countersign.Code) (startsState, startsAnswer) {
		return s, startsAnswer{answer: answer{code}}
	}
	c := &s.claims[in.key] // s is a copy
	switch {
	case c.at != unused && c.content != in.content:
		return refused(countersign.CodeIdempotencyConflict)
	case c.at != unused:
		if c.run == "" {
			c.run = given.run
		}
		return s, startsAnswer{run: c.run, replayed: true}
	case in.live && s.disabled:
		return refused(countersign.CodeProjectDisabled)
	case s.active() >= narrow:
		return refused(countersign.CodeCapacity)
	}
	*c = claim{in.content, given.run, active}
	return s, startsAnswer{run: given.run, status: countersign.RunReady}
}
