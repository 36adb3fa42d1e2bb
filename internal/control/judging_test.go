package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// costly registers a capability that takes a text with a pattern in each of its inputs, and
// compares a number with many.
func (f *fixture) costly(id string) {
	f.t.Helper()
	in := map[string]countersign.InputField{"amount": {Type: "number"}}
	for i := range 40 {
		in[fmt.Sprintf("s%02d", i)] = countersign.InputField{Type: "string", Pattern: "[ab]{0,900}c$"}
	}
	var compared []string
	for i := range 9500 {
		compared = append(compared, fmt.Sprintf(`{"kind":"predicate","variableId":"amount","operator":"lt","value":-%d}`, i+1))
	}
	rule := countersign.ApprovalRule{Then: countersign.RuleAsk, Reason: "r"}
	f.must(json.Unmarshal([]byte(`{"kind":"group","combinator":"OR","conditions":[`+strings.Join(compared, ",")+`]}`), &rule.When))
	f.must(refusalOf(f.service.PutProject(background, as("acme"), id, countersign.ProjectWrite{Name: id, Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "re", Method: "POST", Path: "/re", Approval: countersign.ApprovalRiskBased, InputSchema: in, ApprovalRules: []countersign.ApprovalRule{rule}},
	}})))
	f.must(refusalOf(f.service.CheckHealth(background, as("acme"), id)))
	f.must(refusalOf(f.service.EnableProject(background, as("acme"), id, countersign.Toggle{ExpectedRevision: 1})))
}

func texts(n, length int) map[string]countersign.Value {
	out := map[string]countersign.Value{}
	for i := range n {
		out[fmt.Sprintf("s%02d", i)] = countersign.String(strings.Repeat("ab", length/2) + "c")
	}
	return out
}

// TestWhatARequestAsksToBeJudgedIsBoundedAsAWhole: each value, pattern, number and rule is
// within its own bounds. Nothing is stored, and the message says where.
func TestWhatARequestAsksToBeJudgedIsBoundedAsAWhole(t *testing.T) {
	h := open(t)
	h.costly("acme-re")
	digits := map[string]countersign.Value{"amount": countersign.RawValue(strings.Repeat("9", 4096))}
	before := h.everything("acme")
	for _, c := range []struct {
		inputs map[string]countersign.Value
		where  string
	}{{texts(40, 9998), "inputs.s01: "}, {texts(13, 998), "inputs.s11: "}, {digits, "approvalRules: "}} {
		for _, mode := range []string{countersign.ModeDryRun, countersign.ModeLive} {
			_, err := h.service.StartProjectRun(background, as("acme"), "acme-re", countersign.ProjectRunStart{Capability: "re", Mode: mode, Inputs: c.inputs}, h.newID("k"))
			wantCode(t, err, countersign.CodeInvalidRequest)
			if !strings.HasPrefix(err.Error(), "invalid_request: "+c.where+"judging what was sent takes more than 20 million steps") {
				t.Errorf("%.120v\nnot %s", err, c.where)
			}
		}
		_, err := h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{Name: "p", ModelID: "m1", ModelRevision: 1, Steps: []countersign.Step{{ID: "s", ProjectID: "acme-re", Capability: "re", Input: c.inputs}}})
		wantCode(t, err, countersign.CodeInvalidRequest)
	}
	if h.everything("acme") != before {
		t.Error("something was kept")
	}
	out, err := h.service.StartProjectRun(background, as("acme"), "acme-re", countersign.ProjectRunStart{Capability: "re", Inputs: texts(9, 998)}, "k")
	h.must(err)
	h.must(h.store.View(background, func(tx store.Tx) error {
		rec, _, err := records.Runs.Get(tx, "acme", out.Run.ID)
		if err == nil && (len(rec.Taken) != 1 || rec.Taken[0] < 9*1800*999 || rec.Taken[0] > 20_000_000) {
			t.Errorf("the run keeps that it took %d", rec.Taken)
		}
		return err
	}))
}

