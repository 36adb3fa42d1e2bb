package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/policy"
)

func shop() *countersign.Plan {
	return &countersign.Plan{ProjectSnapshots: []countersign.Project{{ID: "acme-shop", Capabilities: []countersign.Capability{
		{Name: "look", Method: "GET", Path: "/orders"},
		{Name: "refund", Method: "POST", Path: "/refunds"},
		{Name: "note", Method: "POST", Path: "/notes", Approval: countersign.ApprovalNone},
		{Name: "tag", Method: "PUT", Path: "/tags", Idempotent: true, Approval: countersign.ApprovalRiskBased},
	}}}}
}

// step came to the gate, and asked for approval or didn't.
func step(capability string, asked bool, change ...func(*countersign.StepRun)) countersign.StepRun {
	s := countersign.StepRun{ID: capability, ProjectID: "acme-shop", Capability: capability, RequestDigest: "d", ApprovalRequired: asked, Status: countersign.StepCompleted}
	for _, c := range change {
		c(&s)
	}
	return s
}

func failed(code countersign.Code) func(*countersign.StepRun) {
	return func(s *countersign.StepRun) { s.Error = &countersign.StepError{Code: code} }
}

func live(id string, steps ...countersign.StepRun) *countersign.Run {
	return &countersign.Run{ID: id, Mode: countersign.ModeLive, Steps: steps}
}

func report(p policy.Proposal, runs ...*countersign.Run) policy.Report {
	t := policy.NewCounts(p)
	for _, r := range runs {
		t.Add(r, shop())
	}
	return t.Report()
}

// TestThePresentPolicyChangesNothing: what was asked is what would be asked.
func TestThePresentPolicyChangesNothing(t *testing.T) {
	got := report(policy.Proposal{}, live("run-1", step("look", false), step("refund", true), step("note", false), step("tag", false)))
	if got.Asked != 1 || got.WouldAsk != 1 || got.Steps != 4 || got.Runs != 1 {
		t.Errorf("%+v", got)
	}
	for _, q := range got.Capabilities {
		if q.More != 0 || q.Fewer != 0 || !cmp.Equal(q.Was, q.Would) {
			t.Errorf("%+v", q)
		}
	}
}

func TestAProposalForOneCapabilityWinsOverThatForAll(t *testing.T) {
	p := policy.Proposal{All: countersign.ApprovalAlways, Named: map[string]string{"acme-shop/refund": countersign.ApprovalNone}}
	got := report(p, live("run-1", step("look", false), step("refund", true), step("note", false)))
	if got.Asked != 1 || got.WouldAsk != 2 {
		t.Errorf("%+v", got)
	}
}

// TestWhatNobodyWouldHaveStoppedIsNamed: of what would no longer be asked, what a
// person rejected or let expire.
func TestWhatNobodyWouldHaveStoppedIsNamed(t *testing.T) {
	got := report(policy.Proposal{All: countersign.ApprovalNone},
		live("run-1", step("refund", true)),
		live("run-2", step("refund", true, failed(countersign.CodeApprovalRejected))),
		live("run-3", step("refund", true, failed(countersign.CodeApprovalExpired))))
	want := []policy.Questions{{
		Name: "acme-shop/refund", Was: []string{"ALWAYS"}, Would: []string{"NONE"}, Steps: 3, Asked: 3, Fewer: 3,
		Rejected: []string{"run-2"}, Expired: []string{"run-3"}, Wrong: []string{},
	}}
	if diff := cmp.Diff(want, got.Capabilities); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAPersonWouldHaveSeenFirstIsNamed(t *testing.T) {
	wrong := func(s *countersign.StepRun) {
		s.Verification = &countersign.Verification{Status: countersign.VerificationFailed}
	}
	uncertain := func(s *countersign.StepRun) { s.Reconciliation = &countersign.Reconciliation{} }
	got := report(policy.Proposal{Named: map[string]string{"acme-shop/note": countersign.ApprovalAlways}},
		live("run-1", step("note", false)), live("run-2", step("note", false, wrong)), live("run-3", step("note", false, uncertain)))
	if q := got.Capabilities[0]; q.More != 3 || !cmp.Equal(q.Wrong, []string{"run-2", "run-3"}) {
		t.Errorf("%+v", q)
	}
}

// TestOnlyWhatCameToTheGateCounts: not a rehearsal, nor a step that never had its
// request.
func TestOnlyWhatCameToTheGateCounts(t *testing.T) {
	dry := live("run-1", step("refund", true))
	dry.Mode = countersign.ModeDryRun
	got := report(policy.Proposal{}, dry, live("run-2", step("refund", true, func(s *countersign.StepRun) { s.RequestDigest = "" })))
	if got.Runs != 1 || got.Steps != 0 || len(got.Capabilities) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRiskBasedAsksOfWhatIsNotIdempotent, as the gate does.
func TestRiskBasedAsksOfWhatIsNotIdempotent(t *testing.T) {
	got := report(policy.Proposal{All: countersign.ApprovalRiskBased}, live("run-1", step("look", false), step("refund", true), step("note", false), step("tag", false)))
	if got.WouldAsk != 2 { // refund and note
		t.Errorf("%+v", got)
	}
}
