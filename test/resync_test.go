package test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// at is an agent of a manifest at another source revision.
func at(revision int, item doc) doc { return harness.With(item, "sourceRevision", revision) }

// agent reads an agent.
func (w *world) agent(t *testing.T, id string) json {
	t.Helper()
	return w.viewer.Get("/agents/" + id).OK(t)
}

// recordOf is an agent without its instances, as in a sync or a list.
func recordOf(read json) doc {
	d := read.Without("instances")
	delete(d, "instanceCount")
	return d
}

func unchanged(t *testing.T, got, want json) {
	t.Helper()
	if got.String() != want.String() {
		t.Errorf("it changed:\n%s\n%s", want, got)
	}
}

func TestTheSameManifestAgainChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := fixing(agentItem("one", "note", "refund"), doc{"note": doc{"amount": 1, "deep": doc{"a": []any{1, "x"}, "b": nil}}})
	ids := w.admitted(t, one, agentItem("two", "lookup", ""))
	before := []json{w.agent(t, ids[0]), w.agent(t, ids[1])}
	n := w.recorded(t)
	again := `{"agents": [
		{"capabilities": ["lookup"], "goal": "help", "role": "clerk", "name": "two", "sourceRevision": 1, "externalAgentId": "two"},
		{"modelId": "refund", "executorInputs": {"note": {"deep": {"b": null, "a": [1.0, "\u0078"]}, "amount": 1.0e0}},
		 "capabilities": ["note"], "goal": "help", "role": "clerk", "name": "\u006fne", "sourceRevision": 1, "externalAgentId": "one"}
	], "schemaVersion": "1.0"}`
	answer := w.operator.Post("/systems/"+shop+"/agents/sync", again).OK(t)
	answer.Is(t, "items.0", recordOf(before[1])).Is(t, "items.1", recordOf(before[0]))
	answer.Is(t, "items.0.status", "ADMITTED").Is(t, "items.1.status", "ADMITTED").Is(t, "items.1.revision", 1)
	w.operator.Post("/systems/"+shop+"/agents/sync", manifest(one)).OK(t)
	for i, id := range ids {
		unchanged(t, w.agent(t, id), before[i])
	}
	if now := w.recorded(t); now != n {
		t.Errorf("%d records were made", now-n)
	}
}

func TestANewerManifestRaisesTheRevisionAndMakesTheAgentPENDING(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	ids := w.admitted(t, agentItem("one", "note", "refund"), agentItem("two", "note", "refund"), agentItem("three", "note", ""))
	left, created := w.agent(t, ids[1]), w.agent(t, ids[0]).At("createdAt")
	newer := fixing(agentItem("one", "refund", "other"), doc{"refund": doc{"amount": 5}})
	for path, v := range map[string]any{"name": "One", "role": "boss", "goal": "more", "sourceRevision": 7} {
		newer[path] = v
	}
	w.sync(t, newer, at(2, agentItem("three", "note", "")), agentItem("four", "note", ""))
	one := w.agent(t, ids[0]).Is(t, "sourceRevision", 7).Is(t, "revision", 2).Is(t, "status", "PENDING").Is(t, "suspended", false).Is(t, "createdAt", created)
	one.Is(t, "name", "One").Is(t, "role", "boss").Is(t, "goal", "more").Is(t, "capabilities", []string{"refund"}).
		Is(t, "executorInputs", doc{"refund": doc{"amount": 5}}).Is(t, "modelId", "other")
	if !instant(t, one, "updatedAt").After(instant(t, one, "createdAt")) {
		t.Error(one)
	}
	unchanged(t, w.agent(t, ids[1]), left) // an agent that the manifest leaves out is unchanged
	w.agent(t, ids[2]).Is(t, "sourceRevision", 2).Is(t, "revision", 2).Is(t, "status", "PENDING")
	w.viewer.Get("/agents").OK(t).Is(t, "total", 4)
}

func TestSyncWithOlderRevisionOrOtherContentChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	one := at(5, fixing(agentItem("one", "note", "refund"), doc{"note": doc{"x": 1}}))
	two := agentItem("two", "note", "refund")
	ids := w.admitted(t, one, two)
	before := []json{w.agent(t, ids[0]), w.agent(t, ids[1])}
	n := w.recorded(t)
	conflicts := []doc{at(4, one), at(0, one), at(4, harness.With(one, "name", "other"))}
	for path, v := range map[string]any{
		"name": "One", "role": "boss", "goal": "more", "capabilities": []any{"note", "lookup"}, "modelId": "other",
		"executorInputs": doc{"note": doc{"x": 2}}, "executorInputs.note.x": "1", "executorInputs.note.y": nil,
	} {
		conflicts = append(conflicts, harness.With(one, path, v))
	}
	for _, gone := range []string{"modelId", "executorInputs"} {
		conflicts = append(conflicts, harness.Without(one, gone))
	}
	for _, c := range conflicts {
		syncTo(w.operator, shop, agentItem("new", "note", ""), at(2, two), c).Refused(t, "manifest_conflict", "one", "5")
	}
	syncTo(w.operator, shop, harness.With(two, "goal", "less"), at(4, one)).Refused(t, "manifest_conflict", "one", "two") // the message names each
	for i, id := range ids {
		unchanged(t, w.agent(t, id), before[i])
	}
	w.viewer.Get("/agents").OK(t).Is(t, "total", 2)
	actions, _ := w.since(t, n)
	if diff := cmp.Diff([]string{"agents.sync refused: manifest_conflict"}, actions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASuspendedAgentStaysSuspendedThroughASync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := agentItem("one", "note", "refund")
	id := w.admitted(t, item)[0]
	w.tenantAdmin.Post("/agents/"+id+"/suspend", doc{"reason": "r"}).OK(t).Is(t, "revision", 2)
	w.sync(t, item)
	w.agent(t, id).Is(t, "revision", 2).Is(t, "suspended", true).Is(t, "status", "PENDING")
	w.sync(t, at(2, harness.With(item, "goal", "more")))
	w.agent(t, id).Is(t, "revision", 3).Is(t, "suspended", true).Is(t, "status", "PENDING").Is(t, "goal", "more")
	w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t).Is(t, "revision", 3).Is(t, "suspended", false).Is(t, "status", "ADMITTED").Is(t, "goal", "more")
}

func TestOfManySyncsAtOnceEachAgentIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.recorded(t)
	same := together(16, func(int) string {
		return result(syncTo(w.operator, shop, agentItem("one", "note", "refund"), agentItem("two", "note", "refund")))
	})
	if same["done"] != 16 {
		t.Errorf("the answers were %v", same)
	}
	contrary := together(16, func(i int) string {
		return result(syncTo(w.operator, shop, at(2, harness.With(agentItem("one", "note", "refund"), "goal", fmt.Sprint(i)))))
	})
	if contrary["done"] != 1 || contrary["manifest_conflict"] != 15 {
		t.Errorf("the answers were %v", contrary)
	}
	actions, _ := w.since(t, n)
	if done := len(actions) - 1; done != 3 { // the conflicts are one record within the minute
		t.Errorf("%d records were made of three changes", done)
	}
	w.viewer.Get("/agents").OK(t).Is(t, "total", 2).Has(t, "items", `"revision":2`)
}
