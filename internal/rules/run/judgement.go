package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/request"
)

// Judgement is what the plan and the outputs of earlier steps say of a step: its request, and
// what the rules say of that. It needs nothing of the moment, so it is made outside of the
// transaction that begins the step, unless it costs next to nothing.
type Judgement struct {
	plan    *countersign.Plan
	outputs map[string]plan.Output // those that were bound

	input    map[string]countersign.Value // nil: it can't be bound
	request  *countersign.Request
	complete bool // nothing is bound: the request is exactly what would be sent
	digest   string
	verdict  gate.Verdict
	title    string
	calls    []string // what the call is found by
	look     *sight   // the read of its precondition, nil for none
	failure  string   // why the step is not sent, "" if nothing speaks against it
}

// of reports a judgement of a step of this plan with these outputs.
func (j *Judgement) of(p *countersign.Plan, s *countersign.Step, outputs map[string]plan.Output) bool {
	return j != nil && j.plan.ID == p.ID && j.plan.PlanDigest == p.PlanDigest && maps.EqualFunc(j.outputs, boundOutputs(s, outputs), func(a, b plan.Output) bool {
		return a.OutputField == b.OutputField && a.Value.Raw() == b.Value.Raw()
	})
}

func boundOutputs(s *countersign.Step, outputs map[string]plan.Output) map[string]plan.Output {
	bound := map[string]plan.Output{}
	for _, b := range s.InputBindings {
		if out, ok := outputs[b.StepID]; ok {
			bound[b.StepID] = out
		}
	}
	return bound
}

// UnjudgedError is the error of an event that comes to steps which cost too much to be judged in
// a transaction. Judge makes what env.Judged then gives.
type UnjudgedError struct {
	plan    *countersign.Plan
	run     *countersign.Run
	steps   []int
	outputs map[string]plan.Output
	taken   []int64
}

func (u *UnjudgedError) Error() string {
	return "run " + u.run.ID + ": the step " + u.run.Steps[u.steps[0]].ID + " has to be judged outside of this transaction"
}

// Judge judges the steps, each with the steps that the start of its run took for the others.
func (u *UnjudgedError) Judge(meter func(before int64) *cost.Meter) (map[int]*Judgement, error) {
	all := map[int]*Judgement{}
	for _, i := range u.steps {
		m := meter(besides(u.taken, i))
		j := judge(m, u.plan, i, u.outputs, u.run.Mode != countersign.ModeLive)
		if m.Over() {
			if err := m.Err(); countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
				return nil, err // whoever wanted it has gone
			}
			j.failure = m.Err().(*countersign.Error).Message
		}
		all[i] = j
	}
	return all, nil
}

// besides is what the start of a run took for its steps but one.
func besides(taken []int64, step int) (sum int64) {
	for i, n := range taken {
		if i != step {
			sum += n
		}
	}
	return sum
}

// Estimate is what is known of a run's steps when it starts, as far as their inputs are.
type Estimate struct {
	Taken []int64 // what judging each of them takes, by its index
	Asks  bool    // one of them needs an approval
	Acts  bool    // one of them has a side effect

	Calls []string // what the calls are found by whose inputs are known
}

// Taken estimates a run of a plan, whose inputs are known to fit; counted says that the meter
// has counted already what finding that out took.
func Taken(m *cost.Meter, p *countersign.Plan, counted bool) Estimate {
	e := Estimate{Taken: make([]int64, len(p.Steps))}
	for i := range p.Steps {
		s := &p.Steps[i]
		_, c := targetOf(p, s.ProjectID, s.Capability)
		if c == nil {
			continue
		}
		before := m.Spent()
		m.At(fmt.Sprintf("steps[%d]", i))
		inputs := request.InputSteps(m, c, s.Input)
		if counted {
			e.Taken[i] = int64(inputs)
		} else if !m.Take(inputs, "input") {
			break
		}
		e.Asks = e.Asks || gate.Judge(m, gate.OfPlan(p), c, s.Input, s.InputBindings).Asks() || budget.MayAsk(c.Budgets)
		if p.Mode == countersign.ModeLive && !m.Take(budgeted(s, c, s.Input), "input") {
			break
		}
		title := request.TitleOf(m, c, s.Input)
		e.Taken[i] += m.Spent() - before
		e.Acts = e.Acts || c.HasSideEffect()
		if p.Mode == countersign.ModeLive && len(s.InputBindings) == 0 {
			found, _ := repeat.Digests(s.ProjectID, s.Capability, s.Input, title) // inputs can always be written
			e.Calls = append(e.Calls, found...)
		}
	}
	return e
}

