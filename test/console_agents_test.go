package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestAnAgentIsAdmittedAndSuspendedByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, opal := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "opal@example.com", "OPERATOR")
	id := w.sync(t, fixing(agentItem("clerk", "refund", "refund"), doc{"refund": doc{"amount": number("249.00")}}))[0]
	says(t, opal.Open("/agents/"+id), 200, "This agent can’t run until an admin admits it.")
	form := ada.Open("/agents/" + id)
	says(t, form, 200, "This agent can’t run until you admit it.", "249.00", "No heartbeat yet.")
	says(t, ada.Submit("/agents/"+id+"/admit", sheetFields(form, "reason", " ")), 400, "field needs attention")
	says(t, ada.Submit("/agents/"+id+"/admit", sheetFields(form, "reason", "known", "revision", "7")), 409, "revision_conflict", `value="known"`)
	admitted := ada.Submit("/agents/"+id+"/admit", sheetFields(form, "reason", "known"))
	says(t, admitted, 200, "This agent may be run.")
	w.Admin.Get("/agents/"+id).OK(t).Is(t, "status", "ADMITTED")
	says(t, ada.Submit("/agents/"+id+"/suspend", sheetFields(admitted, "reason", "odd answers")), 200, "This agent is suspended: it can’t run.")
	w.Admin.Get("/agents/"+id).OK(t).Is(t, "suspended", true)
}

func TestAnAgentRunIsStartedOnceHoweverOftenItsFormIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	id := w.admitted(t, fixing(agentItem("clerk", "refund", "refund"), doc{"refund": doc{"amount": number("249.00")}}))[0]
	to := "/agents/" + id + "/run?capability=refund"
	form := opal.Open(to)
	says(t, form, 200, "fixed by the manifest", "249.00")
	says(t, opal.Submit(to, sheetFields(form, "input.orderId", "ord-1")), 400, `value="ord-1"`, `id="mode-e"`)
	says(t, opal.Submit(to, sheetFields(form, "mode", "LIVE", "input.orderId", "ord-1")), 400, "expectation_required", `value="ord-1"`)
	fields := sheetFields(form, "mode", "DRY_RUN", "input.orderId", "ord-1")
	first := opal.Submit(to, fields)
	leads(t, first, "/runs/run-")
	if again := opal.Submit(to, fields); again.URL.Path != first.URL.Path {
		t.Errorf("the form sent twice led to %s and %s", first.URL.Path, again.URL.Path)
	}
	run := w.reaches(t, strings.TrimPrefix(first.URL.Path, "/console/runs/"), "COMPLETED")
	run.Is(t, "agentId", id).Is(t, "steps.0.request.body", doc{"orderId": "ord-1", "amount": number("249.00")})
	other := fields
	other.Set("input.orderId", "ord-2")
	conflict := opal.Submit(to, other)
	says(t, conflict, 409, "idempotency_conflict", `value="ord-2"`)
	leads(t, opal.Submit(to, sheetFields(conflict, "mode", "DRY_RUN", "input.orderId", "ord-2")), "/runs/run-")
	live := sheetFields(opal.Open(to), "mode", "LIVE", "input.orderId", "ord-3", "expectation.field", "status", "expectation.equals", `"succeeded"`, "expectation.statusCode", "201")
	started := opal.Submit(to, live)
	leads(t, started, "/runs/run-")
	waiting := w.approval(t, strings.TrimPrefix(started.URL.Path, "/console/runs/"))
	waiting.Is(t, "inputSnapshot.orderId", "ord-3")
}

func TestAgentsAreFilteredByLivenessAndTheirRowsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "VIEWER")
	says(t, vic.Open("/agents"), 200, "No agents yet.")
	ids := w.sync(t, agentItem("busy", "refund", "refund"), agentItem("silent", "lookup", "refund"))
	w.operator.Post("/agents/"+ids[0]+"/heartbeat", beat("one", 1, "BUSY")).OK(t)
	harness.Until(t, "the heartbeat to show", func() bool {
		return strings.Contains(vic.Open("/agents?liveness=BUSY").Text, ids[0])
	})
	busy := vic.Open("/agents?liveness=BUSY")
	if strings.Contains(busy.Text, "/agents/"+ids[1]) {
		t.Error("the filter lets an agent pass that is unknown")
	}
	says(t, vic.Open("/agents?liveness=STALE"), 200, "Nothing matches.")
	w.operator.Post("/agents/"+ids[0]+"/heartbeat", beat("one", 2, "ERROR")).OK(t)
	harness.Until(t, "the liveness to change", func() bool {
		now := vic.Open("/agents/+liveness?ids=" + ids[0] + "+nobody")
		return now.Status == 200 && strings.Contains(now.Text, `id="now-`+ids[0]+`" hx-swap-oob`) && strings.Contains(now.Text, "Error")
	})
	says(t, vic.Open("/agents/"+ids[0]), 200, "one", "Error")
	if part := vic.Open("/agents/" + ids[0] + "/instances"); part.Status != 200 || strings.Contains(part.Text, "<html") {
		t.Errorf("the instances alone: %d %s", part.Status, part.Text)
	}
}

