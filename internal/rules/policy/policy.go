// Package policy evaluates a proposed approval policy, proposed approval rules and proposed
// budgets against past runs: which approvals they would have required, and what they would
// have denied. It uses stored facts only, and the same checks as the run (gate.Judge,
// budget.Judge).
package policy

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// Proposal is a proposed policy. A name is a project id and a capability, as in
// "acme-shop/refund".
type Proposal struct {
	All   string                                // for every capability; "": as it was
	Named map[string]string                     // for some, whatever All says
	Rules map[string][]countersign.ApprovalRule // for some, in place of those that there were

	Budgets map[string][]countersign.Budget // likewise
	Agents  map[string][]countersign.Budget // of agents, by id
}

// Name is a capability's name in a Proposal and a Report.
func Name(projectID, capability string) string { return projectID + "/" + capability }

func (p Proposal) of(name, was string) string {
	return cmp.Or(p.Named[name], p.All, was)
}

// apply gives the capability as it is proposed.
func (p Proposal) apply(name string, c countersign.Capability) countersign.Capability {
	c.Approval = p.of(name, c.ApprovalPolicy())
	if rules, ok := p.Rules[name]; ok {
		c.ApprovalRules = rules
	}
	if budgets, ok := p.Budgets[name]; ok {
		c.Budgets = budgets
	}
	return c
}

// edition is what a capability would be judged by: as new plans are, where its approval or
// rules would be others, else as the plan was.
func (p Proposal) edition(name string, of *countersign.Plan) gate.Edition {
	if _, ruled := p.Rules[name]; ruled || p.of(name, "") != "" {
		return gate.Now
	}
	return gate.OfPlan(of)
}

// policyWord is a capability's policy in a report.
func policyWord(c *countersign.Capability) string {
	return c.ApprovalPolicy() + numbered(len(c.ApprovalRules), "rule") + numbered(len(c.Budgets), "budget")
}

func numbered(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and 1 " + what
	}
	return " and " + strconv.Itoa(n) + " " + what + "s"
}

// Report compares the proposal with the approvals that were required.
type Report struct {
	Runs         int         `json:"runs"`  // LIVE runs evaluated
	Steps        int         `json:"steps"` // their steps that got as far as the approval check
	Asked        int         `json:"asked"`
	WouldAsk     int         `json:"wouldAsk"`
	WouldDeny    int         `json:"wouldDeny,omitempty"`
	Capabilities []Questions `json:"capabilities"`
}

// Questions compares the approvals of one capability.
type Questions struct {
	Name     string   `json:"name"`
	Was      []string `json:"was"` // its policies in the plans of these runs
	Would    []string `json:"would"`
	Steps    int      `json:"steps"`
	Asked    int      `json:"asked"`
	WouldAsk int      `json:"wouldAsk"`
	More     int      `json:"more"`  // steps that would need approval and did not
	Fewer    int      `json:"fewer"` // steps that needed approval and would not

	WouldDeny int      `json:"wouldDeny,omitempty"` // steps that a rule or a budget would deny
	Denied    []string `json:"denied,omitempty"`    // of these, runs in which the step was sent
	Undenied  []string `json:"undenied,omitempty"`  // runs in which the step was denied, and would not be
	// Of Fewer: requests that would have been sent.
	Rejected []string `json:"rejected"` // runs in which a person rejected the step
	Expired  []string `json:"lapsed"`   // runs in which nobody decided in time
	// Of More: failures that a person would have reviewed before sending.
	Wrong []string `json:"wrong"` // runs in which the step failed its expectation or its outcome was uncertain
}

// Counts are what a proposal would have asked in runs that are added, the newest first.
type Counts struct {
	proposal Proposal
	runs     int
	steps    []*came
}

// NewCounts makes the counts of a proposal in no runs.
func NewCounts(p Proposal) *Counts { return &Counts{proposal: p} }

