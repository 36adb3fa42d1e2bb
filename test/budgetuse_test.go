package test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestABudgetSaysWhatIsUsedOfIt, what of it nobody knows, and when it has room again; not of what
// its reader may not see.
func TestABudgetSaysWhatIsUsedOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/lost", harness.HangingUp())
	bounds := []doc{{"count": 2, "window": "1h", "then": "ASK", "reason": "two"}, {"sum": "amount", "most": 100, "window": "2h", "then": "DENY", "reason": "hundred"}}
	pays := func(name, path string, more doc) doc {
		return harness.Capability(name, "POST", path, harness.With(harness.With(more, "approval", "NONE"), "inputSchema", doc{"amount": harness.Input("number", true)}))
	}
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		pays("pay", "/pay", doc{"budgets": bounds}), pays("lose", "/lost", doc{"budgets": bounds[:1]}), pays("free", "/pay", doc{}),
		pays("hidden", "/pay", doc{"budgets": bounds[1:], "sensitive": []string{"amount"}}),
	}))
	of := "/budgets?projectId=default-pays"
	w.viewer.Get(of).OK(t).Is(t, "items.0.capability", "pay").Is(t, "items.0.used", 0).Is(t, "items.0.mayHaveHappened", 0).Is(t, "items.0.freeAt", harness.Absent).
		Is(t, "items.0.budget.count", 2).Is(t, "items.1.used", 0).Is(t, "items.2.capability", "lose").
		Is(t, "items.3.capability", "hidden").Is(t, "items.3.used", harness.Absent).Is(t, "items.3.mayHaveHappened", harness.Absent).Is(t, "items.4", harness.Absent)
	w.operator.Get(of).OK(t).Is(t, "items.3.used", 0)
	sends := func(capability, amount, status string) json {
		id := w.run(t, harness.With(step("p", capability, doc{"amount": number(amount)}), "projectId", "default-pays"))
		return w.reaches(t, id, status)
	}
	first := sends("pay", "39.5", "COMPLETED")
	w.viewer.Get(of).OK(t).Is(t, "items.0.used", 1).Is(t, "items.0.freeAt", harness.Absent).Is(t, "items.1.used", number("39.5"))
	sends("pay", "6e1", "COMPLETED")
	sends("lose", "1", "RECOVERY_REQUIRED")
	got := w.viewer.Get(of).OK(t).Is(t, "items.0.used", 2).Is(t, "items.0.mayHaveHappened", 0).Is(t, "items.1.used", number("99.5")).Is(t, "items.1.freeAt", harness.Absent).
		Is(t, "items.2.used", 1).Is(t, "items.2.mayHaveHappened", 1)
	sent, err := time.Parse(time.RFC3339Nano, first.At("steps.0.startedAt").Text())
	free, err2 := time.Parse(time.RFC3339Nano, got.At("items.0.freeAt").Text())
	if err != nil || err2 != nil || free.Sub(sent.Add(time.Hour)).Abs() > time.Second {
		t.Errorf("sent at %v, free at %v: %v %v", sent, free, err, err2)
	}

	agent := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	w.viewer.Get("/budgets?agentId="+agent).OK(t).Is(t, "items.0", harness.Absent)
	for _, bad := range []string{"", "?projectId=default-pays&agentId=" + agent} {
		w.viewer.Get("/budgets"+bad).Refused(t, "invalid_request", "either projectId or agentId")
	}
	w.viewer.Get("/budgets?projectId=default-none").Refused(t, "not_found")
	limited, _ := w.token(t, doc{"roles": []string{"VIEWER"}, "projectIds": []string{shop}})
	limited.Get(of).Refused(t, "project_scope")
}
