package notify

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
)

// TestAMailSaysThatAStateWasLookedAtAndNothingOfIt: what it says of a read and of a change has no
// value and no field, for mail passes through many machines.
func TestAMailSaysThatAStateWasLookedAtAndNothingOfIt(t *testing.T) {
	a := &records.Approval{Approval: countersign.Approval{ID: "apr-1", Capability: "payouts.create", ProjectID: "shop", RequestedBy: "user:ada@example.com"}}
	l := letter{items: []item{{tenant: "acme", a: a}}}
	if _, text := l.compose("https://x"); strings.Contains(text, "Looked at") || strings.Contains(text, "Asked again") || !strings.Contains(text, "00:00 UTC\n\nReview") {
		t.Errorf("without a state:\n%s", text)
	}
	a.State = &countersign.State{
		Capability: "accounts.read", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Values: map[string]countersign.Value{"balance": countersign.RawValue("35.00")},
	}
	a.Changed = []countersign.StateChange{{Field: "balance", Then: countersign.RawValue("80.00"), Now: countersign.RawValue("35.00")}}
	_, text := l.compose("https://x")
	for _, part := range []string{"Looked at:     accounts.read, 1 Mar 2026, 12:00 UTC\n", "Asked again:   what was looked at has changed since it was approved\n\nReview"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	for _, part := range []string{"balance", "35.00", "80.00"} {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}
