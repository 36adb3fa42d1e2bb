package test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// clerks creates two admitted agents of the shop: one reads, the other writes notes, only in euros.
func (w *world) clerks(t *testing.T) (reader, writer string) {
	t.Helper()
	ids := w.admitted(t, agentItem("reader", "lookup", "refund"), fixing(agentItem("writer", "note", "refund"), doc{"note": doc{"currency": "EUR"}}))
	return ids[0], ids[1]
}

// revised is a team's body that updates a revision.
func revised(team doc, revision int) doc { return harness.With(team, "expectedRevision", revision) }

func TestATeamIsCreatedAndUpdatedByItsRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	look := expecting(teamStep("look", reader, "lookup", doc{"resourceId": "o-1"}), "state", "returned")
	note := harness.With(teamStep("note", writer, "note", doc{"n": number("1.50")}), "dependsOn", []any{"look"})
	note = harness.With(note, "inputBindings", doc{"amount": doc{"stepId": "look", "field": "total"}})
	team := teamOf([]string{reader, writer}, look, note)
	for _, too := range []int{1, 7} {
		w.operator.Put("/teams/t", revised(team, too)).Refused(t, "revision_conflict", "expectedRevision") // there is no team yet
	}
	made := w.operator.Put("/teams/t", revised(team, 0)).OK(t).Is(t, "id", "t").Is(t, "revision", 1).Is(t, "name", "team").Is(t, "suspended", false)
	made.Is(t, "members", team["members"]).Is(t, "steps.0", look).Is(t, "steps.1", note).Has(t, "steps.1.input", "1.50")
	for _, stale := range []doc{team, revised(team, 0), revised(team, 2)} {
		w.operator.Put("/teams/t", stale).Refused(t, "revision_conflict", "revision 1")
	}
	unchanged(t, w.viewer.Aliased().Get("/teams/t").OK(t), made)
	updated := w.operator.Aliased().Put("/teams/t", revised(harness.With(teamOf([]string{writer, reader}, teamStep("note", writer, "note", doc{})), "name", "other"), 1)).OK(t)
	updated.Is(t, "revision", 2).Is(t, "name", "other").Is(t, "steps.1", harness.Absent).Is(t, "members.0.agentId", writer).Is(t, "createdAt", made.At("createdAt"))
	w.operator.Put("/teams/t", revised(team, 1)).Refused(t, "revision_conflict", "revision 2")
	w.operator.Put("/teams/absent", team).OK(t).Is(t, "revision", 1) // no expectedRevision creates too
	got := together(20, func(i int) string {
		return result(w.operator.Put("/teams/t", revised(harness.With(team, "name", fmt.Sprint(i)), 2)))
	})
	if got["done"] != 1 || got["revision_conflict"] != 19 {
		t.Errorf("the answers were %v", got)
	}
	for _, path := range []string{"/teams/none", "/agents/none"} {
		w.viewer.Get(path).Refused(t, "not_found")
	}
}

func TestATeamMaySendBackWhatItRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	team := teamOf([]string{reader, writer}, expecting(teamStep("look", reader, "lookup", doc{"resourceId": "o"}), "a", nil))
	w.operator.Put("/teams/t", team).OK(t)
	read := w.tenantAdmin.Post("/teams/t/suspend", doc{"reason": "r"}).OK(t)
	again := w.operator.Put("/teams/t", revised(read.Doc(), 2)).OK(t).Is(t, "revision", 3).Is(t, "steps", read.At("steps")).Is(t, "createdAt", read.At("createdAt"))
	ignored := revised(again.Doc(), 3)
	for field, v := range map[string]any{"id": "other", "revision": 99, "suspended": false, "createdAt": nil, "updatedAt": doc{}} {
		ignored[field] = v
	}
	w.operator.Put("/teams/t", ignored).OK(t).Is(t, "id", "t").Is(t, "revision", 4).Is(t, "suspended", true).Is(t, "createdAt", read.At("createdAt")) // an edit doesn't end a suspension
	for path, code := range map[string]string{"Name": "invalid_json", "teamId": "invalid_request", "steps.0.sideEffect": "invalid_request", "members.0.name": "invalid_request"} {
		w.operator.Put("/teams/t", harness.With(revised(read.Doc(), 4), path, "x")).Refused(t, code)
	}
}

