// Package cost counts what judging takes, so that one bound holds for all that a request
// asks to be judged together, whatever it is made of: bounds of single parts multiply.
//
// A step is about what a processor does in some 20 ns: an instruction of a pattern's program
// over one character, a byte that is read to walk a path or to compare numbers or texts, a
// comparison. So judging never takes longer than about half a second of one processor, and
// what may be judged while others wait for a store not longer than some milliseconds.
package cost

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
)

const (
	// Most is how many steps a request may ask for.
	Most = 20_000_000
	// InTurn is how many are taken where others wait: in a store's turn or read, and before
	// the turns that tenants take at what needs more.
	InTurn = 100_000
	// Little is how many a piece of work takes at most which doesn't wait for those that take
	// more: some 100 ms, also with what costs more than 20 ns a step.
	Little = 2_000_000
	// Slice is about how many are taken before others have their turn.
	Slice = 250_000
)

// Meter counts the steps of one piece of work up to a bound. A nil one counts nothing, for
// what runs on the caller's own machine.
type Meter struct {
	ctx   context.Context
	most  int64
	spent int64
	at    string // the path of what is being judged
	err   error

	memory Memory
	pause  func() error // nil: nobody waits for pauses
	paused int64        // what was spent at the last pause
}

// Memory keeps what is expensive to make from a text, and follows from it alone, such as a
// compiled pattern. It is bounded by weight, and safe for concurrent use.
type Memory interface {
	Get(text string) (any, bool)
	PutWeighed(text string, made any, weight int)
}

// With gives the meter a memory.
func (m *Meter) With(k Memory) *Meter {
	m.memory = k
	return m
}

// Pausing has Take call pause from time to time, and end the work with its error.
func (m *Meter) Pausing(pause func() error) *Meter {
	m.pause, m.paused = pause, m.spent
	return m
}

// Recall finds what was made from a text.
func (m *Meter) Recall(text string) (any, bool) {
	if m == nil || m.memory == nil {
		return nil, false
	}
	return m.memory.Get(text)
}

// Keep remembers what was made from a text.
func (m *Meter) Keep(text string, made any, weight int) {
	if m != nil && m.memory != nil {
		m.memory.PutWeighed(text, made, weight)
	}
}

// New makes a meter of work that ends with ctx. Most is counted with before, what was taken
// for the same request elsewhere.
func New(ctx context.Context, most, before int64) *Meter {
	return &Meter{ctx: ctx, most: most, spent: before}
}

// At says where what is judged from now on stands: a path ahead of those that Take names.
func (m *Meter) At(path string) {
	if m != nil {
		m.at = path
	}
}

// Take counts steps before they are taken. It returns false when they may not be: there are
// too many, or nobody waits for the result any more. Then they all may not, and whatever is
// judged without them is no result. what names them in the refusal.
func (m *Meter) Take(steps int, what string) bool {
	if m == nil {
		return true
	}
	if m.err != nil {
		return false
	}
	if m.ctx != nil {
		if m.err = m.ctx.Err(); m.err != nil {
			return false
		}
	}
	if m.spent += int64(steps); m.spent <= m.most {
		return m.paces()
	}
	where := what
	switch {
	case m.at != "" && what != "":
		where = m.at + "." + what
	case m.at != "":
		where = m.at
	}
	m.err = &ExceededError{Where: where, Most: m.most}
	return false
}

// paces pauses once a slice is spent. It returns false if the work ends with that.
func (m *Meter) paces() bool {
	if m.pause == nil || m.spent-m.paused < Slice {
		return true
	}
	m.paused = m.spent
	m.err = m.pause()
	return m.err == nil
}

// Over reports that Take has returned false.
func (m *Meter) Over() bool { return m != nil && m.err != nil }

// Err is why Take has returned false: the refusal of the request, or its context's error.
func (m *Meter) Err() error {
	if m == nil || m.err == nil {
		return nil
	}
	var e *ExceededError
	if errors.As(m.err, &e) {
		return countersign.Errorf(countersign.CodeInvalidRequest, "%s", e.Error())
	}
	return m.err
}

// Spent is how many steps were counted.
func (m *Meter) Spent() int64 {
	if m == nil {
		return 0
	}
	return m.spent
}

// ExceededError says where the steps of a piece of work came to an end.
type ExceededError struct {
	Where string
	Most  int64
}

func (e *ExceededError) Error() string {
	return e.Where + ": judging what was sent takes more than 20 million steps with this (a pattern: its size once repetitions are written out, times the characters; a comparison: the digits or characters that it reads; a path: the value that it leads through); send shorter values, or simplify the patterns and rules that judge them"
}
