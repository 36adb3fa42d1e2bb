package approvals

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// approvalCourse describes the step that waits: its place in the run, its capability, and
// what follows. approvalPage leaves it empty (Known is false) if the run covers projects
// that the visitor may not see.
type approvalCourse struct {
	Known      bool
	Name       string // of the step
	At, Of     int    // the step is number At of Of
	Plan       string
	Project    string
	Revision   int64
	Agent      string
	SideEffect bool
	Policy     string
	Rules      []text.ShownRule
	Timeout    string
	Signed     string
	After      []string // the steps that follow
	Skipped    int      // how many steps a rejection would skip: all of After
	RunWaits   bool     // approved, but the run waits for a free slot
}

func courseOf(r *countersign.Run, a *countersign.Approval) approvalCourse {
	c := approvalCourse{Known: true, Of: len(r.Steps), RunWaits: r.WaitingFor != nil && (r.WaitingFor.Kind == countersign.WaitSlot || r.WaitingFor.Kind == countersign.WaitStop) && r.WaitingFor.ApprovalID == a.ID}
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.ID == a.StepID:
			c.At, c.Name, c.SideEffect, c.Agent = i+1, s.Name, s.SideEffect, s.AgentID
		case s.Status == countersign.StepPending:
			c.Skipped++
			c.After = append(c.After, s.Name)
		}
	}
	if r.PlanSnapshot != nil {
		c.plan(r.PlanSnapshot, a)
	}
	return c
}

// plan adds what the plan's snapshots say of the step's capability.
func (c *approvalCourse) plan(p *countersign.Plan, a *countersign.Approval) {
	c.Plan = p.Name
	capability := text.CapabilityOf(p, a.ProjectID, a.Capability)
	if capability == nil {
		return
	}
	project := text.ProjectOf(p, a.ProjectID)
	c.Project, c.Revision = project.Name, project.Revision
	c.Policy, c.Timeout = policyWord(capability), text.TimeoutWord(capability.Timeout())
	c.Rules = text.RulesOf(capability)
	c.Signed = signedWords(project.EffectiveAuths())
}

func policyWord(c *countersign.Capability) string {
	switch {
	case c.ApprovalPolicy() == countersign.ApprovalAlways && c.HasSideEffect():
		return "Always ask: it has a side effect"
	case c.ApprovalPolicy() == countersign.ApprovalAlways:
		return "Always ask, though it only reads"
	case !c.NeedsApproval():
		return "Never ask, unless a rule does"
	case len(c.ApprovalRules) > 0:
		return "Ask for what no rule names"
	}
	return "Ask by risk: the side effect may not be safe to repeat"
}

func signedWords(auths []countersign.Auth) string {
	var words []string
	for _, a := range auths {
		words = append(words, signedWord(a.Type))
	}
	return strings.Join(words, " ")
}

func signedWord(auth string) string {
	switch auth {
	case countersign.AuthHMAC:
		return "Signed with HMAC."
	case countersign.AuthBearer:
		return "Sent with a bearer token."
	case countersign.AuthAPIKey:
		return "Sent with an API key."
	case countersign.AuthBasic:
		return "Sent with a user and a password."
	}
	return ""
}

// Consequence says what rejecting does.
func (c approvalCourse) Consequence() string {
	switch {
	case c.Skipped == 1:
		return "Reject ends the run; the step after it is skipped."
	case c.Skipped > 1:
		return "Reject ends the run; the " + strconv.Itoa(c.Skipped) + " steps after it are skipped."
	}
	return "Reject ends the run."
}