// Add takes the steps of a run that got as far as the approval check. p is the run's plan,
// with its project snapshots: the policy at that time. A rehearsal requires no approvals.
func (t *Counts) Add(r *countersign.Run, p *countersign.Plan) {
	if r.Mode != countersign.ModeLive {
		return
	}
	t.runs++
	for i := range slices.Backward(r.Steps) {
		s := &r.Steps[i]
		if c := capabilityOf(p, s); c != nil && cameToTheGate(s) {
			at, sent := timesOf(r, s)
			t.steps = append(t.steps, &came{run: r, step: s, was: *c, would: t.proposal.apply(Name(s.ProjectID, c.Name), *c), by: t.proposal.edition(Name(s.ProjectID, c.Name), p), at: at, sent: sent})
		}
	}
}

// Report plays the steps, and lists the capabilities by name.
func (t *Counts) Report() Report {
	play(t.proposal, t.steps)
	out, by := Report{Runs: t.runs, Capabilities: []Questions{}}, map[string]*Questions{}
	for _, c := range t.steps {
		out.step(by, c)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		q := *by[name]
		slices.Sort(q.Was)
		slices.Sort(q.Would)
		out.Capabilities = append(out.Capabilities, q)
	}
	return out
}

func capabilityOf(p *countersign.Plan, s *countersign.StepRun) *countersign.Capability {
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == s.ProjectID {
			return p.ProjectSnapshots[i].Capability(s.Capability)
		}
	}
	return nil
}

// A step has a digest if its request was built, and then approval was checked.
func cameToTheGate(s *countersign.StepRun) bool { return s.RequestDigest != "" }

func (r *Report) step(by map[string]*Questions, c *came) {
	name := Name(c.step.ProjectID, c.was.Name)
	q := by[name]
	if q == nil {
		q = &Questions{Name: name, Rejected: []string{}, Expired: []string{}, Wrong: []string{}}
		by[name] = q
	}
	q.Was, q.Would = noted(q.Was, policyWord(&c.was)), noted(q.Would, policyWord(&c.would))
	r.Steps, q.Steps = r.Steps+1, q.Steps+1
	if wasAsked(c.step) {
		r.Asked, q.Asked = r.Asked+1, q.Asked+1
	}
	switch c.then {
	case countersign.RuleAsk:
		r.WouldAsk, q.WouldAsk = r.WouldAsk+1, q.WouldAsk+1
	case countersign.RuleDeny:
		r.WouldDeny, q.WouldDeny = r.WouldDeny+1, q.WouldDeny+1
	case "":
		return
	}
	q.compare(c.run.ID, c.step, c.then)
}

// compare counts how a step would have gone otherwise.
func (q *Questions) compare(runID string, s *countersign.StepRun, would string) {
	asks := would == countersign.RuleAsk
	switch {
	case would == countersign.RuleDeny:
		if s.Attempt > 0 {
			q.Denied = noted(q.Denied, runID)
		}
	case denied(s):
		q.Undenied = noted(q.Undenied, runID)
	case asks && !wasAsked(s):
		q.More++
		if wentWrong(s) {
			q.Wrong = noted(q.Wrong, runID)
		}
	case !asks && wasAsked(s):
		q.Fewer++
		q.fewer(runID, s)
	}
}

// denied reports a step that a rule or a budget denied.
func denied(s *countersign.StepRun) bool {
	return s.Error != nil && (s.Error.Code == countersign.CodeDeniedByRule || s.Error.Code == countersign.CodeDeniedByBudget)
}

func (q *Questions) fewer(runID string, s *countersign.StepRun) {
	if s.Error == nil {
		return
	}
	switch s.Error.Code {
	case countersign.CodeApprovalRejected:
		q.Rejected = noted(q.Rejected, runID)
	case countersign.CodeApprovalExpired:
		q.Expired = noted(q.Expired, runID)
	}
}

// wentWrong reports a step that failed its expectation or had an unknown outcome.
func wentWrong(s *countersign.StepRun) bool {
	failed := s.Verification != nil && s.Verification.Status == countersign.VerificationFailed
	return failed || s.Reconciliation != nil || s.Status == countersign.StepRecoveryRequired || s.Status == countersign.StepAbandoned
}

func noted(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}
