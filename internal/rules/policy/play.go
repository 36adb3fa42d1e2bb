package policy

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/verdict"
)

// came is a step that came to the gate.
type came struct {
	run    *countersign.Run
	step   *countersign.StepRun
	was    countersign.Capability
	would  countersign.Capability
	by     gate.Edition // which judges what it would be
	at     time.Time    // when it was judged
	sent   time.Time    // when it was sent, or would have been if no budget had denied it; zero: never
	judged string       // by the rules alone, "" if nobody has judged it yet
	then   string       // what would be said of it, "" if it would not come to the gate
}

// event is a step at the gate: for the first time, or with its approval.
type event struct {
	at       time.Time
	of       *came
	approved bool
}

// play judges all steps in the order of their times. What would be let out counts in the
// budgets from that time on, what would be asked for from when it was sent: a person decides
// as one did, and approves what nobody was asked for. A run ends with a step that is denied.
func play(p Proposal, all []*came) {
	var events []event
	for _, c := range slices.Backward(all) { // the oldest run first where times are equal
		events = append(events, event{c.at, c, false})
		if wasAsked(c.step) && c.sent.After(c.at) {
			events = append(events, event{c.sent, c, true})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	l, ended := logs{}, map[string]bool{}
	for _, e := range events {
		if ended[e.of.run.ID] || e.approved && e.of.then != countersign.RuleAsk {
			continue
		}
		if then := l.judge(p, e); then == countersign.RuleDeny || !e.approved {
			e.of.then = then
		}
		switch {
		case e.of.then == countersign.RuleDeny:
			ended[e.of.run.ID] = true
		case e.of.then == countersign.RuleAllow || e.approved || e.of.assumed():
			l.each(p, e.of, func(log *budget.Log, _ []countersign.Budget) { log.Add(e.at, e.of.step.Input) })
		}
	}
}

// assumed reports a step that would be asked for and approved at once: nobody was asked for
// it.
func (c *came) assumed() bool { return !wasAsked(c.step) || c.sent.Equal(c.at) }

// wasAsked reports a step that an approval was asked for, also if a budget denied it when it
// was approved.
func wasAsked(s *countersign.StepRun) bool { return s.ApprovalRequired || s.ApprovalID != "" }

// logs are what was sent of each capability and by each agent that has budgets.
type logs map[string]*budget.Log

// each calls f with the budgets that a step is judged by, and what was used of them.
func (l logs) each(p Proposal, c *came, f func(*budget.Log, []countersign.Budget)) {
	of := func(name string, budgets []countersign.Budget) {
		if len(budgets) == 0 {
			return
		}
		if l[name] == nil {
			l[name] = &budget.Log{}
		}
		f(l[name], budgets)
	}
	of(Name(c.step.ProjectID, c.step.Capability), c.would.Budgets)
	of(c.step.AgentID, p.Agents[c.step.AgentID])
}

// judge is what the gate would say: the rules and the budgets together.
func (l logs) judge(p Proposal, e event) string {
	if e.of.judged == "" {
		e.of.judged = gate.Judge(nil, e.of.by, &e.of.would, e.of.step.Input, nil).Then
	}
	all := []verdict.Verdict{{Then: e.of.judged}}
	l.each(p, e.of, func(log *budget.Log, budgets []countersign.Budget) {
		var used []budget.Used
		for _, b := range budgets {
			used = append(used, log.Used(e.at, b, b.Sum != "" && e.of.would.InputSchema[b.Sum].IsNumber()))
		}
		all = append(all, budget.Judge(used, e.of.step.Input)...)
	})
	return verdict.Severest(all...).Then
}

// timesOf says when a step was judged first, and when it was or would have been sent. What
// was sent or denied without asking was judged in that commit; what follows another step,
// when that ended. Of a step that was sent again, only the first intent counts.
func timesOf(r *countersign.Run, s *countersign.StepRun) (at, sent time.Time) {
	switch {
	case s.Attempt == 1:
		sent = s.StartedAt
	case denied(s):
		sent = s.CompletedAt
	}
	if !wasAsked(s) && !sent.IsZero() {
		return sent, sent
	}
	at = r.CreatedAt
	for i := range r.Steps {
		end := r.Steps[i].CompletedAt
		if earlier := sent.IsZero() || !end.After(sent); &r.Steps[i] != s && end.After(at) && earlier {
			at = end
		}
	}
	if s.Attempt > 1 {
		sent = at
	}
	return at, sent
}