func TestATeamIsMadeEditedRunAndSuspendedByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR", "ADMIN")
	reader, writer := w.clerks(t)
	text := `{"name":"Desk","members":[{"agentId":"` + reader + `","role":"reads"},{"agentId":"` + writer + `","role":"writes"}],"steps":[` +
		`{"id":"look","name":"Look","agentId":"` + reader + `","capability":"lookup","input":{"resourceId":"o-1"},"expectation":{"field":"state","equals":"returned"}},` +
		`{"id":"note","name":"Note","agentId":"` + writer + `","capability":"note","dependsOn":["look"],"inputBindings":{"amount":{"stepId":"look","field":"total"}}}]}`
	says(t, opal.Submit("/teams/+new", sheetFields(opal.Open("/teams/+new"), "id", "desk", "document", strings.Replace(text, writer, reader, 2))), 400, `"id":"look"`, `value="desk"`)
	made := opal.Submit("/teams/+new", sheetFields(opal.Open("/teams/+new"), "id", "desk", "document", text))
	leads(t, made, "/teams/desk")
	says(t, made, 200, "This team may be run.", "from look.total", `"EUR"`, "<svg")
	form := opal.Open("/teams/desk/document")
	leads(t, opal.Submit("/teams/desk/document", sheetFields(form, "document", strings.Replace(text, "Desk", "Returns", 1))), "/teams/desk")
	says(t, opal.Submit("/teams/desk/document", sheetFields(form, "document", text)), 409, "Overwrite revision 2", `"name":"Desk"`)
	run := opal.Submit("/teams/desk/run", sheetFields(opal.Open("/teams/desk/run"), "mode", "DRY_RUN", "inputs", `{"look":{"resourceId":"o-2"}}`))
	leads(t, run, "/runs/run-")
	w.reaches(t, strings.TrimPrefix(run.URL.Path, "/console/runs/"), "COMPLETED").Is(t, "steps.0.input.resourceId", "o-2")
	suspended := opal.Submit("/teams/desk/suspend", sheetFields(opal.Open("/teams/desk"), "reason", "holiday"))
	says(t, suspended, 200, "This team is suspended: no run of it starts.")
	says(t, opal.Submit("/teams/desk/run", sheetFields(opal.Open("/teams/desk/run"), "mode", "DRY_RUN")), 409, "drift")
	says(t, opal.Submit("/teams/desk/resume", sheetFields(suspended, "reason", "back")), 200, "This team may be run.")
	w.Admin.Post("/agents/"+writer+"/suspend", doc{"reason": "odd"}).OK(t)
	says(t, opal.Open("/teams/desk"), 200, "This team can’t run: 1 of its 2 members is not admitted.", `href="/console/agents/`+writer+`"`)
}

// TestPagesOfMuchStaySmall: a page is at most as large as a phone loads in a second or two, however many records there are.
func TestPagesOfMuchStaySmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "ADMIN", "OPERATOR")
	list := harness.Capabilities()
	for i := range 150 {
		list = append(list, harness.Capability("extra-"+strings.Repeat("x", 60)+string(rune('a'+i%26))+string(rune('a'+i/26)), "GET", "/a/long/path/of/many/segments/{resourceId}", doc{"description": strings.Repeat("What it does. ", 8)}))
	}
	w.Admin.Put("/projects/"+shop, harness.With(harness.With(harness.Project(w.shop.Origin()), "capabilities", list), "expectedRevision", 1)).OK(t)
	var agents []doc
	for i := range 60 {
		agents = append(agents, agentItem("agent-"+string(rune('a'+i%26))+string(rune('a'+i/26)), "lookup", "refund"))
	}
	ids := w.admitted(t, agents...)
	steps := []doc{}
	for i := range 100 {
		s := teamStep("step-"+string(rune('a'+i%26))+string(rune('a'+i/26)), ids[i%50], "lookup", doc{"resourceId": "o-1"})
		if i > 0 {
			s = harness.With(s, "dependsOn", []any{steps[i-1]["id"]})
		}
		steps = append(steps, s)
	}
	w.operator.Put("/teams/many", teamOf(ids[:50], steps...)).OK(t)
	for _, path := range []string{"/projects/" + shop, "/agents", "/teams/many"} {
		if p := vic.Open(path); p.Status != 200 || len(p.Text) > 150_000 {
			t.Errorf("%s: %d, %d bytes", path, p.Status, len(p.Text))
		}
	}
	if p := vic.Open("/agents/+liveness?ids=" + strings.Join(ids, "+")); p.Status != 200 {
		t.Errorf("liveness of %d agents: %d", len(ids), p.Status)
	}
}

// TestAFormsBodyIsJudgedAsTheAPIsIs: what a body may be isn't the API's decoder's alone to say.
func TestAFormsBodyIsJudgedAsTheAPIsIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	opal := w.person(t, "opal@example.com", "OPERATOR")
	path := "/agents/" + id + "/run?capability=note"
	for _, mode := range []string{"live", "XYZ", "Live", "DRY-RUN"} {
		p := opal.Submit(path, asShown(opal.Open(path), "mode", mode))
		says(t, p, 400, "mode")
	}
	w.operator.Get("/runs").OK(t).Is(t, "total", 0)
	if n := len(w.shop.Seen("POST", "/notes")); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
}
