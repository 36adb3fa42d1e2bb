package audit

import (
	"encoding/hex"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
)

// TestTheSealedDocumentIsTheRecordWithItsHash, to the byte.
func TestTheSealedDocumentIsTheRecordWithItsHash(t *testing.T) {
	for n := range 20 {
		r := record(n)
		r.Seq, r.ClockBack, r.Step = int64(n), n%2 == 0, []string{"", "a"}[n%2]
		leaf, doc, err := merkle.Seal(&r)
		if err != nil {
			t.Fatal(err)
		}
		r.Hash = hex.EncodeToString(leaf[:])
		want, err := countersign.Marshal(r)
		if err != nil || string(doc) != string(want) {
			t.Errorf("%s\n%s %v", doc, want, err)
		}
	}
}
