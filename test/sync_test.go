package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// syncTo syncs agents of any project, as any principal.
func syncTo(who *harness.Client, project string, agents ...doc) *harness.Answer {
	return who.Post("/systems/"+project+"/agents/sync", manifest(agents...))
}

// fixing is an agent with fixed inputs.
func fixing(a doc, inputs doc) doc { return harness.With(a, "executorInputs", inputs) }

func TestAManifestNamesEveryProblemAndAppliesNothing(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "tenantId": "acme"})
	acme.Put("/models/theirs", doc{"document": harness.Model("theirs")}).OK(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	w.operator.Put("/models/taken", doc{"document": harness.Model("taken")}).OK(t)
	syncTo(w.operator, "default-two", agentItem("owner", "note", "taken")).OK(t)

	good := agentItem("good", "note", "refund")
	bad := []struct {
		item doc
		at   []string // paths, below the item, that the message names
	}{
		{harness.With(agentItem("a", "note", ""), "capabilities", []any{"note", "nothing"}), []string{".capabilities[1]: ", "nothing"}},
		{harness.With(agentItem("b", "note", ""), "capabilities", []any{"note", "lookup", "note"}), []string{".capabilities[2]: "}},
		{agentItem("good", "lookup", ""), []string{".externalAgentId: "}},
		{fixing(agentItem("c", "refund", ""), doc{"refund": doc{"amount": "ten", "colour": "red"}}), []string{".executorInputs.refund.amount: ", ".executorInputs.refund.colour: "}},
		{fixing(agentItem("d", "note", ""), doc{"lookup": doc{"resourceId": "o"}}), []string{".executorInputs.lookup: "}},
		{fixing(agentItem("e", "lookup", ""), doc{"lookup": doc{"resourceId": "../o"}}), []string{".executorInputs.lookup.resourceId: "}},
		{agentItem("f", "note", "nothing-such"), []string{".modelId: ", "nothing-such"}},
		{agentItem("g", "note", "theirs"), []string{".modelId: there is no model theirs"}},
		{agentItem("h", "note", "taken"), []string{".modelId: ", "taken"}},
		{agentItem(" \t", "note", ""), []string{".externalAgentId: "}},
		{agentItem("line\nfeed", "note", ""), []string{".externalAgentId: "}},
	}
	n := w.recorded(t)
	all, named := []doc{good}, []string{}
	for i, c := range bad {
		syncTo(w.operator, shop, good, c.item).Refused(t, "invalid_request", "agents[1]"+c.at[0])
		all = append(all, c.item)
		at := fmt.Sprintf("agents[%d]", i+1)
		named = append(named, at+c.at[0])
		named = append(named, c.at[1:]...)
	}
	message := syncTo(w.operator, shop, all...).Refused(t, "invalid_request", named...)
	if strings.Contains(message, "default-two") {
		t.Errorf("the other system shows: %s", message)
	}
	w.viewer.Get("/agents?projectId="+shop).OK(t).Is(t, "total", 0)
	if now := w.recorded(t); now != n {
		t.Errorf("%d records were made", now-n)
	}
}

func TestAManifestOfAnotherShapeIsRefusedAndAppliesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := manifest(agentItem("a", "note", "refund"), fixing(agentItem("b", "note", ""), doc{"note": doc{"x": 1}}))
	for path, values := range map[string][]any{
		"schemaVersion":            {nil, "1.1", "1.0.0", "1", "", number("1.0")},
		"agents":                   {nil, doc{}, "a", []any{nil}, []any{"a"}},
		"agents.1.externalAgentId": {nil, "", 1, strings.Repeat("x", 257)},
		"agents.1.sourceRevision":  {nil, -1, number("1.5"), "1", true},
		"agents.1.name":            {nil, 1},
		"agents.1.role":            {nil, 1},
		"agents.1.goal":            {nil, []any{}},
		"agents.1.capabilities":    {nil, "note", []any{1}, []any{nil}, doc{}},
		"agents.1.executorInputs":  {[]any{}, doc{"note": nil}, doc{"note": "x"}},
		"agents.1.modelId":         {1},
		"agents.1.status":          {"ADMITTED"},
		"agents.1.revision":        {1},
		"extra":                    {1},
	} {
		for _, v := range values {
			w.operator.Post("/systems/"+shop+"/agents/sync", harness.With(good, path, v)).Refused(t, "invalid_request")
		}
	}
	for _, required := range []string{
		"schemaVersion", "agents", "agents.1.externalAgentId", "agents.1.sourceRevision", "agents.1.name", "agents.1.role", "agents.1.goal", "agents.1.capabilities",
	} {
		field := required[strings.LastIndex(required, ".")+1:]
		w.operator.Post("/systems/"+shop+"/agents/sync", harness.Without(good, required)).Refused(t, "invalid_request", field)
	}
	w.operator.Post("/systems/"+shop+"/agents/sync", `{"schemaVersion":"1.0","agents":[],"agents":[]}`).Refused(t, "invalid_json")
	w.viewer.Get("/agents").OK(t).Is(t, "total", 0)
	for _, spared := range []string{"agents.1.executorInputs", "agents.1.modelId"} {
		good = harness.Without(good, spared)
	}
	w.operator.Post("/systems/"+shop+"/agents/sync", harness.With(good, "agents.1.capabilities", []any{})).OK(t)
	syncTo(w.operator, shop).OK(t).Is(t, "items", []any{}) // an empty manifest is valid
	w.viewer.Get("/agents").OK(t).Is(t, "total", 2)
}

