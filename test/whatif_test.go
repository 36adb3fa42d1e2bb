package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAWhatIfPlaysAnotherGateOverPastRuns: what would be sent, asked and denied, by amount, and
// what a person had rejected; it changes nothing, and tells nothing of what is hidden.
func TestAWhatIfPlaysAnotherGateOverPastRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rule := func(field, operator, value, then string) doc {
		return doc{"when": is(field, operator, number(value)), "then": then, "reason": "r"}
	}
	pay := func(name string, more doc) doc {
		return harness.Capability(name, "POST", "/refunds", harness.With(harness.With(more, "approval", "RISK_BASED"), "inputSchema", doc{"amount": harness.Input("number", true), "to": harness.Input("string", false)}))
	}
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		pay("pay", doc{"title": "Pay {amount}", "approvalRules": []doc{rule("amount", "lt", "10", "ALLOW"), rule("amount", "gt", "1000", "DENY")}}),
		pay("hidden", doc{"title": "Pay {to}", "sensitive": []string{"amount"}}), pay("titled", doc{"title": "Pay {amount}", "sensitive": []string{"amount"}}),
	}))
	asks := func(capability, amount string) string {
		return w.run(t, harness.With(step("p", capability, doc{"amount": number(amount), "to": "Ada"}), "projectId", "default-pays"))
	}
	w.reaches(t, asks("pay", "5"), "COMPLETED")
	w.reaches(t, asks("pay", "2000"), "FAILED")
	rejected := func(capability, amount string) string {
		id := asks(capability, amount)
		w.approver.Post("/approvals/"+w.approval(t, id).At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "not " + amount}).OK(t)
		w.reaches(t, id, "FAILED")
		return id
	}
	first, second := rejected("pay", "20"), rejected("pay", "45.5")
	approved := asks("pay", "30")
	w.approve(t, approved)
	w.reaches(t, approved, "COMPLETED")
	w.approval(t, asks("hidden", "1"))

	path := "/projects/default-pays/what-if"
	before := w.Admin.Get("/audit").OK(t).At("total").Int()
	w.viewer.Post(path, doc{"capability": "pay", "last": 1000}).OK(t).Is(t, "played", 5).
		Is(t, "today", doc{"sent": 1, "asked": 3, "denied": 1}).Is(t, "then", doc{"sent": 1, "asked": 3, "denied": 1}).Is(t, "loosened", []any{})
	looser := doc{"capability": "pay", "last": 1000, "approvalRules": []doc{rule("amount", "lte", "50", "ALLOW")}}
	got := w.viewer.Post(path, looser).OK(t).Is(t, "then", doc{"sent": 4, "asked": 1, "denied": 0}).Is(t, "byField.input", "amount").
		Is(t, "loosened.0.runId", second).Is(t, "loosened.0.inputs.amount", number("45.5")).Is(t, "loosened.0.reason", "not 45.5").Is(t, "loosened.1.runId", first).Is(t, "loosened.2", harness.Absent)
	if by := got.At("loosened.0.decidedBy").Text(); by == "" {
		t.Error("it doesn't say who rejected")
	}
	sum, asked := 0, 0
	for _, b := range got.At("byField.buckets").Items() {
		sum, asked = sum+b.At("sent").Int()+b.At("asked").Int()+b.At("denied").Int(), asked+b.At("asked").Int()
	}
	if sum != 5 || asked != 1 {
		t.Errorf("the parts have %d, of which %d asked: %s", sum, asked, got.At("byField"))
	}
	w.viewer.Post(path, harness.With(looser, "last", 3)).OK(t).Is(t, "played", 3).Is(t, "then", doc{"sent": 3, "asked": 0, "denied": 0})
	w.viewer.Post(path, doc{"capability": "pay", "last": 1000, "approval": "NONE", "approvalRules": []doc{}, "budgets": []doc{{"count": 2, "window": "1h", "then": "DENY", "reason": "two"}}}).OK(t).
		Is(t, "then", doc{"sent": 2, "asked": 0, "denied": 3})

	w.operator.Post(path, doc{"capability": "hidden", "last": 5, "approvalRules": []doc{rule("amount", "lt", "5", "ALLOW")}}).OK(t).Is(t, "then.sent", 1)
	for _, hidden := range []doc{
		{"capability": "hidden", "last": 5, "approvalRules": []doc{rule("amount", "lt", "5", "ALLOW")}},
		{"capability": "hidden", "last": 5, "budgets": []doc{{"sum": "amount", "most": 5, "window": "1h", "then": "DENY", "reason": "r"}}},
		{"capability": "titled", "last": 5, "approval": "ALWAYS"},
	} {
		w.viewer.Post(path, hidden).Refused(t, "role_required", "hidden from a VIEWER")
	}
	w.viewer.Post(path, doc{"capability": "hidden", "last": 5, "approval": "NONE"}).OK(t).Is(t, "then.sent", 1).Is(t, "byField", harness.Absent)
	for _, bad := range []struct {
		body doc
		part string
	}{
		{doc{"capability": "none", "last": 5}, "project default-pays has no capability none"},
		{doc{"capability": "pay"}, "last"}, {doc{"capability": "pay", "last": 0}, "last"}, {doc{"capability": "pay", "last": 1001}, "1 to 1000"},
		{doc{"capability": "pay", "last": 5, "approval": "SOME"}, "approval"},
		{doc{"capability": "pay", "last": 5, "approvalRules": []doc{rule("none", "lt", "5", "ALLOW")}}, "approvalRules[0]"},
		{doc{"capability": "pay", "last": 5, "budgets": []doc{{"count": 1, "window": "1y", "then": "ASK", "reason": "r"}}}, "budgets[0].window"},
		{doc{"capability": "pay", "last": 5, "approvalRules": []doc{harness.With(rule("amount", "lt", "5", "ASK"), "groups", []string{"none"})}}, "there is no group none"},
	} {
		w.viewer.Post(path, bad.body).Refused(t, "invalid_request", bad.part)
	}
	if now := w.Admin.Get("/audit").OK(t).At("total").Int(); now != before {
		t.Errorf("%d records were added", now-before)
	}
}
