package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// TestPagesOfFormsAreSound looks at the pages on which plans, teams, agents and webhooks
// are made without JSON, and builds a plan as a person does.
func TestPagesOfFormsAreSound(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.all = s.token("ADMIN", "OPERATOR", "APPROVER")
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(t)
	plan := s.refund("refund-live", "A-48213", "LIVE")
	s.fillAgents()
	s.admin.Put("/webhooks/ops", doc{"url": s.receiver.Origin() + "/told", "events": []string{"live.stopped"}, "secretEnv": harness.SecretEnv}).OK(t)
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"ADMIN", "OPERATOR"}}).OK(t)
	p := newTab(t, h.Server)
	p.signIn(s.mail("ada"))
	for _, one := range [][2]string{
		{"webhooks", "/access/webhooks"}, {"webhook", "/access/webhooks/ops"}, {"new webhook", "/access/webhooks/+new"}, {"delete webhook", "/access/webhooks/ops/delete"},
		{"plan form", "/plans/+form"}, {"copied plan", "/plans/+form?from=" + plan}, {"team form", "/teams/+form"}, {"edited team", "/teams/returns/edit"},
		{"agent form", "/projects/" + s.shop() + "/agent"}, {"edited agent", s.paths["agent"] + "/edit"}, {"upload", "/projects/+import"},
		{"models", "/models"}, {"new model form", "/models/+form"}, {"model form", "/models/refund-agent/form"}, {"model form state", "/models/refund-agent/form?at=states[1]"}, {"model form transition", "/models/refund-agent/form?at=transitions[0]"},
		{"model form variable", "/models/refund-agent/form?at=variables[0]"}, {"model form action", "/models/refund-agent/form?at=actions[0]"}, {"model form scenario", "/models/refund-agent/form?at=scenarios[0]"},
	} {
		p.look(one[0], one[1])
	}
	p.buildsAPlan(s)
	p.choosesFromADocument(t, s)
	p.lookAt("manual search", "/docs/search?q=refund")
}

// TestWhatWasTypedIsNotLeftUnasked: a form asks before its page is left, until it is saved.
func TestWhatWasTypedIsNotLeftUnasked(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"OPERATOR"}}).OK(t)
	p := newTab(t, h.Server)
	p.signIn(s.mail("ada"))
	asks := func(want bool, when string) {
		t.Helper()
		if got := js[bool](p, `!window.dispatchEvent(new Event("beforeunload", {cancelable: true}))`); got != want {
			t.Errorf("%s: asks %v", when, got)
		}
	}
	p.open("/models/+form")
	asks(false, "nothing was typed")
	p.fill(`[name="model.id"]`, "letters")
	asks(true, "typed")
	p.fill(`[name="model.name"]`, "Letters")
	p.press("main", "Add the start state")
	p.sees("State: Start")
	asks(true, "the page that a form was answered with")
	p.press("main", "Save")
	asks(false, "saved")
	p.open("/runs?status=FAILED")
	asks(false, "a page that only finds")
}

// TestAModelIsMadeFromNothingOnItsDiagram: it is checked as it is typed, its states are chosen
// on the diagram, and once stored it is simulated.
func TestAModelIsMadeFromNothingOnItsDiagram(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"OPERATOR"}}).OK(t)
	p := newTab(t, h.Server)
	p.signIn(s.mail("ada"))
	p.open("/models")
	p.press("main", "New model")
	p.fill(`[name="model.id"]`, "letters")
	p.fill(`[name="model.name"]`, "Letters")
	p.press("main", "Add the start state")
	p.sees("State: Start")
	p.types(`[name="states[0].name"]`, "Asked")
	p.until("the diagram to be drawn again", `document.querySelector("#sheet .graph").textContent.includes("Asked")`)
	p.until("the finding of the typed state", `document.querySelector("#sheet .finding") !== null`)
	p.press("#element", "Add the transition")
	p.press("#element", "Create an action for it")
	p.fill(`[name="actions[0].simulatedResult"]`, "answered")
	js[bool](p, `document.querySelector('#sheet .graph a[href="#pick-states-1"]').dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`)
	p.until("the clicked state's fields", `document.querySelector("[name='states[1].name']") !== null`)
	p.fill(`[name="states[1].name"]`, "Answered")
	p.tick(`[name="states[1].isFinal"]`)
	p.press("main", "Add a scenario")
	p.sees("Choose a state.")
	p.judge("model form with an error", "as it stands")
	p.press("#element", "Simulate and use the result")
	p.press("main", "Save")
	p.at("/models/letters")
	p.sees("1 of 1 pass")
	p.sees("Result: answered")
}

// types types into a field as a person does, key by key.
func (p *tab) types(selector, text string) {
	p.t.Helper()
	js[bool](p, `(function () { var f = document.querySelector(`+quoted(selector)+`); f.focus(); f.select(); return true })()`)
	p.do(chromedp.KeyEvent(text))
}

// buildsAPlan adds a step by the search, is told what is missing, and stores the plan.
func (p *tab) buildsAPlan(s *stage) {
	p.t.Helper()
	p.open("/plans/+form")
	p.fill("#find", "orders")
	p.press("#offers", "Find")
	p.press("#offers", "Add")
	p.fill("#name", "Read an order")
	p.fill("#modelId", "refund-agent")
	p.choose("mode", "DRY_RUN")
	js[bool](p, `Array.from(document.querySelectorAll("[required]")).forEach(function (f) { f.required = false }), true`)
	p.press("main", "Save the plan")
	p.sees("1 field needs attention.")
	p.judge("plan form refused", "as it stands")
	if at := js[string](p, `document.activeElement.name`); at != "steps[0].input.orderId" {
		p.t.Errorf("the form begins at %q", at)
	}
	p.fill(`[name="steps[0].input.orderId"]`, "A-48213")
	p.fill("#find", "refund.create")
	p.press("#offers", "Find")
	p.press("#offers", "Add")
	p.fill(`[name="steps[1].input.orderId"]`, "A-48213")
	key := js[string](p, `document.querySelector('[name="steps[0].key"]').value`)
	p.fill(`[name="steps[1].inputBindings.amount.stepId"]`, key)
	p.fill(`[name="steps[1].inputBindings.amount.field"]`, "total")
	p.press("main", "Save the plan")
	p.at("/plans/plan-")
	p.sees("orders.read.total")
}

// choosesFromADocument uploads a document and registers what is chosen from it.
func (p *tab) choosesFromADocument(t *testing.T, s *stage) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "openapi.yaml")
	document := "openapi: 3.0.3\ninfo: {title: Letters, version: '1'}\nservers: [{url: '" + s.receiver.Origin() + "'}]\npaths:\n  /letters/{id}:\n    get:\n      operationId: letters.read\n      summary: One letter\n" +
		"      parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n      responses: {'200': {description: OK, content: {application/json: {schema: {type: object}}}}}\n"
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	p.open("/projects/+import")
	p.fill("#id", "letters")
	p.do(chromedp.SetUploadFiles("#file", []string{file}))
	p.press("main", "Read the document")
	p.sees("letters.read")
	p.judge("chosen operations", "as it stands")
	p.tick(`[name="chosen"]`)
	p.press("main", "Next: the connection")
	p.judge("connection of a document", "as it stands")
	p.choose("auth.type", "NONE")
	p.press("main", "Register")
	p.at("/projects/default-letters")
	p.sees("letters.read")
}
