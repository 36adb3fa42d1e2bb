package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// chosen picks one of a list's values, which counts as a click.
func (p *tab) chosen(selector, value string) {
	p.t.Helper()
	p.clicks++
	p.fill(selector, value)
}

// follow clicks the first element of a selector, and waits for the page to which it leads.
func (p *tab) follow(selector string) {
	p.t.Helper()
	p.clicks++
	p.until("an element "+selector, `(function () { var e = document.querySelector(`+quoted(selector)+`); if (!e) return false; window.left = true; e.click(); return true })()`)
	p.until("the page after "+selector, `document.readyState === "complete" && !window.left`)
}

// operations is how many operations the document of the stories has.
const operations = 300

func largeDocument(t *testing.T, origin string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "openapi: 3.0.3\ninfo: {title: Large, version: '1'}\nservers: [{url: '%s'}]\npaths:\n", origin)
	for i := range operations {
		fmt.Fprintf(&b, "  /things%d/{id}:\n    get:\n      operationId: things%d.read\n      parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n      responses: {'200': {description: OK, content: {application/json: {schema: {type: object, properties: {total: {type: number}}}}}}}\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDailyStoriesTakeFewClicksAndNoJSON counts from the overview, signed in: each press of a
// link, a button, a box or a list's value. Typing isn't counted, and nothing that is typed is
// JSON.
func TestDailyStoriesTakeFewClicksAndNoJSON(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.fill()
	for range 2 {
		s.reaches(s.start("refund-live"), "WAITING_APPROVAL")
	}
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"ADMIN", "OPERATOR"}}).OK(t)
	s.admin.Post("/tokens", doc{"name": "old", "roles": []string{"VIEWER"}, "expiresInDays": 9}).OK(t)
	ada, mara := newTab(t, h.Server), newTab(t, h.Server)
	ada.signIn(s.mail("ada"))
	mara.signIn(s.mail("mara"))
	document := largeDocument(t, s.receiver.Origin())
	for _, one := range []struct {
		name string
		by   *tab
		most int
		tell func(p *tab)
	}{
		{"approve", mara, 2, func(p *tab) {
			p.follow(`main a.row[href*="/approvals/"]`)
			p.fill("#why", "The item is back.")
			p.press("main", "Approve and send")
		}},
		{"reject", mara, 2, func(p *tab) {
			p.follow(`main a.row[href*="/approvals/"]`)
			p.fill("#why", "The item never came back.")
			p.press("main", "Reject")
		}},
		{"recover, with the output of the probe", mara, 4, func(p *tab) {
			p.follow(`main a.row[href="` + "/console" + s.paths["recovery page"] + `"]`)
			p.press("main", "probe 1")
			p.choose("resolution", "CONFIRMED_COMPLETED")
			p.fill("#ev", "The shop's own list has it.")
			p.press("#decide", "Record: it happened")
		}},
		{"run again with a change", ada, 4, func(p *tab) {
			p.follow(`main a.row[href="/console` + s.paths["rejected run"] + `"]`)
			p.press("main", "Change and run again")
			p.fill(`main [name$="amount"], main [name$="orderId"]`, "A-48214")
			p.fill(`[name="reason"]`, "another order")
			p.press("main", "Review the changes")
			p.press("main", "Start the live run")
			p.at("/runs/run-")
		}},
		{"connect an API of 300 operations", ada, 9, func(p *tab) {
			p.press("nav", "Projects")
			p.press("main", "Register a project")
			p.press("main", "From an OpenAPI document")
			p.fill("#id", "large")
			p.clicks++
			p.do(chromedp.SetUploadFiles("#file", []string{document}))
			p.press("main", "Read the document")
			p.press("main", fmt.Sprintf("Tick all %d", operations))
			p.press("main", "Next: the connection")
			p.choose("auth.type", "NONE")
			p.press("main", "Register")
			p.at("/projects/default-large")
		}},
		{"build a plan of two steps", ada, 11, func(p *tab) {
			p.press("nav", "Plans")
			p.press("main", "New plan")
			p.fill("#name", "Refund by form")
			p.chosen("#modelId", "refund-agent")
			p.choose("mode", "DRY_RUN")
			p.fill("#find", "orders.read")
			p.press("#offers", "Find")
			p.press("#offers", "Add")
			p.fill(`[name="steps[0].input.orderId"]`, "A-48213")
			p.fill("#find", "refund.create")
			p.press("#offers", "Find")
			p.press("#offers", "Add")
			p.fill(`[name="steps[1].input.orderId"]`, "A-48213")
			p.click("#step-1", "amount from an earlier step…", "")
			p.chosen(`[name="steps[1].inputBindings.amount.stepId"]`, js[string](p, `document.querySelector('[name="steps[0].key"]').value`))
			p.fill(`[name="steps[1].inputBindings.amount.field"]`, "total")
			p.press("main", "Save the plan")
			p.at("/plans/plan-")
		}},
		{"store a model from nothing", ada, 10, func(p *tab) {
			p.press("nav", "Models")
			p.press("main", "New model")
			p.fill(`[name="model.id"]`, "letters")
			p.fill(`[name="model.name"]`, "Letters")
			p.press("main", "Add the start state")
			p.press("#element", "Add the transition")
			p.press("#element", "Create an action for it")
			p.follow("#pick-states-1")
			p.tick(`[name="states[1].isFinal"]`)
			p.press("main", "Add a scenario")
			p.press("#element", "Simulate and use the result")
			p.press("main", "Save")
			p.at("/models/letters")
		}},
		{"add an approver", ada, 5, func(p *tab) {
			p.press("nav", "Access")
			p.press("main", "Add a user")
			p.fill("#email", "new@default.example")
			p.tick(`[name="roles"][value="APPROVER"]`)
			p.choose("reach", "all")
			p.press("main", "Add the user")
			p.sees("new@default.example")
		}},
		{"revoke a token", ada, 4, func(p *tab) {
			p.press("nav", "Access")
			p.press("main", "Tokens")
			p.follow(`main a[aria-label="Revoke old"]`)
			p.press("main", "Revoke")
		}},
		{"find an audit record", ada, 4, func(p *tab) {
			p.press("nav", "Audit")
			p.chosen("#action", "approvals.decide")
			p.press("main", "Filter")
			p.follow("main a.row")
			p.at("/audit/records/")
		}},
	} {
		one.by.open("/")
		one.by.clicks = 0
		one.tell(one.by)
		t.Logf("| %s | %d |", one.name, one.by.clicks)
		if one.by.clicks > one.most {
			t.Errorf("%s took %d clicks, at most %d are enough", one.name, one.by.clicks, one.most)
		}
	}
	s.all.Get("/models/letters").OK(t).Is(t, "revision", 1)
	if n := len(s.all.Get("/projects/default-large").OK(t).At("capabilities").Items()); n != operations {
		t.Errorf("%d capabilities are registered", n)
	}
}
