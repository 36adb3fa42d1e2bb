package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/harness"
)

// TestAnApproverApprovesWithAPhone: from the link in the message to an approved refund of
// EUR 249.00 in three taps (the link, the reason's field, the button) and one typed reason, at
// a width of 390 pixels. The page of accounts that decide in Slack is looked at as well.
func TestAnApproverApprovesWithAPhone(t *testing.T) {
	if !started(t) {
		return
	}
	slack := slacktest.Open(t)
	h := newFixture(t, harness.Set("SLACK_URL", slack.URL()), harness.Set("SLACK_APP_TOKEN", slacktest.AppToken), harness.Set("SLACK_BOT_TOKEN", slacktest.BotToken), harness.Set("SLACK_CHANNELS", "default=C0APPROVALS"))
	s := h.furnish(t, "default", h.Admin)
	capability := harness.Capability("refund.create", "POST", "/refunds", doc{
		"title": "Refund EUR {amount} for order {orderId}", "approval": "ALWAYS", "expectation": doc{"field": "state", "equals": "succeeded"},
		"inputSchema": doc{"orderId": harness.Input("string", true), "amount": harness.Input("number", true)},
	})
	s.admin.Put("/projects/default-desk", harness.With(s.project(), "capabilities", []any{capability})).OK(t)
	s.admin.Post("/projects/default-desk/health-check", nil).OK(t)
	s.admin.Post("/projects/default-desk/enable", doc{"expectedRevision": 1}).OK(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"id":"re_1","state":"succeeded"}`))
	s.all = s.token("OPERATOR")
	run := s.all.Post("/projects/default-desk/runs", doc{"capability": "refund.create", "mode": "LIVE", "inputs": doc{"orderId": "A-48213", "amount": json.Number("249.00")}}, "Idempotency-Key: phone").OK(t).At("id").Text()
	var m slacktest.Message
	slack.Until("the message", func() bool {
		for _, m = range slack.Messages("C0APPROVALS") {
			return true
		}
		return false
	})
	slack.Join(slacktest.Member{ID: "U1", Email: s.mail("mara"), Name: "Mara"})
	slack.Press("U1", m, "approve") // asks to be confirmed

	p := newTab(t, h.Server)
	p.signIn(s.mail("mara"))
	p.do(chromedp.EmulateViewport(390, 844))
	p.look("chat accounts", "/settings")
	_, page, ok := strings.Cut(m.Link(), "/console")
	if !ok {
		t.Fatalf("the message has no link: %q", m.Link())
	}
	p.look("approval with a phone", page)
	p.do(chromedp.EmulateViewport(390, 844))
	taps := 1
	p.open(page) // the tap on the link
	p.sees("Refund EUR 249.00 for order A-48213")
	p.tap(`textarea[name="reason"]`)
	p.until("the reason's field to have the focus", `document.activeElement.name === "reason"`)
	p.fill(`[name="reason"]`, "the item came back")
	taps++
	p.tap(`button[value="APPROVED"]`)
	taps++
	p.at("/desk")
	p.sees("Approved by you")
	s.reaches(run, "COMPLETED")
	if n := s.refunds(); n != 1 || taps > 3 {
		t.Errorf("%d refunds were sent after %d taps", n, taps)
	}
	p.until("the outcome to arrive", `document.getElementById("last").textContent.includes("verified after")`)
}

// tap presses what stands in the middle of an element, as a finger does: nothing may cover it,
// and it must be large enough.
func (p *tab) tap(selector string) {
	p.t.Helper()
	p.until("to tap "+selector, `(function () { var e = document.querySelector(`+quoted(selector)+`); if (!e) return false; e.scrollIntoView({block: "center", behavior: "instant"}); var r = e.getBoundingClientRect(); var x = r.left + r.width / 2, y = r.top + r.height / 2; var top = document.elementFromPoint(x, y); if (r.height < 40 || r.left < 0 || r.right > innerWidth || !top || !e.contains(top)) return false; e.focus(); top.click(); return true })()`)
}
