package receipt

import (
	"crypto/ed25519"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestAReceiptHasEveryTextOfItsRecords, one of a field that is added tomorrow too.
func TestAReceiptHasEveryTextOfItsRecords(t *testing.T) {
	var r countersign.Run
	var a countersign.Approval
	texts := marked.Fill(&r)
	r.PlanSnapshot = nil // a section of its own, of its plan
	text, err := Build(Facts{Run: r, Approvals: []countersign.Approval{a}}, ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range marked.Missing(texts, string(text), map[string]string{"planSnapshot": "its own section", "steps.wouldCheck.when": "a condition is written as one kind of two; the record has it whole"}) {
		t.Errorf("the receipt leaves out %s of the run", path)
	}
	texts = marked.Fill(&a)
	if text, err = Build(Facts{Run: countersign.Run{ID: "r"}, Approvals: []countersign.Approval{a}}, ed25519.NewKeyFromSeed(make([]byte, 32))); err != nil {
		t.Fatal(err)
	}
	for _, path := range marked.Missing(texts, string(text), nil) {
		t.Errorf("the receipt leaves out %s of the approval", path)
	}
}
