package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// TestTheDeskInTheBrowser are the stories of whoever decides one after the other, on one service.
func TestTheDeskInTheBrowser(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	t.Run("WhatIsDecidedOneAfterTheOther", h.whatIsDecidedOneAfterTheOther)
	t.Run("ACorrectionIsTypedOverAnInput", h.aCorrectionIsTypedOverAnInput)
	t.Run("OthersDecideMeanwhile", h.othersDecideMeanwhile)
	t.Run("ADraftIsKept", h.aDraftIsKept)
	t.Run("PagesOfTheDeskAreSound", h.pagesOfTheDeskAreSound)
}

// deskStage is a stage whose refunds name their amount in a title.
func (f *fixture) deskStage(t *testing.T) (*stage, *tab) {
	t.Helper()
	s := f.newStage(t)
	s.all = s.token("ADMIN", "OPERATOR", "APPROVER")
	text, amount := harness.Input("string", true), harness.Input("number", true)
	more := doc{"title": "Refund {amount} to the customer of {orderId}", "probe": "refund.read", "inputSchema": doc{"orderId": text, "amount": amount, "currency": harness.Input("string", false), "note": harness.Input("string", false)}}
	p := s.project()
	p["capabilities"] = []any{
		harness.Capability("refund.create", "POST", "/refunds", more),
		harness.Capability("refund.read", "GET", "/refunds", doc{"inputSchema": doc{"orderId": text}}),
		harness.Capability("orders.delete", "DELETE", "/orders/{orderId}", doc{"title": "Delete order {orderId} for good", "inputSchema": doc{"orderId": text}}),
	}
	p["expectedRevision"] = 1
	s.admin.Put("/projects/"+s.shop(), p).OK(t)
	s.admin.Post("/projects/"+s.shop()+"/health-check", nil).OK(t)
	s.admin.Post("/projects/"+s.shop()+"/enable", doc{"expectedRevision": 2}).OK(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"state":"succeeded"}`))
	s.receiver.On("DELETE", "/orders/A-1", harness.Answering(200, `{"deleted":true}`))
	mara := newTab(t, s.Server)
	mara.signIn(s.mail("mara"))
	return s, mara
}

// wants starts a call that waits for an approval.
func (s *stage) wants(capability string, inputs doc) (run, approval string) {
	s.t.Helper()
	s.keys++
	run = s.all.Post("/projects/"+s.shop()+"/runs", doc{"capability": capability, "mode": "LIVE", "inputs": inputs}, harness.Header(fmt.Sprintf("Idempotency-Key: desk-%d", s.keys))).OK(s.t).At("id").Text()
	return run, s.reaches(run, "WAITING_APPROVAL").At("approvalId").Text()
}

func refundOf(order, amount string) doc {
	return doc{"orderId": order, "amount": json.Number(amount), "currency": "EUR"}
}

// whatIsDecidedOneAfterTheOther: after each decision the next one stands there, and what became of
// the last one is said; no page but those of the desk is seen.
func (f *fixture) whatIsDecidedOneAfterTheOther(t *testing.T) {
	t.Helper()
	s, mara := f.deskStage(t)
	const n = 4
	for i := range n {
		s.wants("refund.create", refundOf(fmt.Sprintf("A-%d", i), fmt.Sprintf("%d.50", 10+i)))
		s.wants("orders.delete", doc{"orderId": "A-1"}) // so that they make no group
	}
	mara.open("/desk")
	mara.press("main", "Begin with it")
	for i := range 2 * n {
		mara.at("/approvals/")
		mara.until("the list to have what is left", fmt.Sprintf(`document.querySelectorAll(".it").length === %d`, 2*n-i))
		mara.fill("#why", "as the warehouse says")
		mara.press("#decide", "Approve and send")
		mara.sees("Approved by you")
	}
	mara.at("/desk")
	mara.sees("Nothing is waiting for you.")
	mara.until("the outcome of the last one to arrive", `document.getElementById("last").textContent.includes("answered")`)
	if got := s.refunds(); got != n {
		t.Errorf("%d refunds were sent", got)
	}
}

// aCorrectionIsTypedOverAnInput: no JSON is typed, and a corrected request can't be approved.
func (f *fixture) aCorrectionIsTypedOverAnInput(t *testing.T) {
	t.Helper()
	s, mara := f.deskStage(t)
	run, approval := s.wants("refund.create", refundOf("A-90211", "4890"))
	mara.open("/approvals/" + approval)
	mara.fill(`[name="input.amount"]`, "4850")
	mara.sees("Reject with 1 correction")
	mara.until("the approval to be off", `document.querySelector("[data-approve]").getAttribute("aria-disabled") === "true"`)
	mara.judge("an approval that is corrected", "as it is")
	mara.fill("#why", "not the deposit: the order says 4,850")
	mara.press("#decide", "Reject with 1 correction")
	mara.sees("Rejected with a correction by you")
	s.reaches(run, "FAILED")
	s.all.Get("/approvals/"+approval).OK(t).Is(t, "suggestedInput.amount", 4850).Is(t, "suggestedInput.orderId", "A-90211")
}

// othersDecideMeanwhile: an open page says so where it stands, and keeps what was typed; what is
// new waits above the list.
func (f *fixture) othersDecideMeanwhile(t *testing.T) {
	t.Helper()
	s, mara := f.deskStage(t)
	first, approval := s.wants("refund.create", refundOf("A-1", "1"))
	second, _ := s.wants("refund.create", refundOf("A-2", "2"))
	mara.open("/approvals/" + approval)
	mara.until("the count", `document.title.startsWith("(2) ")`)
	mara.fill("#why", "half of a reason")
	jon := s.token("APPROVER")
	s.decide(jon, second, "REJECTED", "not this one")
	mara.until("the row of the second to say so", `Array.from(document.querySelectorAll(".it--done")).some(function (e) { return e.textContent.includes("Rejected by") })`)
	s.wants("refund.create", refundOf("A-3", "3"))
	mara.until("the new one to wait above", `!document.getElementById("new").hidden`)
	mara.until("no row to have moved", `document.querySelectorAll(".it").length === 2`)
	s.decide(jon, first, "APPROVED", "it is right")
	mara.until("the act to be gone", `!document.querySelector("[data-decides]") && document.getElementById("decide").textContent.includes("half of a reason")`)
	mara.sees("approved it.")
}

func (f *fixture) pagesOfTheDeskAreSound(t *testing.T) {
	t.Helper()
	s, mara := f.deskStage(t)
	_, approval := s.wants("refund.create", refundOf("A-90211", "4890"))
	s.wants("refund.create", refundOf("A-90211", "4890"))
	s.wants("refund.create", refundOf("А-48213", "59.90"))
	for i := range 5 {
		s.wants("orders.delete", doc{"orderId": fmt.Sprintf("A-%d", 100+i)})
	}
	mara.look("desk", "/desk")
	mara.look("desk approval", "/approvals/"+approval)
	mara.look("desk others", "/desk?in=others")
	mara.look("desk recovery", "/desk?in=recovery")
	mara.do(chromedp.EmulateViewport(1280, 900))
	mara.open("/desk")
	js[bool](mara, `(function () { document.querySelector(".its__g").open = true; return true })()`)
	mara.press("main", "Read them together")
	mara.judge("desk group", "as it is")
}
