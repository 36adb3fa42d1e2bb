package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// aDraftIsKept: what is typed is there again when one comes back to it, choices are not, and what
// was taken is gone.
func (h *fixture) aDraftIsKept(t *testing.T) {
	t.Helper()
	s, mara := h.deskStage(t)
	_, first := s.wants("refund.create", refundOf("A-1", "12.50"))
	_, second := s.wants("refund.create", refundOf("A-2", "13.50"))
	mara.open("/approvals/" + first)
	mara.fill(`[name="input.amount"]`, "11.50")
	mara.sees("Reject with 1 correction")
	mara.fill("#why", "half of a reaso")
	mara.do(chromedp.KeyEvent("n")) // by hand: a browser asks who leaves only if they have touched the page
	mara.open("/approvals/" + second)
	mara.until("another one to have no draft", `document.querySelector("#why").value === ""`)
	mara.open("/approvals/" + first)
	mara.sees("What you typed here before is back.")
	mara.sees("Reject with 1 correction")
	mara.until("the reason to be back", `document.querySelector("#why").value === "half of a reason"`)
	mara.click("#decide", "Discard it", "")
	mara.until("the dock to be as it was", `document.querySelector("#why").value === "" && !document.querySelector("[data-approve]").hasAttribute("aria-disabled")`)
	mara.fill("#why", "as the warehouse says")
	mara.press("#decide", "Approve and send")
	mara.sees("Approved by you")
	mara.until("nothing of it to be kept", `Object.keys(sessionStorage).every(function (k) { return k.indexOf("draft") !== 0 })`)
}
