package budget

import (
	"time"

	"github.com/countersign/countersign"
)

// Log adds up what is sent of a capability, or by an agent, as the gate itself does.
// Times never go back.
type Log struct {
	sent    []sent
	windows map[string]*window // by Key
}

type sent struct {
	at    time.Time
	input map[string]countersign.Value
}

// window is what a budget counts: all that was sent from tail on.
type window struct {
	input  string
	tail   int
	sum    Decimal
	beyond int64
}

// Add counts what is sent at a time.
func (l *Log) Add(at time.Time, input map[string]countersign.Value) {
	l.sent = append(l.sent, sent{at, input})
	for _, t := range l.windows {
		t.count(input, 1)
	}
}

// Used is what is used of a budget at a time. declared: the capability that is judged
// declares the input that is added.
func (l *Log) Used(at time.Time, b countersign.Budget, declared bool) Used {
	t := l.windows[Key(b)]
	if t == nil {
		t = &window{input: b.Sum}
		for _, s := range l.sent {
			t.count(s.input, 1)
		}
		if l.windows == nil {
			l.windows = map[string]*window{}
		}
		l.windows[Key(b)] = t
	}
	for t.tail < len(l.sent) && !l.sent[t.tail].at.After(at.Add(-b.Duration())) {
		t.count(l.sent[t.tail].input, -1)
		t.tail++
	}
	return Used{Budget: b, Most: Most(b), Count: int64(len(l.sent) - t.tail), Sum: t.sum, Beyond: t.beyond, Declared: declared}
}

func (w *window) count(input map[string]countersign.Value, sign int64) {
	a := AmountOf(input[w.input])
	if sign > 0 {
		w.sum = w.sum.Add(a.Value)
	} else {
		w.sum = w.sum.Sub(a.Value)
	}
	if a.Beyond {
		w.beyond += sign
	}
}