func TestATeamNeedsTwoDifferentAdmittedAgentsWithModels(t *testing.T) {
	t.Parallel()
	w, one, _ := neighboursIn(t, ownWorld(t))
	reader, writer := w.clerks(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	elsewhere := syncTo(w.operator, "default-two", agentItem("a", "note", "other")).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+elsewhere+"/admit", doc{"reason": "r"}).OK(t)
	bare := w.admitted(t, agentItem("bare", "note", ""))[0]
	pending := w.sync(t, agentItem("pending", "note", "refund"))[0]
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"})
	acme.Put("/models/m", doc{"document": harness.Model("m")}).OK(t)
	acme.Put("/projects/acme-shop", harness.With(harness.Without(harness.Project(w.shop.Origin()), "auth"), "adapter", "LOCAL_ECHO")).OK(t)
	foreign := syncTo(acme, "acme-shop", agentItem("a", "note", "m")).OK(t).At("items.0.id").Text()
	acme.Post("/agents/"+foreign+"/admit", doc{"reason": "r"}).OK(t)
	for _, c := range []struct {
		who     *harness.Client
		members []string
		code    string
		parts   []string
	}{
		{w.operator, nil, "invalid_request", []string{"members: "}},
		{w.operator, []string{reader}, "invalid_request", []string{"members: "}},
		{w.operator, []string{reader, reader, reader}, "invalid_request", []string{"members: "}},
		{w.operator, []string{reader, writer, "agent-none"}, "invalid_request", []string{"members[2].agentId: there is no agent agent-none"}},
		{w.operator, []string{foreign, reader, writer}, "invalid_request", []string{"members[0].agentId: there is no agent " + foreign}},
		{w.operator, []string{reader, bare}, "invalid_request", []string{"members[1].agentId: ", "model"}},
		{w.operator, []string{"", pending, bare}, "invalid_request", []string{"members[0].agentId: ", "members[2].agentId: "}}, // 400 before 409, each named
		{w.operator, []string{reader, pending}, "agent_not_admitted", []string{pending}},
		{one, []string{reader, writer, elsewhere}, "project_scope", nil},
		{one, []string{reader, elsewhere, "agent-none"}, "project_scope", nil},
	} {
		c.who.Put("/teams/t", teamOf(c.members)).Refused(t, c.code, c.parts...)
	}
	for _, bad := range []any{nil, doc{}, []any{nil}, []any{doc{"agentId": reader}, doc{"agentId": writer}}, []any{doc{"role": "r"}, doc{"agentId": writer, "role": "r"}}} {
		w.operator.Put("/teams/t", harness.With(teamOf(nil), "members", bad)).Refused(t, "invalid_request", "members")
	}
	w.viewer.Get("/teams").OK(t).Is(t, "total", 0)
	one.Put("/teams/t", teamOf([]string{reader, writer, reader})).OK(t).Is(t, "revision", 1)
	w.tenantAdmin.Post("/agents/"+writer+"/suspend", doc{"reason": "r"}).OK(t)
	w.operator.Put("/teams/t", revised(teamOf([]string{reader, writer}), 1)).Refused(t, "agent_not_admitted", writer)
	w.viewer.Get("/teams/t").OK(t).Is(t, "revision", 1)
}

func TestATeamsStepsAreItsMembersAndFormAGraph(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	stranger := w.admitted(t, agentItem("stranger", "note", "refund"))[0]
	look, note := teamStep("look", reader, "lookup", doc{"resourceId": "o"}), teamStep("note", writer, "note", doc{})
	binding := func(to, from string) doc { return doc{to: doc{"stepId": from, "field": "f"}} }
	for name, c := range map[string]struct {
		steps []doc
		parts []string
	}{
		"of no member":                  {[]doc{look, harness.With(note, "agentId", stranger)}, []string{"steps[1].agentId: " + stranger}},
		"of nobody":                     {[]doc{harness.With(look, "agentId", "")}, []string{"steps[0].agentId: "}},
		"not the member's capability":   {[]doc{harness.With(look, "capability", "note")}, []string{"steps[0].capability: "}},
		"no capability":                 {[]doc{harness.With(look, "capability", "nothing-such")}, []string{"steps[0].capability: ", "nothing-such"}},
		"a fixed input":                 {[]doc{harness.With(note, "input.currency", "EUR")}, []string{"steps[0].input.currency: "}},
		"a fixed input bound":           {[]doc{look, harness.With(harness.With(note, "dependsOn", []any{"look"}), "inputBindings", binding("currency", "look"))}, []string{"steps[1].inputBindings.currency: "}},
		"an input of another kind":      {[]doc{harness.With(look, "input.resourceId", "a/b")}, []string{"steps[0].input.resourceId: "}},
		"depends on nothing":            {[]doc{harness.With(look, "dependsOn", []any{"none"})}, []string{"steps[0].dependsOn[0]: ", "none"}},
		"depends on itself":             {[]doc{harness.With(look, "dependsOn", []any{"look"})}, []string{"steps: look"}},
		"a cycle":                       {[]doc{harness.With(look, "dependsOn", []any{"note"}), harness.With(note, "dependsOn", []any{"look"})}, []string{"steps: look, note"}},
		"two of one id":                 {[]doc{look, harness.With(note, "id", "look")}, []string{"steps[1].id: look"}},
		"bound to nothing":              {[]doc{harness.With(note, "inputBindings", binding("x", "none"))}, []string{"steps[0].inputBindings.x.stepId: "}},
		"bound to no dependency":        {[]doc{look, harness.With(note, "inputBindings", binding("x", "look"))}, []string{"steps[1].inputBindings.x.stepId: "}},
		"bound and given":               {[]doc{look, harness.With(harness.With(harness.With(note, "input.x", 1), "dependsOn", []any{"look"}), "inputBindings", binding("x", "look"))}, []string{"steps[1].inputBindings.x: "}},
		"several things":                {[]doc{harness.With(look, "agentId", stranger), harness.With(note, "input.currency", 1)}, []string{"steps[0].agentId: ", "steps[1].input.currency: "}},
		"an id that is none":            {[]doc{harness.With(look, "id", "a b")}, []string{"steps[0].id"}},
		"an expectation without equals": {[]doc{harness.With(look, "expectation", doc{"field": "f"})}, []string{"steps[0].expectation"}},
		"more than a hundred":           {slices.Repeat([]doc{look}, 101), []string{"steps: ", "100"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.operator.Put("/teams/t", teamOf([]string{reader, writer}, c.steps...)).Refused(t, "invalid_request", c.parts...)
		})
	}
	var hundred []doc
	for i := range 100 {
		hundred = append(hundred, harness.With(note, "id", fmt.Sprint("s", i)))
	}
	w.operator.Put("/teams/t", teamOf([]string{reader, writer}, hundred...)).OK(t)
	w.operator.Put("/teams/later", teamOf([]string{reader, writer}, harness.Without(look, "input.resourceId"))).OK(t) // the input may be given with the run
}

