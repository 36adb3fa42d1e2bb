package upgrade_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/upgrade"
)

// TestWhatAsksMoreThanBeforeIsNamed, and nothing else.
func TestWhatAsksMoreThanBeforeIsNamed(t *testing.T) {
	ruled := []countersign.ApprovalRule{{Then: countersign.RuleDeny}}
	risk := countersign.ApprovalRiskBased
	p := &countersign.Project{ID: "acme-shop", Capabilities: []countersign.Capability{
		{Name: "plain", Method: "POST", Approval: risk, Idempotent: true},
		{Name: "asked", Method: "POST", Approval: risk, ApprovalRules: ruled},
		{Name: "refund", Method: "POST", Approval: risk, Idempotent: true, ApprovalRules: ruled},
		{Name: "remove", Method: "DELETE", Approval: risk, Idempotent: true, ApprovalRules: ruled},
		{Name: "read", Method: "GET", Approval: risk, ApprovalRules: ruled},
		{Name: "free", Method: "POST", Approval: countersign.ApprovalNone, Idempotent: true, ApprovalRules: ruled},
	}}
	const want = "project acme-shop, capabilities[2].approval: refund now asks for what none of its approval rules names: it was let out before, since it is declared idempotent. Let a rule ALLOW what is to go out unasked"
	if got := upgrade.OfProject(p); len(got) != 1 || got[0].String() != want {
		t.Errorf("%v\nnot %s", got, want)
	}
}

func TestWhatWouldBeRefusedWhenItIsSentBackIsNamed(t *testing.T) {
	p := &countersign.Project{ID: "acme-shop", Headers: countersign.Headers{"X-HTTP-Method-Override": "DELETE", "X-Version": "2"}}
	const header = "project acme-shop, headers.X-HTTP-Method-Override: it asks the receiver for another method than approvers see, and is refused when the project is sent back; make it a capability of that method"
	if got := upgrade.OfProject(p); len(got) != 1 || got[0].String() != header {
		t.Errorf("%v\nnot %s", got, header)
	}
	team := &countersign.Team{ID: "returns", Members: []countersign.TeamMember{{AgentID: "a", Role: "lead"}, {AgentID: "b", Role: " "}}}
	const steps = "team returns, steps: it has none, and is refused when it is sent back; give it a step, or retire it"
	const role = "team returns, members[1].role: it is blank, and the team is refused when it is sent back; say what part the agent has"
	if got := upgrade.OfTeam(team); len(got) != 2 || got[0].String() != steps || got[1].String() != role {
		t.Errorf("%v", got)
	}
	whole := &countersign.Team{ID: "returns", Members: team.Members[:1], Steps: []countersign.TeamStep{{ID: "s"}}}
	if got := upgrade.OfTeam(whole); got != nil {
		t.Errorf("%v", got)
	}
}
