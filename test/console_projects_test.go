package test

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// sheetFields are the hidden fields of a page's forms, and the typed ones.
func sheetFields(p *harness.Page, typed ...string) url.Values {
	out := url.Values{}
	_, main, _ := strings.Cut(p.Text, "<main")
	for _, f := range hiddenInputs.FindAllStringSubmatch(main, -1) {
		out.Set(f[1], html.UnescapeString(f[2]))
	}
	for i := 0; i < len(typed); i += 2 {
		out.Set(typed[i], typed[i+1])
	}
	return out
}

// says checks that a page has a status and contains all texts.
func says(t *testing.T, p *harness.Page, status int, texts ...string) {
	t.Helper()
	if p.Status != status {
		t.Errorf("%s: %d, expected %d", p.URL.Path, p.Status, status)
	}
	for _, text := range texts {
		if !strings.Contains(html.UnescapeString(p.Text), text) {
			t.Errorf("%s doesn't say %q:\n%s", p.URL.Path, text, p.Text)
		}
	}
}

// leads checks that a form was accepted and led to a page.
func leads(t *testing.T, p *harness.Page, to string) {
	t.Helper()
	if !strings.HasPrefix(p.URL.Path, "/console"+to) {
		t.Fatalf("led to %s with %d, expected %s:\n%s", p.URL.Path, p.Status, to, p.Text)
	}
}

func TestAProjectIsRegisteredCheckedAndEnabledByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	made := ada.Submit("/projects/new", sheetFields(ada.Open("/projects/new"), "id", "mail", "name", "Letters", "adapter", "HTTP_JSON",
		"baseUrl", w.shop.Origin(), "healthPath", "/health", "auth.type", "HMAC", "auth.credentialEnv", harness.SecretEnv))
	leads(t, made, "/projects/default-mail")
	says(t, made, 200, "No LIVE run can use this project until it is checked and enabled.", harness.SecretEnv, "No capabilities yet.")
	checked := ada.Submit("/projects/default-mail/health-check", sheetFields(made))
	says(t, checked, 200, "No LIVE run can use this project until it is enabled.", "HTTP 200")
	blank := ada.Submit("/projects/default-mail/enable", sheetFields(checked))
	says(t, blank, 400, "1 field needs attention", `aria-invalid="true"`)
	enabled := ada.Submit("/projects/default-mail/enable", sheetFields(checked, "reason", "checked it"))
	says(t, enabled, 200, "LIVE runs may use this project.")
	w.Admin.Get("/projects/default-mail").OK(t).Is(t, "enabled", true).Is(t, "revision", 1)
	disabled := ada.Submit("/projects/default-mail/disable", sheetFields(enabled, "reason", "moving house"))
	says(t, disabled, 200, "No LIVE run can use this project until it is enabled.")
}

func TestTheFormSaysWhatIsWrongAtEachFieldAndKeepsTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	p := ada.Submit("/projects/new", sheetFields(ada.Open("/projects/new"), "id", "mail", "name", "Letters & parcels", "adapter", "HTTP_JSON",
		"baseUrl", "https://elsewhere.example", "auth.type", "BEARER", "auth.credentialEnv", harness.SecretEnv))
	says(t, p, 400, "SVC_PLATFORM_CONNECTION_ORIGINS", "Letters & parcels", `id="baseUrl-e"`, `aria-describedby="baseUrl-e baseUrl-h"`, `role="alert"`)
	w.Admin.Get("/projects/default-mail").Refused(t, "not_found")
	taken := ada.Submit("/projects/new", sheetFields(p, "id", "shop", "name", "x", "adapter", "LOCAL_ECHO", "auth.type", "NONE"))
	says(t, taken, 400, "There is a project default-shop already")
	badly := ada.Submit("/projects/"+shop+"/capability", sheetFields(ada.Open("/projects/"+shop+"/capability"),
		"name", "lookup", "method", "POST", "path", "/x/{id}", "input0name", "amount", "input0type", "number"))
	says(t, badly, 400, `id="name-e"`, `id="path-e"`, `value="amount"`)
}

