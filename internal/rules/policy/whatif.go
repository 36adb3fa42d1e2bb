package policy

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// Past is a run with its plan.
type Past struct {
	Run  *countersign.Run
	Plan *countersign.Plan
}

// Outcome is what became of a step that came to the gate, and what would.
type Outcome struct {
	Run  *countersign.Run
	Step *countersign.StepRun
	Was  string // countersign.RuleAllow, RuleAsk or RuleDeny
	Then string // likewise; "" if it would not come to the gate
}

// Play plays runs, the newest first, and judges with a meter: it takes as many of them as that
// allows.
func Play(m *cost.Meter, p Proposal, runs []Past) (played int, out []Outcome) {
	counts := NewCounts(p)
	for _, r := range runs {
		known := len(counts.steps)
		counts.Add(r.Run, r.Plan)
		for _, c := range counts.steps[known:] {
			c.judged = gate.Judge(m, c.by, &c.would, c.step.Input, nil).Then
			m.Take(budget.Read(c.step.Input)*(1+len(c.would.Budgets)), "budgets")
		}
		if m.Over() {
			counts.steps = counts.steps[:known]
			break
		}
		played++
	}
	play(p, counts.steps)
	for _, c := range counts.steps {
		out = append(out, Outcome{c.run, c.step, happened(c.step), c.then})
	}
	return played, out
}

// happened is what became of a step at the gate.
func happened(s *countersign.StepRun) string {
	switch {
	case denied(s):
		return countersign.RuleDeny
	case wasAsked(s):
		return countersign.RuleAsk
	}
	return countersign.RuleAllow
}

// Rejected reports a step that a person rejected.
func Rejected(s *countersign.StepRun) bool {
	return s.Error != nil && s.Error.Code == countersign.CodeApprovalRejected
}