func TestASyncedAgentIsPENDINGAndListedInTheManifestsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := fixing(harness.With(agentItem("b/ü 1", "note", "refund"), "sourceRevision", 0), doc{"note": doc{"n": number("1.50")}})
	answer := syncTo(w.operator, shop, b, agentItem("a", "lookup", ""))
	items := answer.OK(t).Is(t, "items.0.externalAgentId", "b/ü 1").Is(t, "items.1.externalAgentId", "a").Is(t, "items.2", harness.Absent)
	if answer.Status != 200 || !stepID.MatchString(items.At("items.0.id").Text()) {
		t.Error(answer)
	}
	first := items.At("items.0")
	first.Is(t, "projectId", shop).Is(t, "sourceRevision", 0).Is(t, "revision", 1).Is(t, "name", "b/ü 1").Is(t, "role", "clerk").Is(t, "goal", "help").
		Is(t, "capabilities", []string{"note"}).Is(t, "executorInputs", doc{"note": doc{"n": number("1.5")}}).Is(t, "modelId", "refund").
		Is(t, "status", "PENDING").Is(t, "suspended", false).Is(t, "liveness", "UNKNOWN").Is(t, "lastHeartbeatAt", harness.Absent).Is(t, "updatedAt", first.At("createdAt"))
	first.Has(t, "executorInputs", "1.50") // digit for digit
	items.Is(t, "items.1.modelId", harness.Absent).Is(t, "items.1.executorInputs", doc{})
	w.operator.Aliased().Post("/systems/"+shop+"/agents/sync", manifest(agentItem("a", "lookup", ""), b)).OK(t).
		Is(t, "items.0", items.At("items.1")).Is(t, "items.1", first)
	w.viewer.Aliased().Get("/agents/"+first.At("id").Text()).OK(t).Is(t, "externalAgentId", "b/ü 1")
}

func TestASyncReachesOnlyTheCallersSystems(t *testing.T) {
	t.Parallel()
	w, _, two := neighboursIn(t, ownWorld(t))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"OPERATOR", "ADMIN"}, "tenantId": "acme"})
	item := agentItem("a", "note", "")
	syncTo(acme, shop, item).Refused(t, "not_found")
	syncTo(acme, "acme-none", item).Refused(t, "not_found")
	syncTo(w.operator, "default-none", item).Refused(t, "not_found")
	syncTo(two, shop, item).Refused(t, "project_scope")
	syncTo(two, shop, agentItem("a", "nothing", "")).Refused(t, "project_scope") // refused before errors about the project
	for _, who := range []*harness.Client{w.viewer, w.approver, w.tenantAdmin} {
		syncTo(who, shop, item).Refused(t, "role_required", "OPERATOR")
	}
	syncTo(w.As(""), shop, item).Refused(t, "unauthenticated")
	mine := syncTo(w.operator, shop, item).OK(t).At("items.0.id").Text()
	theirs := syncTo(two, "default-two", item).OK(t).At("items.0.id").Text()
	if mine == theirs {
		t.Error("the agents of two systems share an id")
	}
	w.viewer.Get("/agents").OK(t).Is(t, "total", 2)
}

func TestAModelIsFreeForAnotherSystemOnceNoAgentHasIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	syncTo(w.operator, "default-two", agentItem("a", "note", "refund"), agentItem("b", "note", "refund")).OK(t) // of one system: shared
	mine := agentItem("mine", "note", "refund")
	syncTo(w.operator, shop, mine).Refused(t, "invalid_request", "agents[0].modelId")
	syncTo(w.operator, "default-two").OK(t) // whom a manifest leaves out stays, with its model
	syncTo(w.operator, shop, mine).Refused(t, "invalid_request", "agents[0].modelId")
	without := func(external string) doc { return harness.With(agentItem(external, "note", ""), "sourceRevision", 2) }
	syncTo(w.operator, "default-two", without("a")).OK(t)
	syncTo(w.operator, shop, mine).Refused(t, "invalid_request", "agents[0].modelId")
	syncTo(w.operator, "default-two", without("b")).OK(t)
	syncTo(w.operator, shop, mine).OK(t).Is(t, "items.0.modelId", "refund")
}
