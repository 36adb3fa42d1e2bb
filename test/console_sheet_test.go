package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAnEvidenceSheetSaysWhatBecameOfAnEffect: of what was verified and of what was rejected, with the receipt in
// it; there is none of a run that goes on, and what is masked for its reader stays so.
func TestAnEvidenceSheetSaysWhatBecameOfAnEffect(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"title": "Pay {amount}", "approval": "ALWAYS", "sensitive": []string{"to"}, "inputSchema": doc{"amount": harness.Input("number", true), "to": harness.Input("string", false)}}),
	}))
	pay := func() string {
		return w.run(t, harness.With(step("p", "pay", doc{"amount": number("20.50"), "to": "Ada Brandt"}), "projectId", "default-pays"))
	}
	sent, rejected, waiting := pay(), pay(), pay()
	w.approve(t, sent)
	w.reaches(t, sent, "COMPLETED")
	w.approver.Post("/approvals/"+w.approval(t, rejected).At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "not today"}).OK(t)
	w.reaches(t, rejected, "FAILED")
	w.approval(t, waiting)

	mara, ines := w.person(t, "mara@example.com", "APPROVER"), w.person(t, "ines@example.com", "VIEWER")
	mustHold(t, mara.Open("/runs/"+sent), "/console/runs/"+sent+"/sheet/p")
	sheet := mara.Open("/runs/" + sent + "/sheet/p")
	mustSay(t, sheet, 200, "Countersign sent “Pay 20.50” to", ", once.", "Sent once", "Ada Brandt", "Idempotency-Key: "+sent+".p", "Check it elsewhere", "countersign receipt verify "+sent, "No witness cosigned this head")
	mustHold(t, sheet, `data-file="`, "/console/assets/receipt.js?v=", "/console/assets/sheet.js?v=", `data-path="0"`)
	if strings.Contains(mara.Open("/runs/"+waiting).Text, "/sheet/p") {
		t.Error("a run that goes on has a sheet")
	}
	mustSay(t, mara.Open("/runs/"+rejected+"/sheet/p"), 200, "without sending anything", "Not sent", "Rejected", "not today", "Nothing was sent.")
	mustSay(t, mara.Open("/runs/"+waiting+"/sheet/p"), 409, "it has a receipt when it has ended")
	mustSay(t, mara.Open("/runs/"+sent+"/sheet/none"), 404, "has no step none")
	masked := ines.Open("/runs/" + sent + "/sheet/p")
	mustSay(t, masked, 200, "Masked for you", "Values that you may not see are left out")
	if strings.Contains(masked.Text, "Ada Brandt") {
		t.Error("a VIEWER reads what is masked")
	}
}
