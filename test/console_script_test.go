package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestNoTextBecomesMarkup: the console shows a name, a reason, an input or a receiver's answer as text, and executes nothing of it.
func TestNoTextBecomesMarkup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const evil = `"'></textarea></pre></title><script>alert(1)</script><img src=x onerror=alert(2)><a href="javascript:alert(3)">{{.}}&lt;b&gt;`
	all := w.principal(t, "ADMIN", "OPERATOR", "APPROVER")
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"`+strings.ReplaceAll(evil, `"`, `\"`)+`":"`+strings.ReplaceAll(evil, `"`, `\"`)+`"}`))
	model := harness.With(harness.With(harness.Model("evil"), "name", evil), "description", evil)
	model = harness.With(harness.With(model, "states.0.name", evil), "actions.0.name", evil)
	all.Put("/models/evil", doc{"document": model}).OK(t)
	project := harness.With(harness.Project(w.shop.Origin()), "name", evil)
	project = harness.With(project, "capabilities.0.description", evil)
	w.register(t, "default-evil", project)
	s := on("default-evil", harness.With(step("n", "note", doc{"text": evil, evil: evil}), "name", evil))
	refund := on("default-evil", harness.With(step("r", "refund", doc{"orderId": evil}), "name", evil))
	plan := all.Post("/plans", harness.With(harness.With(planOf(s, refund), "modelId", "evil"), "name", evil)).OK(t).Is(t, "status", "READY").At("id").Text()
	run := w.start(t, plan)
	approval := w.approval(t, run).At("id").Text()
	agents := all.Post("/systems/default-evil/agents/sync", manifest(harness.With(harness.With(agentItem(evil, "note", "evil"), "goal", evil), "role", evil))).OK(t)
	agent := agents.At("items.0.id").Text()
	all.Post("/agents/"+agent+"/suspend", doc{"reason": evil}).OK(t)
	all.Post("/tokens", doc{"name": evil, "roles": []string{"VIEWER"}}).OK(t)
	ada := w.person(t, "ada@example.com", "ADMIN", "OPERATOR", "APPROVER")
	before := ada.Open("/approvals/" + approval)
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": evil}).OK(t)
	w.reaches(t, run, "FAILED")
	pages := []*harness.Page{before}
	for _, path := range []string{
		"/", "/models", "/models/evil", "/models/evil?document=1", "/models/evil/edit", "/projects", "/projects/default-evil", "/projects/default-evil/edit", "/plans", "/plans/" + plan,
		"/runs", "/runs/" + run, "/runs/" + run + "?step=n", "/runs/" + run + "?step=r", "/approvals", "/approvals/" + approval, "/agents", "/agents/" + agent, "/audit", "/access/tokens",
		"/search?q=" + url.QueryEscape(evil), "/nothing/" + url.PathEscape(evil), "/runs?status=" + url.QueryEscape(evil),
	} {
		pages = append(pages, ada.Open(path))
	}
	shownAt := 0
	for _, p := range pages {
		for _, markup := range []string{"<script>alert", "<img src=x", `href="javascript:`, "onerror=alert(2)>", "{{.}}&lt;b"} {
			if strings.Contains(p.Text, markup) {
				t.Errorf("%s holds %s", p.URL, markup)
			}
		}
		if strings.Contains(p.Text, "alert(1)") {
			shownAt++
		}
	}
	if shownAt < 10 {
		t.Errorf("only %d of %d pages show the text: the test looks at the wrong ones", shownAt, len(pages))
	}
}
