// Package policy evaluates a proposed approval policy and proposed approval rules against
// past runs: which approvals they would have required, and what they would have denied. It
// uses stored facts only, and the same check as the run (gate.Judge).
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
	return c
}

// policyWord is a capability's policy in a report.
func policyWord(c *countersign.Capability) string {
	switch n := len(c.ApprovalRules); n {
	case 0:
		return c.ApprovalPolicy()
	case 1:
		return c.ApprovalPolicy() + " and 1 rule"
	default:
		return c.ApprovalPolicy() + " and " + strconv.Itoa(n) + " rules"
	}
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

	WouldDeny int      `json:"wouldDeny,omitempty"` // steps that a rule would deny
	Denied    []string `json:"denied,omitempty"`    // of these, runs in which the step was sent
	Undenied  []string `json:"undenied,omitempty"`  // runs in which a rule denied the step, and none would
	// Of Fewer: requests that would have been sent.
	Rejected []string `json:"rejected"` // runs in which a person rejected the step
	Lapsed   []string `json:"lapsed"`   // runs in which nobody decided in time
	// Of More: failures that a person would have reviewed before sending.
	Wrong []string `json:"wrong"` // runs in which the step failed its expectation or its outcome was uncertain
}

// Tally accumulates runs, in any order.
type Tally struct {
	proposal Proposal
	report   Report
	by       map[string]*Questions
}

// NewTally makes an empty tally of a proposal.
func NewTally(p Proposal) *Tally { return &Tally{proposal: p, by: map[string]*Questions{}} }

// Add counts the steps of a run that got as far as the approval check. p is the run's
// plan, with its project snapshots: the policy at that time. A rehearsal requires no
// approvals.
func (t *Tally) Add(r *countersign.Run, p *countersign.Plan) {
	if r.Mode != countersign.ModeLive {
		return
	}
	t.report.Runs++
	for i := range r.Steps {
		if c := capabilityOf(p, &r.Steps[i]); c != nil && cameToTheGate(&r.Steps[i]) {
			t.step(r.ID, &r.Steps[i], *c)
		}
	}
}

// Report lists the capabilities by name.
func (t *Tally) Report() Report {
	out := t.report
	out.Capabilities = []Questions{}
	for _, name := range slices.Sorted(maps.Keys(t.by)) {
		q := *t.by[name]
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

func (t *Tally) step(runID string, s *countersign.StepRun, c countersign.Capability) {
	name := Name(s.ProjectID, c.Name)
	q := t.by[name]
	if q == nil {
		q = &Questions{Name: name, Rejected: []string{}, Lapsed: []string{}, Wrong: []string{}}
		t.by[name] = q
	}
	next := t.proposal.apply(name, c)
	q.Was, q.Would = noted(q.Was, policyWord(&c)), noted(q.Would, policyWord(&next))
	verdict := gate.Judge(&next, s.Input, nil)
	t.report.Steps, q.Steps = t.report.Steps+1, q.Steps+1
	if s.ApprovalRequired {
		t.report.Asked, q.Asked = t.report.Asked+1, q.Asked+1
	}
	switch verdict.Then {
	case countersign.RuleAsk:
		t.report.WouldAsk, q.WouldAsk = t.report.WouldAsk+1, q.WouldAsk+1
	case countersign.RuleDeny:
		t.report.WouldDeny, q.WouldDeny = t.report.WouldDeny+1, q.WouldDeny+1
	}
	q.compare(runID, s, verdict)
}

// compare counts how a step would have gone otherwise.
func (q *Questions) compare(runID string, s *countersign.StepRun, would gate.Verdict) {
	denied := s.Error != nil && s.Error.Code == countersign.CodeDeniedByRule
	switch {
	case would.Then == countersign.RuleDeny:
		if s.Attempt > 0 {
			q.Denied = noted(q.Denied, runID)
		}
	case denied:
		q.Undenied = noted(q.Undenied, runID)
	case would.Asks() && !s.ApprovalRequired:
		q.More++
		if wentWrong(s) {
			q.Wrong = noted(q.Wrong, runID)
		}
	case !would.Asks() && s.ApprovalRequired:
		q.Fewer++
		q.fewer(runID, s)
	}
}

func (q *Questions) fewer(runID string, s *countersign.StepRun) {
	if s.Error == nil {
		return
	}
	switch s.Error.Code {
	case countersign.CodeApprovalRejected:
		q.Rejected = noted(q.Rejected, runID)
	case countersign.CodeApprovalExpired:
		q.Lapsed = noted(q.Lapsed, runID)
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
