package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestDecisionsInTheBrowser are the stories of people who decide, on one service.
func TestDecisionsInTheBrowser(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	t.Run("AnUncertainOutcomeIsProbedAndReconciled", h.anUncertainOutcomeIsProbedAndReconciled)
	t.Run("ARejectedApprovalEndsTheRun", h.aRejectedApprovalEndsTheRun)
	t.Run("TwoTabsDecideAtOnce", h.twoTabsDecideAtOnce)
	t.Run("AnExpiredSessionKeepsTheText", h.anExpiredSessionKeepsTheText)
	t.Run("AForeignFormDecidesNothing", h.aForeignFormDecidesNothing)
}

// waiting starts the refund and returns its run and its pending approval.
func (s *stage) waiting(plan string) (run, approval string) {
	s.t.Helper()
	run = s.start(plan)
	return run, s.reaches(run, "WAITING_APPROVAL").At("approvalId").Text()
}

// readyStage makes a stage with a model and a LIVE plan, and two signed-in people of the shop.
func (f *fixture) readyStage(t *testing.T) (s *stage, plan string, ines, mara *tab) {
	t.Helper()
	s = f.newStage(t)
	s.all = s.token("ADMIN", "OPERATOR", "APPROVER")
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(t)
	s.receiver.On("GET", "/refunds/A-48213", harness.Answering(200, `{"state":"succeeded","amount":249.00}`))
	plan = s.refund("refund-live", "A-48213", "LIVE")
	ines, mara = newTab(t, s.Server), newTab(t, s.Server)
	ines.signIn(s.mail("ines"))
	mara.signIn(s.mail("mara"))
	return s, plan, ines, mara
}

// anUncertainOutcomeIsProbedAndReconciled: the run goes on, and the request is not sent again.
func (f *fixture) anUncertainOutcomeIsProbedAndReconciled(t *testing.T) {
	t.Helper()
	s, plan, ines, mara := f.readyStage(t)
	s.receiver.On("POST", "/refunds", harness.HangingUp())
	run, approval := s.waiting(plan)
	ines.open("/runs/" + run)
	ines.sees("Waiting for an approver’s decision")
	mara.open("/approvals/" + approval)
	mara.fill(`[name="reason"]`, "item is back")
	mara.press("main", "Approve and send")
	ines.sees("may or may not have been")
	mara.open("/recovery")
	mara.press("main", "Refund payment")
	mara.at("/recovery/" + run)
	mara.press("main", "Probe")
	mara.sees("Probe 1")
	mara.choose("resolution", "CONFIRMED_COMPLETED")
	mara.fill(`[name="output"]`, `{"state":"pending"}`)
	mara.fill(`[name="evidence"]`, "the shop's console shows refund re_9F27C1")
	mara.press("#decide", "Record: it happened")
	mara.sees(`Not recorded: state is "pending", expected "succeeded"`)
	mara.until("the text to be kept", `document.querySelector('[name="evidence"]').value.includes("re_9F27C1")`)
	mara.fill(`[name="output"]`, `{"state":"succeeded"}`)
	mara.press("#decide", "Record: it happened")
	mara.sees("Recorded:")
	ines.sees("Done.")
	if n := s.refunds(); n != 1 {
		t.Errorf("the refund was sent %d times", n)
	}
}

func (f *fixture) aRejectedApprovalEndsTheRun(t *testing.T) {
	t.Helper()
	s, plan, ines, mara := f.readyStage(t)
	run, approval := s.waiting(plan)
	ines.open("/runs/" + run)
	mara.open("/approvals/" + approval)
	mara.click("main", "Reject", "") // the browser itself requires a reason
	mara.fill(`[name="reason"]`, "the item never came back")
	mara.press("main", "Reject")
	mara.sees("Rejected by you")
	ines.sees("rejected it: “the item never came back”")
	if n := s.refunds(); n != 0 {
		t.Errorf("the refund was sent %d times", n)
	}
}

// twoTabsDecideAtOnce: one decides, the other sees who did; one request is sent.
func (f *fixture) twoTabsDecideAtOnce(t *testing.T) {
	t.Helper()
	s, plan, _, mara := f.readyStage(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"id":"re_1","state":"succeeded"}`))
	s.admin.Put("/users/"+s.mail("ben"), doc{"roles": []string{"APPROVER"}}).OK(t)
	ben := newTab(t, s.Server)
	ben.signIn(s.mail("ben"))
	run, approval := s.waiting(plan)
	for _, p := range []*tab{mara, ben} {
		p.open("/approvals/" + approval)
		p.fill(`[name="reason"]`, "decided by one of two")
	}
	mara.press("main", "Approve and send")
	mara.sees("Approved by you")
	ben.press("main", "Reject")
	ben.sees(s.mail("mara") + " decided this")
	ben.sees("Nothing was sent twice")
	s.reaches(run, "COMPLETED")
	if n := s.refunds(); n != 1 {
		t.Errorf("the refund was sent %d times", n)
	}
}

// anExpiredSessionKeepsTheText: a person whose session has ended decides nothing, and the page shows the text
// that was typed.
func (f *fixture) anExpiredSessionKeepsTheText(t *testing.T) {
	t.Helper()
	s, plan, _, mara := f.readyStage(t)
	run, approval := s.waiting(plan)
	mara.open("/approvals/" + approval)
	mara.fill(`[name="reason"]`, "a reason that took a while to write")
	s.admin.Delete("/users/" + s.mail("mara")).OK(t)
	mara.press("main", "Approve and send")
	mara.sees("You have been signed out")
	mara.sees("a reason that took a while to write")
	s.admin.Put("/users/"+s.mail("mara"), doc{"roles": []string{"APPROVER"}}).OK(t)
	s.reaches(run, "WAITING_APPROVAL")
	mara.signIn(s.mail("mara"))
	mara.open("/approvals/" + approval)
	mara.sees("Waiting for approval")
}

// aForeignFormDecidesNothing: neither a form without the page's token, nor one that another site makes the
// browser send.
func (f *fixture) aForeignFormDecidesNothing(t *testing.T) {
	t.Helper()
	s, plan, _, mara := f.readyStage(t)
	run, approval := s.waiting(plan)
	mara.open("/approvals/" + approval)
	js[bool](mara, `document.querySelectorAll('[name="csrf"]').forEach(function (f) { f.value = "forged" }) || true`)
	mara.fill(`[name="reason"]`, "forged")
	mara.press("main", "Approve and send")
	mara.sees("This form could not be accepted")
	form := url.Values{"decision": {"APPROVED"}, "reason": {"forged"}}.Encode()
	evil := harness.NewReceiver(t)
	page := `<form id="f" method="post" action="` + s.URL + `/console/approvals/` + approval + `/decision">` + hiddenFields(form) + `</form><script>document.getElementById("f").submit()</script>`
	evil.On("GET", "/", harness.Typed(200, "text/html", page))
	js[bool](mara, `(location.href = `+quoted(strings.Replace(evil.Origin(), "127.0.0.1", "localhost", 1)+"/")+`) && true`)
	mara.until("the forged form to be refused", `location.pathname.endsWith("/decision") && document.body.innerText.includes("another site")`)
	s.reaches(run, "WAITING_APPROVAL")
	if n := s.refunds(); n != 0 {
		t.Errorf("the refund was sent %d times", n)
	}
}

func hiddenFields(form string) string {
	var b strings.Builder
	values, _ := url.ParseQuery(form) // never fails for the form encoded above
	for name := range values {
		b.WriteString(`<input type="hidden" name="` + name + `" value="` + values.Get(name) + `">`)
	}
	return b.String()
}