func TestAProjectThatWasSavedMeanwhileKeepsTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, ben := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "ben@example.com", "ADMIN")
	first, second := ada.Open("/projects/"+shop+"/document"), ben.Open("/projects/"+shop+"/document")
	text := func(name string) string {
		return `{"name":"` + name + `","adapter":"LOCAL_ECHO","capabilities":[]}`
	}
	leads(t, ada.Submit("/projects/"+shop+"/document", sheetFields(first, "document", text("Ada's"))), "/projects/"+shop)
	late := ben.Submit("/projects/"+shop+"/document", sheetFields(second, "document", text("Ben's")))
	says(t, late, 409, "Not saved: someone else saved a newer revision. Your text is kept.", text("Ben's"), `"name": "Ada's"`, "Overwrite revision 2")
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "name", "Ada's")
	leads(t, ben.Submit("/projects/"+shop+"/document", sheetFields(late, "document", text("Ben's"))), "/projects/"+shop)
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "name", "Ben's").Is(t, "revision", 3)
	broken := ben.Submit("/projects/"+shop+"/document", sheetFields(ben.Open("/projects/"+shop+"/document"), "document", `{"name":"x",}`))
	says(t, broken, 400, `{"name":"x",}`, "invalid_json")
}

func TestACapabilityAddedByFormDisablesTheProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	form := ada.Open("/projects/" + shop + "/capability")
	says(t, form, 200, "Saving disables the project until it is checked and enabled again.")
	more := ada.Submit("/projects/"+shop+"/capability", sheetFields(form, "name", "pay", "more", "1"))
	says(t, more, 200, `value="pay"`)
	leads(t, ada.Submit("/projects/"+shop+"/capability", sheetFields(form, "name", "pay", "description", "Pays", "method", "POST", "path", "/pay/{id}",
		"input0name", "id", "input0type", "string", "input0required", "on", "input1name", "amount", "input1type", "number",
		"timeoutMs", "2500", "approval", "RISK_BASED", "idempotent", "on", "probe", "refund-status", "sensitive", "amount", "request.query", "-")), "/projects/"+shop)
	p := w.Admin.Get("/projects/" + shop).OK(t)
	p.Is(t, "enabled", false).Is(t, "revision", 2)
	last := fmt.Sprintf("capabilities.%d", len(p.At("capabilities").Items())-1)
	p.Is(t, last, doc{
		"name": "pay", "description": "Pays", "method": "POST", "path": "/pay/{id}", "approval": "RISK_BASED", "idempotent": true, "timeoutMs": 2500, "probe": "refund-status",
		"sensitive": []string{"amount"}, "request": doc{"query": []string{}},
		"inputSchema": doc{"id": doc{"type": "string", "required": true}, "amount": doc{"type": "number", "required": false}},
	})
	change := ada.Open("/projects/" + shop + "/capability?name=pay")
	says(t, change, 200, `name="request.query" value="-"`)
	late := ada.Submit("/projects/"+shop+"/capability", sheetFields(form, "name", "late", "method", "GET", "path", "/late"))
	says(t, late, 409, `value="late"`, "Your text is kept.")
}

func TestAChangedCapabilityKeepsWhatTheFormDoesNotSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	before := w.Admin.Get("/projects/" + shop).OK(t).At("capabilities").Items()
	form := ada.Open("/projects/" + shop + "/capability?name=lookup")
	leads(t, ada.Submit("/projects/"+shop+"/capability?name=lookup", sheetFields(form, "name", "lookup", "method", "GET", "path", "/orders/{resourceId}")), "/projects/"+shop)
	after := w.Admin.Get("/projects/" + shop).OK(t).At("capabilities").Items()
	for i := range before {
		if before[i].String() != after[i].String() {
			t.Errorf("%s became %s", before[i], after[i])
		}
	}
}

func TestAProjectInUseNamesTheRunsThatKeepIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	run := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, run)
	form := ada.Open("/projects/" + shop + "/edit")
	says(t, form, 200, `href="/console/runs/`+run+`"`, "An approver’s decision on r")
	refused := ada.Submit("/projects/"+shop+"/edit", sheetFields(form, "name", "New name", "adapter", "HTTP_JSON", "baseUrl", w.shop.Origin(), "auth.type", "HMAC", "auth.credentialEnv", harness.SecretEnv))
	says(t, refused, 409, "New name", `href="/console/runs/`+run+`"`, "project_in_use")
}

func TestViewersSeeProjectsWithoutForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "VIEWER")
	for _, path := range []string{"/projects", "/projects/" + shop, "/agents", "/teams"} {
		p := vic.Open(path)
		_, main, _ := strings.Cut(p.Text, "<main")
		if p.Status != 200 || strings.Contains(main, "<form") {
			t.Errorf("%s: %d, or it has a form", path, p.Status)
		}
	}
	for _, path := range []string{"/projects/new", "/projects/" + shop + "/edit", "/projects/" + shop + "/document", "/projects/" + shop + "/capability", "/projects/" + shop + "/try?capability=refund", "/teams/+new"} {
		says(t, vic.Open(path), 403)
	}
	says(t, vic.Submit("/projects/"+shop+"/disable", sheetFields(vic.Open("/settings"), "reason", "why not", "revision", "1")), 403, "role_required")
	says(t, vic.Submit("/projects/"+shop+"/document", sheetFields(vic.Open("/settings"), "document", "{}", "revision", "1")), 403, "role_required")
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", true).Is(t, "revision", 1)
	refused := w.tenantAdmin.Get("/audit?actor=user:vic@example.com&action=projects.write").OK(t)
	refused.Is(t, "total", 1).Is(t, "items.0.subject", "project/"+shop).Is(t, "items.0.outcome", "refused: role_required")
}

func TestTheConsoleHasNoPageOfAnotherTenantsProject(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/eve@example.com", doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"}).OK(t)
	eve := w.NewBrowser()
	eve.SignIn("eve@example.com")
	says(t, eve.Open("/projects"), 200, "No projects yet.")
	for _, path := range []string{"", "/edit", "/document", "/capability", "/try?capability=refund"} {
		says(t, eve.Open("/projects/"+shop+path), 404)
	}
	says(t, eve.Submit("/projects/"+shop+"/disable", sheetFields(eve.Open("/settings"), "reason", "mine", "revision", "1")), 404)
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", true)
}

func TestTryingACapabilityIsARehearsalWithTheDigitsAsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	form := ada.Open("/projects/" + shop + "/try?capability=refund")
	says(t, form, 200, "Nothing is sent and nobody is asked")
	wrong := ada.Submit("/projects/"+shop+"/try?capability=refund", sheetFields(form, "input.amount", "12,50"))
	says(t, wrong, 400, `value="12,50"`, "Write a number, such as 249.00.", `id="input.orderId-e"`)
	fields := sheetFields(wrong, "input.orderId", "ord-1", "input.amount", "249.00")
	first := ada.Submit("/projects/"+shop+"/try?capability=refund", fields)
	leads(t, first, "/runs/run-")
	if again := ada.Submit("/projects/"+shop+"/try?capability=refund", fields); again.URL.Path != first.URL.Path {
		t.Errorf("the form sent twice led to %s and %s", first.URL.Path, again.URL.Path)
	}
	run := w.reaches(t, strings.TrimPrefix(first.URL.Path, "/console/runs/"), "COMPLETED")
	run.Is(t, "mode", "DRY_RUN").Is(t, "steps.0.status", "SIMULATED").Is(t, "steps.0.request.body.amount", number("249.00"))
	says(t, ada.Submit("/projects/"+shop+"/try?capability=lookup", sheetFields(ada.Open("/projects/"+shop+"/try?capability=lookup"), "input", `{"resourceId":`)), 400, `{"resourceId":`)
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestACapabilitysFormKeepsTheBoundsOfItsInputs, also of a renamed input, and shows the expectation of its output.
func TestACapabilitysFormKeepsTheBoundsOfItsInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	p["capabilities"] = []any{harness.Capability("pay", "POST", "/notes", doc{"inputSchema": doc{"amount": doc{"type": "number", "required": true, "maximum": 5, "description": "in EUR"}}})}
	w.register(t, "default-pay", p)
	ada := w.person(t, "ada@example.com", "ADMIN")
	form := ada.Open("/projects/default-pay/capability?name=pay")
	says(t, form, 200, `name="input0was" value="amount"`)
	leads(t, ada.Submit("/projects/default-pay/capability?name=pay", sheetFields(form, "name", "pay", "method", "POST", "path", "/notes", "input0was", "amount", "input0name", "sum", "input0type", "number",
		"expectation.field", "ok", "expectation.equals", "true")), "/projects/default-pay")
	changed := w.Admin.Get("/projects/default-pay").OK(t)
	changed.Is(t, "capabilities.0.inputSchema", doc{"sum": doc{"type": "number", "required": false, "maximum": 5, "description": "in EUR"}})
	changed.Is(t, "capabilities.0.expectation", doc{"field": "ok", "equals": true})
	says(t, ada.Open("/projects/default-pay"), 200, "expects ok is true", "number, at most 5")
	says(t, ada.Open("/projects/default-pay/capability?name=pay"), 200, `name="expectation.field"`, `value="ok"`)
}
