package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAViewerIsNotToldWhichBudgetASensitiveInputExceeded: it tells what the inputs come to, be the budget the capability's or the agent's.
func TestAViewerIsNotToldWhichBudgetASensitiveInputExceeded(t *testing.T) {
	t.Parallel()
	const id = "default-hidden"
	w := ownWorld(t)
	sum := func(most, then string) doc {
		return doc{"sum": "amount", "most": number(most), "window": "24h", "then": then, "reason": "told-budget more than " + most}
	}
	capability := func(name string, budgets ...any) doc {
		return harness.Capability(name, "POST", "/pay", doc{"inputSchema": doc{"amount": harness.Input("number", true)}, "sensitive": []string{"amount"}, "approval": "NONE", "budgets": append([]any{}, budgets...)})
	}
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	w.register(t, id, harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		capability("asks", sum("860047008601", "ASK"), harness.With(countOf(900, "DENY"), "reason", "counted")), capability("denies", sum("860047008602", "DENY")), capability("free"),
	}))
	agent := syncTo(w.operator, id, harness.With(agentItem("clerk", "asks", "refund"), "capabilities", []any{"free"})).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+agent+"/admit", doc{"reason": "r", "budgets": []any{sum("860047008603", "DENY")}}).OK(t)

	pays := func(capability string) string {
		return w.run(t, harness.With(step("p", capability, doc{"amount": number("860047008604")}), "projectId", id))
	}
	asked, denied := pays("asks"), pays("denies")
	ofAgent := w.asks(agent, agentRun("LIVE", "free", doc{"amount": number("860047008604")})).OK(t).At("id").Text()
	approval := w.approval(t, asked).At("id").Text()
	w.reaches(t, denied, "FAILED")
	w.reaches(t, ofAgent, "FAILED")
	paths := []string{
		"/projects", "/projects/" + id, "/agents", "/agents/" + agent, "/approvals", "/approvals/" + approval, "/runs", "/runs/" + asked, "/runs/" + denied, "/runs/" + ofAgent,
		"/runs/" + denied + "/receipt", "/runs/" + ofAgent + "/receipt",
	}
	for _, path := range paths {
		whole, shown := w.operator.Get(path).OK(t).String(), w.viewer.Get(path).OK(t).String()
		for _, value := range []string{"told-budget", "860047008601", "860047008602", "860047008603", "860047008604"} {
			if strings.Contains(shown, value) {
				t.Errorf("%s tells a VIEWER %s", path, value)
			}
		}
		if !strings.Contains(whole, "told-budget") && path != "/runs" {
			t.Errorf("%s doesn't tell an OPERATOR", path)
		}
	}
	w.viewer.Get("/projects/"+id).OK(t).Is(t, "capabilities.0.budgets.1.reason", "counted") // it adds nothing
	w.viewer.Get("/runs/"+denied).OK(t).Has(t, "steps.0.error.code", "denied_by_budget")
	w.holds(t, w.viewer, denied)
	w.holds(t, w.viewer, ofAgent)
	console := w.person(t, "vera@example.com", "VIEWER")
	for _, page := range []string{"/agents/" + agent, "/projects/" + id, "/runs/" + asked, "/runs/" + denied, "/runs/" + ofAgent, "/approvals/" + approval, "/approvals"} {
		if text := console.Open("/console" + page).Text; strings.Contains(text, "told-budget") {
			t.Errorf("the console's %s tells a VIEWER", page)
		}
	}
}