// budgeted is what reading the inputs for budgets takes, where a step may have any.
func budgeted(s *countersign.Step, c *countersign.Capability, input map[string]countersign.Value) int {
	if len(c.Budgets) == 0 && s.AgentID == "" {
		return 0
	}
	return budget.Read(input)
}

// judge judges a step: in a rehearsal with its bindings open, else with the outputs that they
// name. It is no judgement once the meter has come to its end.
func judge(m *cost.Meter, p *countersign.Plan, i int, outputs map[string]plan.Output, rehearsed bool) *Judgement {
	s := &p.Steps[i]
	m.At(fmt.Sprintf("steps[%d]", i))
	j := &Judgement{plan: p}
	var open map[string]countersign.Binding
	if rehearsed {
		j.input, open = s.Input, s.InputBindings
	} else {
		j.outputs = boundOutputs(s, outputs)
		if !m.Take(walked(s, j.outputs), "inputBindings") {
			return j
		}
		bound, err := plan.Bind(s, outputs)
		if err != nil {
			j.failure = err.Error()
			return j
		}
		j.input = bound
	}
	project, capability := targetOf(p, s.ProjectID, s.Capability)
	if capability == nil {
		j.failure = "the plan's project has no such capability"
		return j
	}
	req, complete, err := request.Preview(m, project, capability, j.input, open)
	if err != nil || m.Over() {
		if err != nil {
			j.failure = err.Error()
		}
		return j
	}
	j.request, j.complete = &req, complete
	if complete {
		j.digest = request.Digest(req, project.ID, project.Revision, capability.Name)
	}
	j.look = sightOf(m, project, capability, j.input, open)
	j.verdict = gate.Judge(m, gate.OfPlan(p), capability, j.input, open)
	if !rehearsed && m.Take(budgeted(s, capability, j.input), "input") {
		j.title = request.TitleOf(m, capability, j.input)
	}
	if !rehearsed {
		if j.calls, err = repeat.Digests(s.ProjectID, s.Capability, j.input, j.title); err != nil {
			j.failure = err.Error()
		}
	}
	return j
}

// walked is what finding bound values takes: the outputs are read, each for each binding.
func walked(s *countersign.Step, outputs map[string]plan.Output) (steps int) {
	for _, b := range s.InputBindings {
		steps += 1 + len(outputs[b.StepID].Value.Raw())
	}
	return steps
}

// judged is the judgement of a step that is about to begin: one that was made before, or one
// that costs next to nothing. It is nil where neither is: the transition then ends.
func (t *transition) judged(i int) *Judgement {
	s := t.planned(i)
	var outputs map[string]plan.Output
	rehearsed := t.run.Mode != countersign.ModeLive
	if !rehearsed && len(s.InputBindings) > 0 {
		outputs = t.verifiedOutputs()
	}
	if j := t.env.Judged[i]; j.of(t.env.Plan, s, outputs) {
		return j
	}
	if t.meter = t.env.Meter; t.meter == nil {
		t.meter = cost.New(nil, cost.InTurn, 0)
		t.env.Meter = t.meter
	}
	before := t.meter.Spent()
	j := judge(t.meter, t.env.Plan, i, outputs, rehearsed)
	if t.meter.Over() || besides(t.env.Taken, i)+t.meter.Spent()-before > cost.Most {
		t.unjudged = &UnjudgedError{plan: t.env.Plan, run: t.before, steps: t.unjudgedFrom(i, rehearsed), outputs: outputs, taken: t.env.Taken}
		return nil
	}
	return j
}

// unjudgedFrom are the steps that are judged together: a rehearsal plays all of them at once.
func (t *transition) unjudgedFrom(i int, rehearsed bool) []int {
	if !rehearsed {
		return []int{i}
	}
	var steps []int
	for n := range t.run.Steps {
		if t.run.Steps[n].Status == countersign.StepPending {
			steps = append(steps, n)
		}
	}
	if !slices.Contains(steps, i) {
		steps = append(steps, i)
	}
	return steps
}
