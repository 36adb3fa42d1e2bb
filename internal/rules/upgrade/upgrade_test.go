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
	if got := upgrade.OfTeam(&countersign.Team{ID: "desk"}); len(got) != 0 {
		t.Errorf("a team: %v", got)
	}
}