// TestAPlanKeepsWhatItsRunsTake: the second start of a plan judges nothing, and its run knows.
func TestAPlanKeepsWhatItsRunsTake(t *testing.T) {
	h := open(t)
	h.costly("acme-re")
	p, err := h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{Name: "p", ModelID: "m1", ModelRevision: 1, Steps: []countersign.Step{{ID: "s", ProjectID: "acme-re", Capability: "re", Input: texts(9, 998)}}})
	h.must(err)
	for _, key := range []string{"a", "b"} {
		out, err := h.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, key)
		h.must(err)
		h.must(h.store.View(background, func(tx store.Tx) error {
			rec, _, err := records.Runs.Get(tx, "acme", out.Run.ID)
			if err == nil && (len(rec.Taken) != 1 || rec.Taken[0] < 9*1800*999) {
				t.Errorf("%s: the run keeps that it took %d", key, rec.Taken)
			}
			return err
		}))
	}
}

// TestNobodyIsJudgedForWhoHasGone: the work ends with its caller.
func TestNobodyIsJudgedForWhoHasGone(t *testing.T) {
	h := open(t)
	h.costly("acme-re")
	gone, leave := context.WithCancel(background)
	leave()
	var err error
	_, err = h.service.StartProjectRun(gone, as("acme"), "acme-re", countersign.ProjectRunStart{Capability: "re", Inputs: texts(9, 998)}, "k")
	wantCode(t, err, countersign.CodeUnavailable)
}

// TestACorrectionIsJudgedBeforeTheTurn: what an approver suggests is bounded like a start.
func TestACorrectionIsJudgedBeforeTheTurn(t *testing.T) {
	h := open(t)
	h.costly("acme-re")
	low := map[string]countersign.Value{"amount": countersign.RawValue("-9")}
	out, err := h.service.StartProjectRun(background, as("acme"), "acme-re", countersign.ProjectRunStart{Capability: "re", Mode: countersign.ModeLive, Inputs: low}, "k")
	h.must(err)
	approval := h.applied(out.Run.ID, run.Resumed{}).ApprovalID
	decide := func(a control.Actor, suggested map[string]countersign.Value) error {
		_, err := h.service.Decide(background, a, approval, countersign.Decision{Decision: countersign.ApprovalRejected, Reason: "r", SuggestedInput: suggested})
		return err
	}
	err = decide(approver("ben@acme.example"), texts(40, 9998))
	wantCode(t, err, countersign.CodeInvalidRequest)
	err = decide(approver("ben@acme.example"), map[string]countersign.Value{"s00": countersign.String(strings.Repeat("ab", 4000))})
	if err == nil || !strings.HasPrefix(err.Error(), "invalid_request: suggestedInput.s00: must match the pattern") {
		t.Error(err)
	}
	h.must(decide(approver("ben@acme.example"), texts(1, 9998)))
}

// TestRulesThatAreTooManyToExamineAreNamed: the project is stored, and wasn't sent with the
// request that asks what is wrong with it.
func TestRulesThatAreTooManyToExamineAreNamed(t *testing.T) {
	h := open(t)
	var compared []string
	for i := range 700 {
		compared = append(compared, fmt.Sprintf(`{"kind":"predicate","variableId":"amount","operator":"lt","value":%d}`, 100_000+i))
	}
	rule := countersign.ApprovalRule{Then: countersign.RuleAsk, Reason: "r"}
	h.must(json.Unmarshal([]byte(`{"kind":"group","combinator":"OR","conditions":[`+strings.Join(compared, ",")+`]}`), &rule.When))
	h.must(refusalOf(h.service.PutProject(background, as("acme"), "acme-many", countersign.ProjectWrite{Name: "n", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "c", Method: "POST", Path: "/c", Approval: countersign.ApprovalRiskBased, InputSchema: map[string]countersign.InputField{"amount": {Type: "number"}}, ApprovalRules: []countersign.ApprovalRule{rule}},
	}})))
	v, err := h.service.ValidateProject(background, as("acme"), "acme-many")
	h.must(err)
	if len(v.Warnings) != 1 || v.Warnings[0].Code != "not_examined" {
		t.Errorf("%v", v.Warnings)
	}
}
