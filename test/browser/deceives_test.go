package browser

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestPagesOfWhatDeceivesAreSound looks at what an approver and a reviewer must not miss: headers
// that changed, a letter that passes for another, an answer that contradicts the request.
func TestPagesOfWhatDeceivesAreSound(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.all = s.token("OPERATOR")
	mara := s.token("APPROVER")
	capability := harness.Capability("orders.ship", "POST", "/orders", doc{"inputSchema": doc{"orderId": harness.Input("string", true), "amount": harness.Input("number", true)}, "title": "Ship order {orderId}", "probe": "orders.find"})
	find := harness.Capability("orders.find", "GET", "/orders", doc{"inputSchema": doc{"orderId": harness.Input("string", true)}})
	sends := func(environment string, revision int) {
		project := s.project()
		project["capabilities"], project["expectedRevision"] = []any{capability, find}, revision
		project["headers"] = doc{"X-Environment": environment, "X-Merchant": "desk"}
		s.admin.Put("/projects/"+s.shop(), project).OK(t)
		s.admin.Post("/projects/"+s.shop()+"/health-check", nil).OK(t)
		s.admin.Post("/projects/"+s.shop()+"/enable", doc{"expectedRevision": revision + 1}).OK(t)
	}
	ship := func(order string) string {
		s.keys++
		call := doc{"capability": "orders.ship", "mode": "LIVE", "inputs": doc{"orderId": order, "amount": 53.5}}
		return s.all.Post("/projects/"+s.shop()+"/runs", call, harness.Header(fmt.Sprintf("Idempotency-Key: ship-%d", s.keys))).OK(t).At("id").Text()
	}
	s.receiver.On("POST", "/orders", harness.HangingUp())
	s.receiver.On("GET", "/orders", harness.Answering(200, `{"orderId":"A-48213","amount":249}`))
	sends("staging", 1)
	lost := ship("A-48213")
	s.decide(mara, lost, "APPROVED", "the goods are there")
	s.reaches(lost, "RECOVERY_REQUIRED")
	mara.Post("/runs/"+lost+"/probe", doc{"stepId": s.reaches(lost, "RECOVERY_REQUIRED").At("steps.0.id").Text()}).OK(t)
	p := newTab(t, h.Server)
	p.signIn(s.mail("mara"))
	p.look("recovery that differs", "/recovery/"+lost+"?output=probe-1")
	p.sees("1 of 2 differs from what was sent: amount 249, sent 53.5")
	p.choose("resolution", "CONFIRMED_COMPLETED")
	p.fill(`[name="evidence"]`, "the shop's list")
	p.press("#decide", "Record: it happened")
	p.sees("Not recorded: what you state differs from what was sent")
	p.press("main", "Probe again")
	p.sees("Probe 2")
	p.until("the text to be kept", `document.querySelector('[name="evidence"]').value === "the shop's list" && document.querySelector('[name="resolution"]:checked').value === "CONFIRMED_COMPLETED"`)
	js[bool](p, `(function () { document.querySelector('[name="differs"]').click(); return true })()`)
	p.press("#decide", "Record it with the difference")
	p.sees("Recorded:")
	p.look("run with headers", "/runs/"+lost)
	sends("production", 2)
	waiting := ship("\u0410-48213")
	p.look("approval with other headers", "/approvals/"+s.reaches(waiting, "WAITING_APPROVAL").At("approvalId").Text())
	p.sees("is Cyrillic (U+0410), looks like A")
	p.sees("X-Environment")
}
