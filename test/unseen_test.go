package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// unseen are texts of one character that is shown as nothing, as a space, or in an undefined way.
var unseen = []string{
	"\u200b", "\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u00ad", "\u202e", "\u00a0", "\u3000", "\u2028", "\u2029",
	"\ufdd0", "\ufffe", "\ue000", "\u0378", "\ufe0f", "\U000E0041", "\U00016FE4", "\U0001D159", "\U0010FFFD",
}

func TestWhatHasNoLookOfItsOwnIsWrittenOutForAnApprover(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	evil := "pay" + strings.Join(unseen, "x") + "now"
	approval, run := w.decidable(t, harness.With(telling("r", doc{"text": evil}), "name", evil))
	for _, path := range []string{"/approvals/" + approval, "/approvals", "/runs/" + run, "/runs", "/"} {
		p := mara.Open(path)
		if path != "/approvals" && path != "/runs" && !strings.Contains(p.Text, `pay\u200bx\u2800x\u3164x\u115fx\u1160x\uffa0x\u00adx\u202ex\u00a0x\u3000x\u2028x\u2029x\ufdd0x\ufffex\ue000x\u0378x\ufe0fx\udb40\udc41x\ud81b\udfe4x\ud834\udd59x\udbff\udffdnow`) {
			t.Errorf("%s doesn't write it out", path)
		}
		for _, c := range unseen {
			if c != "\u00a0" { // separates numbers from their units
				mustNotHold(t, p, c)
			}
		}
	}
}

// TestATextWithNothingToSeeIsNoReason, no evidence, and no name of a token.
func TestATextWithNothingToSeeIsNoReason(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	approval, run := w.decidable(t, telling("r", doc{"text": "hello"}))
	for _, blank := range append(unseen, "", " ", strings.Join(unseen, " ")) {
		w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": blank}).Refused(t, "invalid_request")
		w.operator.Post("/runs/"+run+"/cancel", doc{"reason": blank}).Refused(t, "invalid_request")
		w.tenantAdmin.Post("/tokens", doc{"name": blank, "roles": []string{"VIEWER"}}).Refused(t, "invalid_request")
	}
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "\u200b返金\u200b"}).OK(t)
}
