package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestTheCommandLineSaysWhatWaits, what is used of budgets, and what another gate would do.
func TestTheCommandLineSaysWhatWaits(t *testing.T) {
	t.Parallel()
	w := newShell(t)
	bounds := []doc{{"count": 5, "window": "1h", "then": "ASK", "reason": "five"}}
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"title": "Pay {amount}", "budgets": bounds, "inputSchema": doc{"amount": harness.Input("number", true)}}),
	}))
	id := w.run(t, harness.With(step("p", "pay", doc{"amount": number("12.50")}), "projectId", "default-pays"))
	approval := w.approval(t, id).At("id").Text()
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "not today"}).OK(t)
	w.reaches(t, id, "FAILED")
	waits := w.run(t, harness.With(step("p", "pay", doc{"amount": number("3")}), "projectId", "default-pays"))
	w.approval(t, waits)

	prints(t, w.command(t, 0, "waiting", "--profile", "approver").Out, "1 approvals, 0 recoveries and 0 changes wait for you")
	w.asked(t, "waiting", "--profile", "approver").Is(t, "waiting.approvals", 1)
	prints(t, w.command(t, 0, "budgets", "--project", "default-pays").Out, "pay", "5 steps", "1h", "ASK", "five", "0")
	agent := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	w.asked(t, "budgets", "--agent", agent).Is(t, "items", []any{})
	w.command(t, 2, "budgets")
	file := w.file(t, "what-if.json", doc{"capability": "pay", "last": 100, "approval": "NONE"})
	prints(t, w.command(t, 0, "projects", "what-if", "default-pays", file, "--profile", "viewer").Out, "2 runs played; nothing is changed.", "1 would have gone out unasked that a person rejected", id, "not today", "12.50")
	w.command(t, 2, "projects", "what-if", "default-pays")
	w.command(t, 2, "projects", "what-if", "default-pays", file, "--change", "chg-none")
	w.command(t, 3, "projects", "what-if", "default-pays", "--change", "chg-none", "--last", "5")
}
