package runrepo_test

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAnAgentThatHasLookedSixtyTimesInAMinuteStartsNoRunThatLooks: another agent does, and it does a
// minute later, and what doesn't look it starts meanwhile.
func TestAnAgentThatHasLookedSixtyTimesInAMinuteStartsNoRunThatLooks(t *testing.T) {
	h := open(t)
	p := countersign.Plan{Mode: countersign.ModeLive, ProjectSnapshots: []countersign.Project{{ID: "shop", Capabilities: []countersign.Capability{
		{Name: "refund", Method: "POST", Precondition: &countersign.Precondition{Capability: "look", Fields: []string{"state"}}}, {Name: "pay", Method: "POST"},
	}}}}
	by := func(agent, capability string) *countersign.Plan {
		of := p
		of.Steps = []countersign.Step{{ID: "s", ProjectID: "shop", Capability: capability, AgentID: agent}}
		return &of
	}
	may := func(of *countersign.Plan) (code countersign.Code) {
		t.Helper()
		err := h.store.Update(context.Background(), func(tx store.Tx) error {
			code = countersign.ErrorCode(h.repository.MayLook(tx, "acme", of))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	looked := func(times int) {
		t.Helper()
		for range times {
			if err := h.store.Update(context.Background(), func(tx store.Tx) error { return records.CountLook(tx, "acme", "agent-1", h.now) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	looked(59)
	if code := may(by("agent-1", "refund")); code != "" {
		t.Errorf("after 59: %s", code)
	}
	looked(1)
	if code := may(by("agent-1", "refund")); code != countersign.CodeQuotaExceeded {
		t.Errorf("after 60: %q", code)
	}
	rehearsed := by("agent-1", "refund")
	rehearsed.Mode = countersign.ModeDryRun
	for name, of := range map[string]*countersign.Plan{"another agent": by("agent-2", "refund"), "no agent": by("", "refund"), "what doesn't look": by("agent-1", "pay"), "a rehearsal": rehearsed} {
		if code := may(of); code != "" {
			t.Errorf("%s: %s", name, code)
		}
	}
	h.now = h.now.Add(time.Minute)
	if code := may(by("agent-1", "refund")); code != "" {
		t.Errorf("a minute later: %s", code)
	}
}
