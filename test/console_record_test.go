package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAnAgentHasARecord of what became of its effects, with what stands still because of it first,
// and meters of its budgets. Rehearsals and reads don't count.
func TestAnAgentHasARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "VIEWER")
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true}`), harness.Answering(200, `{"ok":false}`))
	id := w.admitted(t, harness.With(agentItem("clerk", "note", "refund"), "capabilities", []any{"note", "refund", "lookup"}))[0]
	w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known", "budgets": []any{doc{"count": 5, "window": "1h", "then": "DENY", "reason": "five an hour"}}}).OK(t)
	says(t, vic.Open("/agents/"+id), 200, "It has done nothing yet.", "of 5", "five an hour")
	start := func(mode, capability string, inputs doc) string {
		return w.asks(id, harness.With(agentRun(mode, capability, inputs), "expectedRevision", 1)).OK(t).At("id").Text()
	}
	for _, fate := range []string{"COMPLETED", "FAILED"} {
		w.reaches(t, start("LIVE", "note", doc{}), fate)
	}
	w.reaches(t, start("DRY_RUN", "note", doc{}), "COMPLETED")
	rejected := w.approval(t, start("LIVE", "refund", doc{"orderId": "o", "amount": 1})).At("id").Text()
	w.approver.Post("/approvals/"+rejected+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	waits := w.approval(t, start("LIVE", "refund", doc{"orderId": "p", "amount": 1})).At("id").Text()
	p := vic.Open("/agents/" + id)
	mustSay(t, p, 200, "It waits for a person’s decision.", "last 3 effects", "Verified1", "Rejected1", "Not as expected1", "Unknown0", "Waits for a person1", "2 of 5")
	mustHold(t, p, `href="/console/approvals/`+waits+`"`, `class="c-ok"`, `class="c-no"`, `class="c-rej"`, `role="meter"`, `class="t-w"`, `class="t-ok"`)
	if n := strings.Count(p.Text, `<a class="gt__r"`); n != 4 {
		t.Errorf("%d runs are drawn, without the rehearsal: 4", n)
	}
	if strings.Contains(p.Text, " %<") {
		t.Error("of three effects no share is said")
	}
}
