package chat

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestAMessageSaysWhatWasLookedAt, and what has changed: in the channel, and to whoever decides.
func TestAMessageSaysWhatWasLookedAt(t *testing.T) {
	a := countersign.Approval{
		ID: "apr-1", Status: countersign.ApprovalPending,
		State: &countersign.State{
			Capability: "accounts.read", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Values: map[string]countersign.Value{"balance": countersign.RawValue("35.00"), "status": countersign.String("open\u202e")},
		},
		Changed: []countersign.StateChange{{Field: "balance", Then: countersign.RawValue("80.00"), Now: countersign.RawValue("35.00")}},
	}
	want := []Fact{
		{"Looked at", "accounts.read on 1 Mar 2026, 12:00 UTC"}, {"It has balance", "35.00"}, {"It has status", `open\u202e`},
		{"Changed since the approval before: balance", "80.00 was approved, it is 35.00"},
	}
	of := Ref{Tenant: "acme", Approval: a.ID, Digest: a.RequestDigest}
	q, m := questionOf(of, &a, countersign.ApprovalApproved, nil, ""), messageOf(of, &a, control.Deciders{}, a.RequestedAt, "")
	for where, facts := range map[string][]Fact{"question": q.Facts, "message": m.Facts} {
		for _, f := range want {
			if !slices.Contains(facts, f) {
				t.Errorf("the %s has no %q: %q", where, f, facts)
			}
		}
	}
	a.State, a.Changed = nil, nil
	if got := lookedAt(&a); got != nil {
		t.Errorf("without a state: %q", got)
	}
}
