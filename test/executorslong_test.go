package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestListsOmitLongValuesOfAgentsAndTeamsAndOfTheirRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 17<<10)
	var many, names []any
	for i := range 150 {
		name := fmt.Sprintf("%s-%d", strings.Repeat("n", 120), i)
		names = append(names, name)
		many = append(many, harness.Capability(name, "POST", "/notes", doc{"approval": "NONE"}))
	}
	w.register(t, "default-many", harness.With(harness.Project(w.shop.Origin()), "capabilities", many))
	first, _ := names[0].(string)
	item := fixing(agentItem("a", first, "refund"), doc{first: doc{"text": long}})
	for path, v := range map[string]any{"name": long, "role": long, "goal": long, "capabilities": names} {
		item[path] = v
	}
	items := syncTo(w.operator, "default-many", item, agentItem("b", first, "refund")).OK(t).Is(t, "items.0.goal", long)
	ids := []string{items.At("items.0.id").Text(), items.At("items.1.id").Text()}
	for _, id := range ids {
		w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t)
	}
	listed := w.viewer.Get("/agents").OK(t)
	of := "items.0."
	if listed.At("items.0.id").Text() != ids[0] {
		of = "items.1."
	}
	for _, field := range []string{"name", "role", "goal", "capabilities", "executorInputs"} {
		if listed.At(of+field+".$omitted.bytes").Int() < 16<<10 {
			t.Errorf("%s is not omitted", field)
		}
	}
	w.viewer.Get("/agents/"+ids[0]).OK(t).Is(t, "goal", long).Is(t, "capabilities", names).Is(t, "executorInputs."+first+".text", long)
	team := harness.With(teamOf(ids, teamStep("s", ids[1], first, doc{"text": long})), "name", long)
	w.operator.Put("/teams/t", harness.With(team, "members.1.role", long)).OK(t).Is(t, "name", long)
	w.viewer.Get("/teams").OK(t).Is(t, "items.0.name.$omitted.bytes", len(long)+2).Is(t, "items.0.steps.0.agentId", ids[1]).
		Is(t, "items.0.steps.0.input.$omitted.bytes", len(long)+len(`{"text":""}`)).Has(t, "items.0.members", "$omitted")
	run := w.teamRun("t", 1, nil).OK(t).At("id").Text()
	w.reaches(t, run, "COMPLETED").Is(t, "planSnapshot.agents.0.executorInputs."+first+".text", long)
	w.viewer.Get("/plans").OK(t).Has(t, "items.0.agents", "$omitted").Has(t, "items.0.team", "$omitted").Is(t, "items.0.steps.0.agentId", ids[1])
	w.reaches(t, w.asks(ids[0], agentRun("LIVE", first, nil)).OK(t).At("id").Text(), "COMPLETED")
	w.viewer.Get("/runs").OK(t).Is(t, "items.0.agentId", ids[0]).Has(t, "items.0.steps.0.name", "$omitted").Is(t, "items.1.teamId", "t")
}
