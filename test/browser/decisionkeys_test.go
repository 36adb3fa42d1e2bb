package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/countersign/countersign/test/harness"
)

// TestAnApprovalIsSignedInTheBrowser, by its own dialog: whoever has no passkey is told where to add one, adds it, and approves with the
// keyboard alone, for a reason of several lines.
func TestAnApprovalIsSignedInTheBrowser(t *testing.T) {
	if !started(t) {
		return
	}
	address := harness.UnusedAddress(t)
	_, port, _ := strings.Cut(address, ":")
	public := "http://localhost:" + port
	h := newFixture(t, harness.Set("LISTEN", address), harness.Set("PUBLIC_URL", public))
	h.URL = public
	s, plan, ines, mara := h.readyStage(t)
	ada := newTab(t, s.Server)
	ada.signIn(s.mail("ada"))
	ada.open("/settings")
	ada.fill("#sign-why", "policy 7.2")
	ada.press("#approvals", "Have approvals signed")
	ada.sees("Each approval is signed with a passkey")
	ada.judge("settings where approvals are signed", "as it is")

	s.receiver.On("POST", "/refunds", harness.Answering(200, `{"state":"succeeded"}`))
	run, approval := s.waiting(plan)
	ines.open("/runs/" + run)
	mara.hasAuthenticator()
	mara.open("/approvals/" + approval)
	mara.sees("You have no passkey that can")
	mara.judge("an approval to sign without a passkey", "as it is")
	mara.press("#decide", "add one in the settings")
	mara.fill("#passkey-name", "this laptop")
	mara.press("#passkeys", "Add a passkey")
	mara.sees("this laptop")

	mara.open("/approvals/" + approval)
	mara.judge("an approval to sign", "as it is")
	mara.until("its script", `document.querySelector("[data-sign]") && document.readyState === "complete"`)
	mara.fill(`[name="reason"]`, "  the item is back,\nas the warehouse says é ")
	js[bool](mara, `document.querySelector('[name="decision"][value="APPROVED"]').focus() || true`)
	mara.do(chromedp.KeyEvent(kb.Enter))
	mara.sees("Approved by you")
	ines.sees("Done.")
	if n := s.refunds(); n != 1 {
		t.Errorf("the refund was sent %d times", n)
	}
	a := s.all.Get("/approvals/"+approval).OK(t).Is(t, "decisions.0.reason", "the item is back,\r\nas the warehouse says é")
	if a.At("decisions.0.assertion.signature").Text() == "" {
		t.Error("it is not signed")
	}
	mara.open("/approvals/" + approval)
	mara.sees("signed with a passkey")

	_, rejected := s.waiting(plan)
	mara.open("/approvals/" + rejected)
	mara.fill(`[name="reason"]`, "no")
	mara.press("#decide", "Reject")
	mara.sees("Rejected by you")
	s.all.Get("/approvals/"+rejected).OK(t).Is(t, "status", "REJECTED")
}
