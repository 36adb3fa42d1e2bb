package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// namesAreFoundAsOneTypes, below the field; the arrows go into them, and Escape puts them away.
// The keys are listed over the page.
func (h *fixture) namesAreFoundAsOneTypes(t *testing.T) {
	t.Helper()
	_, mara := h.deskStage(t)
	mara.open("/runs")
	mara.fill(".search input", "refund")
	mara.until("names to stand below it", `document.querySelectorAll("#names a").length > 1`)
	mara.judge("names that are found", "as it is")
	js[bool](mara, `(document.querySelector(".search input").focus(), true)`)
	mara.do(chromedp.KeyEvent(kb.ArrowDown))
	mara.until("the first of them to have the focus", `document.activeElement === document.querySelector("#names a")`)
	mara.do(chromedp.KeyEvent(kb.Escape))
	mara.until("them to be away", `document.getElementById("names").textContent === "" && document.activeElement === document.querySelector(".search input")`)
	mara.open("/runs")
	mara.do(chromedp.KeyEvent("?"))
	mara.until("the keys to be listed", `document.getElementById("keys").open`)
	mara.judge("the keys", "as it is")
	mara.do(chromedp.KeyEvent(kb.Escape))
	mara.until("the list to be closed", `!document.getElementById("keys").open`)
}
