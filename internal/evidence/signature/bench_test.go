package signature_test

import (
	"testing"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

func BenchmarkBudgetSign(b *testing.B) {
	secret := []byte("bench-secret-value-0123456789abcdef")
	parts := signature.Parts{
		Method: "POST", PathAndQuery: "/refunds", Timestamp: "1760000000", IdempotencyKey: "run-1.refund", RunID: "run-1", StepID: "refund",
		BodySHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	}
	allocbudget.Allocations(b, 12, func() {
		if _, err := signature.Sign(secret, parts); err != nil {
			b.Fatal(err)
		}
	})
}
