package browser

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// tampers changes one record of the receipt that is in the page.
const tampers = `(async function () {
  const box = document.querySelector("#receipt");
  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  const text = new TextDecoder().decode(await through(Uint8Array.from(atob(box.dataset.file), (c) => c.charCodeAt(0)), new DecompressionStream("gzip")));
  const packed = await through(new TextEncoder().encode(text.replace('\\"action\\":\\"step.send\\"', '\\"action\\":\\"step.sent\\"')), new CompressionStream("gzip"));
  box.dataset.file = btoa(String.fromCharCode(...packed));
  document.body.dataset.tampered = "yes";
})(), true`

// TestAReceiptIsVerifiedInTheReadersBrowser: hop by hop, with nothing asked of the server; a record that
// was changed is found at its station, and another key than the installation's is refused.
func TestAReceiptIsVerifiedInTheReadersBrowser(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.all = s.token("OPERATOR")
	mara := s.token("APPROVER")
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"id":"re_9F27C1","state":"succeeded","amount":249.00}`))
	refund := s.step("refund", "Refund payment", "refund.create", doc{"orderId": "A-48213", "amount": 249}, doc{"expectation": doc{"field": "state", "equals": "succeeded"}})
	live := s.all.Post("/plans", doc{"name": "Refund", "modelId": "refund-agent", "modelRevision": 1, "mode": "LIVE", "steps": []any{refund}}).OK(t).Is(t, "status", "READY").At("id").Text()
	run := s.start(live)
	s.decide(mara, run, "APPROVED", "the goods are there")
	s.reaches(run, "COMPLETED")
	rejected := s.start(live)
	s.decide(mara, rejected, "REJECTED", "wrong customer")
	s.reaches(rejected, "FAILED")
	p := newTab(t, h.Server)
	p.signIn(s.mail("mara"))
	sheet := "/runs/" + run + "/sheet/refund"
	p.look("sheet", sheet)
	p.look("sheet of what was rejected", "/runs/"+rejected+"/sheet/refund")
	p.look("bench", "/projects/"+s.shop()+"/what-if?capability=refund.create")

	p.open(sheet)
	p.sees("Verified")
	p.sees("Nothing is checked until you press.")
	asked := `performance.getEntriesByType("resource").length`
	before := js[int](p, asked)
	js[bool](p, `document.querySelector("#check").click(), true`)
	p.until("the receipt to be verified", `document.querySelector("#said").textContent.startsWith("All of it holds. Checked on this machine")`)
	if after := js[int](p, asked); after != before {
		t.Errorf("the check asked the server for %d things", after-before)
	}
	if left := js[int](p, `document.querySelectorAll("#checks li:not(.ok):not(.none), .rec:not(.ok), [data-path] .hop:not(.ok)").length`); left != 0 {
		t.Errorf("%d lines, records or hops of a receipt that holds aren't marked so", left)
	}
	js[bool](p, tampers)
	p.until("the receipt to be changed", `document.body.dataset.tampered === "yes"`)
	js[bool](p, `document.querySelector("#check").click(), true`)
	p.until("the change to be found", `document.querySelector("#said").textContent === "The path of station 4 does not end at the signed root."`)
	p.open(sheet)
	js[bool](p, `(function () { document.querySelector("#receipt").dataset.key = "0".repeat(64); return true })()`)
	js[bool](p, `document.querySelector("#check").click(), true`)
	p.until("the key to be refused", `document.querySelector("#said").textContent.includes("not by the one that was given") && document.querySelector('[data-c="file"]').classList.contains("bad")`)
}
