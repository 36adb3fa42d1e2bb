package evaluator

import (
	"fmt"
	"slices"
)

// Evaluator predicts one sequence in one world.
type Evaluator struct {
	world   World
	negated string // the sentence that is negated; "" none

	runs    []*run
	names   map[string]*run // by the name of a start, also of one that found an earlier run
	keys    map[string]used // the idempotency keys of the API's starts
	answer  string          // how the receiver answers
	state   string          // what the read of the state answers: JSON, or the status of a refusal
	seen    int             // how many requests it has had
	stopped bool
	held    []*run // by the stop, the one that has waited longest first
	ended   int    // how many runs have ended
}

// used is what an idempotency key was used for.
type used struct {
	content string
	run     *run
}

// New begins a sequence. With the name of a sentence it goes by its negation.
func New(w World, negated string) *Evaluator {
	return &Evaluator{world: w, negated: negated, names: map[string]*run{}, keys: map[string]used{}, answer: "ok", state: States[0]}
}

// Sentences are the names of the rules that can be negated.
func Sentences() (names []string) {
	for name := range sentences {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (e *Evaluator) follows(sentence string) bool {
	if _, ok := sentences[sentence]; !ok {
		panic("no sentence is named " + sentence)
	}
	return sentence != e.negated
}

// Do predicts what an operation answers and what then is so; nil if it is about a run that isn't there.
func (e *Evaluator) Do(op Operation) Expected {
	switch op.Kind {
	case "start":
		return e.start(op)
	case "receiver":
		e.answer = op.Answer
		return Expected{}
	case "state":
		e.state = op.Answer
		return Expected{}
	case "stop", "go":
		return e.stopOrGo(op.Kind == "stop")
	case "budgets":
		return e.budgets()
	}
	r := e.names[op.Run]
	if r == nil {
		return nil
	}
	switch op.Kind {
	case "decide":
		return e.decide(r, op)
	case "reconcile":
		return e.reconcile(r, op)
	case "cancel":
		return e.cancel(r)
	case "status":
		return e.shown(r, Expected{"status": "200"})
	}
	panic("no operation is named " + op.Kind)
}

func refused(status int, code string) Expected {
	return Expected{"status": fmt.Sprint(status), "error": code}
}

// stopOrGo: "while stopped no LIVE step begins; runs wait with waitingFor.kind stop" (11).
func (e *Evaluator) stopOrGo(stop bool) Expected {
	e.stopped = stop
	out := Expected{"status": "200"}
	if !stop {
		held := e.held
		e.held = nil
		for _, r := range held {
			if r.status == "HELD" {
				e.begin(r)
				e.shown(r, out)
			}
		}
	}
	out["requests"] = fmt.Sprint(e.seen)
	return out
}

// budgets is what GET /budgets says of each.
func (e *Evaluator) budgets() Expected {
	out := Expected{"status": "200"}
	for i := range e.world.Capabilities {
		c := &e.world.Capabilities[i]
		for n, b := range c.Budgets {
			name := fmt.Sprintf("used %s %d", c.Name, n)
			uses := e.uses(nil, func(r *run) bool { return r.capability == c })
			out[name] = fmt.Sprint(len(uses))
			if b.Sum != "" {
				out[name] = sum(uses, b.Sum).RatString()
			}
		}
	}
	return out
}
