package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAnApprovalSaysWhatIsUsualAndWhoAsks: what it is compared with is what was approved of its
// capability and what became of runs of the same asker, in the reader's scope, and nothing of it
// is said below five or of what the reader may not see.
func TestAnApprovalSaysWhatIsUsualAndWhoAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pay := func(name string, more doc) doc {
		more["inputSchema"] = doc{"orderId": harness.Input("string", true), "amount": harness.Input("number", true)}
		more["expectation"] = doc{"field": "ok", "equals": true}
		return harness.Capability(name, "POST", "/refunds", more)
	}
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		pay("pay", doc{"title": "Pay {amount} for {orderId}"}), pay("other", doc{"title": "Pay {amount}"}), pay("hidden", doc{"title": "Pay {amount}", "sensitive": []string{"amount"}}),
	}))
	asks := func(capability, amount string) (run, approval string) {
		run = w.run(t, harness.With(step("p", capability, doc{"orderId": "o-" + amount, "amount": number(amount)}), "projectId", "default-pays"))
		return run, w.approval(t, run).At("id").Text()
	}
	approve := func(capability, amount string) {
		run, approval := asks(capability, amount)
		w.approver.Post("/approvals/"+approval+"/decision", approved).OK(t).Is(t, "decisions.0.via", "api")
		w.reaches(t, run, "COMPLETED")
	}
	for _, amount := range []string{"40", "10", "9007199254740993", "0.5"} {
		approve("pay", amount)
	}
	approve("other", "7")
	run, rejected := asks("pay", "77")
	w.approver.Get("/approvals/"+rejected).OK(t).Is(t, "usual", harness.Absent).
		Is(t, "requesterRecord.runs", 5).Is(t, "requesterRecord.verified", 5).Is(t, "requesterRecord.rejected", 0)
	better := doc{"orderId": "o-77", "amount": number("20.0")}
	w.approver.Post("/approvals/"+rejected+"/decision", doc{"decision": "REJECTED", "reason": "too much", "suggestedInput": better}).OK(t)
	w.reaches(t, run, "FAILED")
	approve("pay", "20")

	again := w.run(t, harness.With(step("p", "pay", doc{"orderId": "o-77", "amount": number("2e1")}), "projectId", "default-pays"))
	a := w.approval(t, again).At("id").Text()
	got := w.approver.Get("/approvals/"+a).OK(t).
		Is(t, "usual.count", 5).Is(t, "usual.field", "amount").Is(t, "usual.median", number("20")).
		Is(t, "requesterRecord.runs", 7).Is(t, "requesterRecord.verified", 6).Is(t, "requesterRecord.rejected", 1).
		Is(t, "suggestedFrom.approvalId", rejected).Is(t, "suggestedFrom.runId", run)
	if by := got.At("suggestedFrom.by").Text(); by != w.approver.Get("/approvals/"+rejected).OK(t).At("decidedBy").Text() {
		t.Errorf("suggested by %s", by)
	}
	w.viewer.Get("/approvals/"+a).OK(t).Is(t, "usual.median", number("20"))
	w.viewer.Get("/approvals").OK(t).Is(t, "items.0.id", a).Is(t, "items.0.usual", harness.Absent).Is(t, "items.0.requesterRecord", harness.Absent).
		Is(t, "items.1.decisions.0.via", "api")

	for range 5 {
		approve("hidden", "3")
	}
	_, hidden := asks("hidden", "4")
	w.approver.Get("/approvals/"+hidden).OK(t).Is(t, "usual.count", 5).Is(t, "suggestedFrom", harness.Absent)
	w.viewer.Get("/approvals/"+hidden).OK(t).Is(t, "usual", harness.Absent).Is(t, "requesterRecord.runs", 12)
}
