package assertion_test

import (
	"encoding/hex"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/assertion"
)

// TestTheChallengeIsOfTheTextInTheManual: signatures that were made stay good. What an answer must
// be is tested where receipts are: by each verifier, over the same answers.
func TestTheChallengeIsOfTheTextInTheManual(t *testing.T) {
	d := assertion.Decision{ApprovalID: "apr-1", RequestDigest: "00ff", Decision: countersign.ApprovalApproved, Reason: "the item is back,\r\né"}
	const want = "a78d3cff3bd980998035cb2a86c14b88d61251c9c30da0f5b0de0092ebceb876"
	if got := hex.EncodeToString(d.Challenge()); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if _, err := assertion.Check(d, &countersign.Assertion{}); err == nil {
		t.Error("an empty answer holds")
	}
}