func TestSuspendingRaisesATeamsRevisionAndResumingDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	w.operator.Put("/teams/t", teamOf([]string{reader, writer})).OK(t)
	for _, c := range []struct {
		verb      string
		revision  int
		suspended bool
	}{{"resume", 1, false}, {"suspend", 2, true}, {"suspend", 2, true}, {"resume", 2, false}, {"resume", 2, false}, {"suspend", 3, true}} {
		for _, blank := range []doc{{}, {"reason": "\t"}, {"reason": "r", "expectedRevision": 1}} {
			w.tenantAdmin.Post("/teams/t/"+c.verb, blank).Refused(t, "invalid_request")
		}
		before := w.viewer.Get("/teams/t").OK(t)
		after := w.tenantAdmin.Post("/teams/t/"+c.verb, doc{"reason": "r"}).OK(t).Is(t, "revision", c.revision).Is(t, "suspended", c.suspended)
		unchanged(t, w.viewer.Get("/teams/t").OK(t), after)
		if before.At("suspended").String() == after.At("suspended").String() {
			unchanged(t, after, before) // a repetition changes nothing
		}
	}
}

func TestTeamsAreListedByIDWhereAllTheirMembersAreInScope(t *testing.T) {
	t.Parallel()
	w, one, two := neighbours(t)
	reader, writer := w.clerks(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	elsewhere := syncTo(w.operator, "default-two", agentItem("a", "note", "other")).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+elsewhere+"/admit", doc{"reason": "r"}).OK(t)
	for id, members := range map[string][]string{"c": {reader, writer}, "A": {reader, writer}, "b": {reader, elsewhere}} {
		w.operator.Put("/teams/"+id, teamOf(members)).OK(t)
	}
	for _, c := range []struct {
		who  *harness.Client
		want []string
	}{{w.viewer, []string{"A", "b", "c"}}, {one, []string{"A", "c"}}, {two, nil}} {
		page := c.who.Get("/teams").OK(t).Is(t, "total", len(c.want)).Is(t, "nextOffset", nil)
		if diff := cmp.Diff(c.want, ids(page)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	one.Get("/teams?limit=1").OK(t).Is(t, "total", 2).Is(t, "nextOffset", 1).Is(t, "items.0.id", "A")
	for _, bad := range []string{"limit=0", "limit=201", "offset=-1", "projectId=" + shop, "status=READY", "suspended=true"} {
		w.viewer.Get("/teams?"+bad).Refused(t, "invalid_request")
	}
	for _, limited := range []*harness.Client{one, two} {
		limited.Get("/teams/b").Refused(t, "project_scope")
		limited.Put("/teams/b", revised(teamOf([]string{reader, writer}), 1)).Refused(t, "project_scope")
		limited.Post("/teams/b/suspend", doc{"reason": "r"}).Refused(t, "project_scope")
		limited.Post("/teams/b/runs", doc{"expectedRevision": 1}, key()).Refused(t, "project_scope")
	}
	w.operator.Put("/teams/b", revised(teamOf([]string{reader, writer}), 1)).OK(t)
	one.Get("/teams/b").OK(t).Is(t, "revision", 2) // a team's scope is that of its present members
}

func TestATeamHasStepsAndEachMemberARole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, writer := w.clerks(t)
	team := teamOf([]string{reader, writer})
	w.operator.Put("/teams/t", harness.With(team, "steps", []any{})).Refused(t, "invalid_request", "steps: there must be at least one")
	for _, blank := range []string{"", " ", "\u200b"} {
		w.operator.Put("/teams/t", harness.With(team, "members.1.role", blank)).Refused(t, "invalid_request", "members[1].role: must say what part agent "+writer+" has; it is blank")
	}
	w.viewer.Get("/teams").OK(t).Is(t, "total", 0)
}
