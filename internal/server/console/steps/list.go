package steps

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// PlanStep is a step with its errors.
type PlanStep struct {
	countersign.Step
	Number   int
	by       gate.Edition            // which judges it
	Contract *countersign.Capability // from the plan's snapshot; nil if unknown
	Asks     string
	Inputs   []planInput
	Long     int64 // size of the literal inputs if they are left out
	Whole    bool  // inputs are shown in full
	Wants    string
	Errors   []string
	Page     string // the plan's address

	Gate gate.Verdict // of a step with a known capability
}

// planInput is an input of a step: a literal, or what it is bound to.
type planInput struct {
	Name, Value string
	Bound       bool
}

// shortInput is how many bytes of literal inputs the list shows.
const shortInput = 400

// OfPlan are the steps with their errors; general errors belong to no step. whole
// names the step whose inputs are shown in full.
func OfPlan(m *cost.Meter, p countersign.Plan, whole string) (steps []PlanStep, general []string) {
	for i, s := range p.Steps {
		step := PlanStep{Step: s, Number: i + 1, by: gate.OfPlan(&p), Contract: text.CapabilityOf(&p, s.ProjectID, s.Capability), Whole: s.ID == whole, Page: web.Prefix + PlanHref(p.ID)}
		step.judge(m)
		step.Asks, step.Wants = step.gateWords(), text.Wants(countersign.Expectations(step.Contract, &s))
		step.inputs()
		steps = append(steps, step)
	}
	for _, text := range p.ValidationErrors {
		if i, rest := stepAt(text); i >= 0 && i < len(steps) {
			steps[i].Errors = append(steps[i].Errors, rest)
		} else {
			general = append(general, text)
		}
	}
	return steps, general
}

// stepAt splits `steps[2].input.amount: …` into 2 and the rest; -1 if the error belongs
// to no step.
func stepAt(text string) (index int, rest string) {
	after, ok := strings.CutPrefix(text, "steps[")
	number, rest, found := strings.Cut(after, "]")
	i, err := strconv.Atoi(number)
	if !ok || !found || err != nil || i < 0 {
		return -1, text
	}
	return i, strings.TrimPrefix(strings.TrimPrefix(rest, "."), ": ")
}

// inputs lists literals before bindings, each sorted by name.
func (s *PlanStep) inputs() {
	var size int64
	for _, name := range slices.Sorted(maps.Keys(s.Input)) {
		text := text.Inline(s.Input[name])
		size += int64(len(text))
		s.Inputs = append(s.Inputs, planInput{Name: name, Value: text})
	}
	if size > shortInput && !s.Whole {
		s.Inputs, s.Long = nil, size
	}
	for _, name := range slices.Sorted(maps.Keys(s.InputBindings)) {
		b := s.InputBindings[name]
		s.Inputs = append(s.Inputs, planInput{Name: name, Value: b.StepID + "." + b.Field, Bound: true})
	}
}

// Title is the step's name, else its ID.
func (s PlanStep) Title() string { return cmp.Or(s.Name, s.ID) }

// Calls is the method and path, "" if unknown.
func (s PlanStep) Calls() string {
	if s.Contract == nil {
		return ""
	}
	return s.Contract.Method + " " + s.Contract.Path
}

// judge asks the gate about a step with a known capability. What takes more than the page's
// meter has steps for counts as asking.
func (s *PlanStep) judge(m *cost.Meter) {
	if s.Contract == nil {
		return
	}
	s.Gate = gate.Judge(m, s.by, s.Contract, s.Input, s.InputBindings)
	if m.Over() {
		s.Gate = gate.Verdict{Then: countersign.RuleAsk, Approvals: 1, Rules: []int{0}, Reasons: []string{"its rules take too long to be asked for this page"}}
	}
}

// gateWords say what the gate says of a step that isn't sent yet.
func (s *PlanStep) gateWords() string {
	if s.Contract == nil || len(s.Contract.ApprovalRules) == 0 {
		return text.AskingWords(s.Contract)
	}
	switch v := s.Gate; {
	case v.Then == countersign.RuleDeny:
		return "a rule denies it: " + strings.Join(v.Reasons, "; ")
	case v.Asks() && len(v.Rules) > 0:
		return "asks for approval (" + strings.Join(v.Reasons, "; ") + ")"
	case v.Asks():
		return "asks for approval"
	}
	return "is sent without approval, by its rules"
}

// FixedInputs are those that an agent's manifest sets.
func FixedInputs(fixed map[string]countersign.Value) (out []TeamInput) {
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		out = append(out, TeamInput{Name: name, Value: text.Inline(fixed[name]), From: "fixed by the manifest"})
	}
	return out
}

// TeamInput is an input of a step and its source.
type TeamInput struct{ Name, Value, From string }

// PlanHref is the address of a plan.
func PlanHref(id string) string { return "/plans/" + id }
