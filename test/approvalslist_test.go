package test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// TestAListOfApprovalsIsNarrowedAndOrderedByWhatItsReaderIsShown: what is masked for a VIEWER
// neither finds an approval nor orders it.
func TestAListOfApprovalsIsNarrowedAndOrderedByWhatItsReaderIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.group(t, "finance", 0, "ann@example.com")
	pay := func(name string, more doc) doc {
		more["inputSchema"] = doc{"amount": harness.Input("number", true), "to": harness.Input("string", false)}
		return harness.Capability(name, "POST", "/pay", more)
	}
	rule := doc{"when": is("amount", "gte", number("0")), "then": "ASK", "reason": "r", "groups": []string{"finance"}}
	w.register(t, "default-open", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{pay("pay", doc{"title": "Pay {amount} to {to}"}), pay("ruled", doc{"approvalRules": []any{rule}})}))
	w.register(t, "default-hides", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{pay("pay", doc{"title": "Pay {amount}", "sensitive": []string{"amount"}})}))
	agent := w.admitted(t, harness.With(agentItem("clerk", "note", "refund"), "capabilities", []any{"refund"}))[0]
	asks := func(project, capability, amount, to string) string {
		return w.approval(t, w.run(t, harness.With(step("p", capability, doc{"amount": number(amount), "to": to}), "projectId", project))).At("id").Text()
	}
	ten, ruled, two := asks("default-open", "pay", "10", "Ada Lovelace"), asks("default-open", "ruled", "3.5", "Ben"), asks("default-open", "pay", "2e0", "Cem")
	byAgent := w.approval(t, w.asks(agent, agentRun("LIVE", "refund", doc{"orderId": "o-77"})).OK(t).At("id").Text()).At("id").Text()
	operator := w.operator.Get("/approvals/" + ten).OK(t).At("requestedBy").Text()

	for path, want := range map[string][]string{
		"projectId=default-open": {two, ruled, ten},
		"agentId=" + agent:       {byAgent},
		"group=finance":          {ruled},
		"requestedBy=" + operator + "&q=ADA%20LOVELACE": {ten}, // no id holds it by chance
		"requestedBy=token:none":                        nil,
		"q=o-77":                                        {byAgent},
		"order=oldest":                                  {ten, ruled, two, byAgent},
		"order=oldest&projectId=default-open":           {ten, ruled, two},
		"order=expires&status=PENDING":                  {ten, ruled, two, byAgent},
		"order=amount":                                  {ten, ruled, two, byAgent},
		"order=amount&status=REJECTED":                  nil,
		"projectId=default-hides":                       nil,
		"projectId=default-open&agentId=" + agent:       nil,
		"projectId=default-open&group=finance&q=ben":    {ruled},
	} {
		page := w.viewer.Get("/approvals?"+path).OK(t).Is(t, "total", len(want))
		if diff := cmp.Diff(want, ids(page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	w.viewer.Get("/approvals?order=amount&limit=2&offset=1").OK(t).Is(t, "items.0.id", ruled).Is(t, "items.1.id", two).Is(t, "items.2", harness.Absent).Is(t, "total", 4).Is(t, "nextOffset", 3)

	hidden := asks("default-hides", "pay", "860047", "Eve")
	w.operator.Get("/approvals?q=860047").OK(t).Is(t, "items.0.id", hidden).Is(t, "total", 1)
	w.viewer.Get("/approvals?q=860047").OK(t).Is(t, "total", 0)
	w.operator.Get("/approvals?order=amount").OK(t).Is(t, "items.0.id", hidden).Is(t, "total", 5)
	w.viewer.Get("/approvals?order=amount").Refused(t, "invalid_request", "order: the amounts of default-hides/pay are hidden from you; order by oldest or expires")
	w.viewer.Get("/approvals?order=amount&projectId=default-open").OK(t).Is(t, "total", 3)
	for _, bad := range []string{"order=newest", "group=a/b", "projectId=", "agentId=-a"} {
		w.viewer.Get("/approvals?"+bad).Refused(t, "invalid_request")
	}
	token, _ := w.agentToken(t, agent)
	token.Get("/approvals?agentId="+agent).Refused(t, "role_required")
}
