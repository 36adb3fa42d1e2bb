package test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var (
	typedInputs  = regexp.MustCompile(`<input [^>]*>`)
	typedAreas   = regexp.MustCompile(`(?s)<textarea [^>]*name="([^"]*)"[^>]*>\n?(.*?)</textarea>`)
	typedSelects = regexp.MustCompile(`(?s)<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>`)
	typedOptions = regexp.MustCompile(`<option(?: value="([^"]*)")?( selected)?[^>]*>([^<]*)</option>`)
	inputAttr    = regexp.MustCompile(`(name|value|type)="([^"]*)"`)
)

// asShown are the fields of the main form as a browser would send them, and the typed ones.
func asShown(p *harness.Page, typed ...string) url.Values {
	out := url.Values{}
	_, main, _ := strings.Cut(p.Text, "<main")
	for _, tag := range typedInputs.FindAllString(main, -1) {
		attrs := map[string]string{}
		for _, a := range inputAttr.FindAllStringSubmatch(tag, -1) {
			attrs[a[1]] = html.UnescapeString(a[2])
		}
		box := attrs["type"] == "checkbox" || attrs["type"] == "radio"
		if _, valued := attrs["value"]; box && !valued {
			attrs["value"] = "on"
		}
		if attrs["name"] != "" && (!box || strings.Contains(tag, " checked")) {
			out.Add(attrs["name"], attrs["value"])
		}
	}
	for _, a := range typedAreas.FindAllStringSubmatch(main, -1) {
		out.Set(a[1], html.UnescapeString(a[2]))
	}
	for _, s := range typedSelects.FindAllStringSubmatch(main, -1) {
		options := typedOptions.FindAllStringSubmatch(s[2], -1)
		for i, o := range options {
			if i == 0 || o[2] != "" {
				out.Set(html.UnescapeString(s[1]), html.UnescapeString(o[1]))
			}
		}
	}
	for i := 0; i < len(typed); i += 2 {
		out.Set(typed[i], typed[i+1])
	}
	return out
}

const planForm = "/plans/+form"

func TestAPlanIsBuiltByFormFromSearchToPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	p := opal.Open(planForm)
	says(t, p, 200, "None yet: add the first one below.")
	p = opal.Submit(planForm, asShown(p, "find", "/orders/", "do", "find"))
	says(t, p, 200, `name="add" value="`+shop+`/lookup"`)
	p = opal.Submit(planForm, asShown(p, "add", shop+"/lookup"))
	says(t, p, 200, `name="steps[0].id"`, `value="lookup"`, "this capability declares none")
	p = opal.Submit(planForm, asShown(p, "steps[0].id", "read", "steps[0].name", "Read <it>", "steps[0].input", `{"resourceId": "o-1"}`, "find", "refund", "do", "find"))
	p = opal.Submit(planForm, asShown(p, "add", shop+"/refund"))
	says(t, p, 200, `value="Read <it>"`, "1. Read <it>", `name="steps[1].dependsOn" value="k" checked`)
	missing := opal.Submit(planForm, asShown(p, "do", "store"))
	says(t, missing, 400, `id="name-e"`, `id="modelId-e"`, `id="mode-e"`, `id="steps[1].input.orderId-e"`)
	form := asShown(missing, "name", "Refund o-1", "modelId", "refund", "mode", "DRY_RUN", "steps[1].id", "refund", "do", "store",
		"steps[1].input.orderId", "o-1", "steps[1].inputBindings.amount.stepId", "k", "steps[1].inputBindings.amount.field", "total",
		"steps[1].expectation.field", "state", "steps[1].expectation.equals", `"succeeded"`)
	stored := opal.Submit(planForm, form)
	leads(t, stored, "/plans/plan-")
	says(t, stored, 200, "Read <it>", "read.total")
	made := w.operator.Get(strings.TrimPrefix(stored.URL.Path, "/console")).OK(t)
	made.Is(t, "status", "READY").Is(t, "mode", "DRY_RUN").Is(t, "steps.0", doc{"id": "read", "name": "Read <it>", "projectId": shop, "capability": "lookup", "input": doc{"resourceId": "o-1"}})
	made.Is(t, "steps.1", doc{
		"id": "refund", "name": "refund", "projectId": shop, "capability": "refund", "input": doc{"orderId": "o-1"}, "dependsOn": []string{"read"},
		"inputBindings": doc{"amount": doc{"stepId": "read", "field": "total"}}, "expectation": doc{"field": "state", "equals": "succeeded"},
	})
	copied := opal.Open(planForm + "?from=" + made.At("id").Text())
	says(t, copied, 200, "Copied from")
	again := opal.Submit(planForm, asShown(copied, "mode", "LIVE", "do", "store"))
	leads(t, again, "/plans/plan-")
	w.operator.Get(strings.TrimPrefix(again.URL.Path, "/console")).OK(t).Is(t, "mode", "LIVE").Is(t, "planDigest", made.At("planDigest"))
}

func TestAPlansFormSaysWhatIsWrongAtItsFieldAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	says(t, opal.Submit(planForm, asShown(opal.Open(planForm), "name", "n", "modelId", "refund", "mode", "LIVE", "do", "store")), 400, "add at least one step below")
	p := opal.Submit(planForm, asShown(opal.Open(planForm), "add", shop+"/refund"))
	p = opal.Submit(planForm, asShown(p, "add", shop+"/refund"))
	says(t, p, 200, `value="refund-2"`)
	bad := opal.Submit(planForm, asShown(p, "name", "n", "modelId", "refund", "mode", "LIVE", "do", "store",
		"steps[0].input.orderId", "o\u202e-1", "steps[0].input.amount", "12,50", "steps[1].id", "no id", "steps[1].input.orderId", "o",
		"steps[1].inputBindings.amount.stepId", "gone", "steps[1].expectation.equals", "succeeded"))
	says(t, bad, 400, `id="steps[0].input.amount-e"`, `value="12,50"`, `id="steps[1].id-e"`, `id="steps[1].inputBindings.amount.stepId-e"`, `id="steps[1].expectation.field-e"`)
	same := opal.Submit(planForm, asShown(p, "name", "n", "modelId", "refund", "mode", "LIVE", "do", "store", "steps[0].input.orderId", "o", "steps[1].id", "refund", "steps[1].input.orderId", "o"))
	says(t, same, 400, `id="steps[1].id-e"`, "is the id of steps[0] already")
	w.operator.Get("/plans").OK(t).Is(t, "total", 0)
	removed := opal.Submit(planForm, asShown(bad, "remove", "0"))
	says(t, removed, 200, `name="steps[0].id" value="no id"`)
	mustNotHold(t, removed, "12,50")
	mustNotHold(t, removed, `name="steps[1].id"`)
	says(t, opal.Submit(planForm, asShown(removed, "add", "default-nowhere/x")), 200)
	vic := w.person(t, "vic@example.com", "VIEWER")
	says(t, vic.Open(planForm), 403)
	says(t, vic.Submit(planForm, sheetFields(vic.Open("/settings"), "do", "store")), 403, "role_required")
}

func TestABindingsFieldIsOfferedAndCheckedWhereTheCapabilityDeclaresIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR", "ADMIN")
	echo := doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": []any{
		doc{"name": "read", "method": "GET", "path": "/read", "outputs": []string{"total", "payment.id"}},
		doc{"name": "keep", "method": "GET", "path": "/keep", "inputSchema": doc{"amount": doc{"type": "number", "required": true}}},
		doc{"name": "open", "method": "GET", "path": "/open", "expectation": doc{"field": "state", "equals": "ok"}, "sensitive": []string{"card"}},
	}}
	w.tenantAdmin.Put("/projects/default-echo", echo).OK(t).Is(t, "capabilities.0.outputs", []string{"total", "payment.id"})
	w.tenantAdmin.Put("/projects/default-echo", harness.With(harness.With(echo, "capabilities.0.outputs", []string{""}), "expectedRevision", 1)).Refused(t, "invalid_request", "capabilities[0].outputs[0]")
	p := opal.Open(planForm)
	for _, name := range []string{"read", "open", "keep"} {
		p = opal.Submit(planForm, asShown(p, "add", "default-echo/"+name))
	}
	const at = "steps[2].inputBindings.amount"
	reads(t, p, 200, `<option value="payment.id" label="payment.id, 1. read">`, `<option value="state" label="state, 2. open">`, `<option value="card" label="card, 2. open">`)
	typed := []string{"name", "n", "modelId", "refund", "mode", "DRY_RUN", "do", "store", at + ".stepId", "k"}
	wrong := opal.Submit(planForm, asShown(p, append(typed, at+".field", "sum")...))
	reads(t, wrong, 400, `id="`+at+`.field-e"`, "Read has no field sum in its output; it has total, payment.id.", `<option value="total">`)
	for _, field := range []string{"total", "$", "payment", "payment.id", "total.0"} {
		p = opal.Submit(planForm, asShown(wrong, append(typed, at+".field", field)...))
		if leads := strings.HasPrefix(p.URL.Path, "/console/plans/plan-"); !leads {
			t.Errorf("%s: %d\n%s", field, p.Status, mainOf(p))
		}
	}
	open := opal.Submit(planForm, asShown(wrong, append(typed, at+".stepId", "k-2", at+".field", "anything.else")...))
	leads(t, open, "/plans/plan-")
	form := opal.Open("/projects/default-echo/capability?name=read")
	reads(t, form, 200, `value="total, payment.id"`)
	leads(t, opal.Submit("/projects/default-echo/capability?name=read", asShown(form, "outputs", "total, payment.id, at")), "/projects/default-echo")
	w.tenantAdmin.Get("/projects/default-echo").OK(t).Is(t, "capabilities.0.outputs", []string{"total", "payment.id", "at"})
}

func TestAPlanThatTheFormCanNotShowWholeIsShownAsJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	later := planOf(harness.With(step("a", "note", doc{"text": "x"}), "dependsOn", []string{"b"}), step("b", "note", doc{"text": "y"}))
	for name, plan := range map[string]doc{"a step after a later one": later, "an empty text": planOf(step("a", "refund", doc{"orderId": "", "amount": 1}))} {
		id := w.operator.Post("/plans", plan).OK(t).At("id").Text()
		p := opal.Open(planForm + "?from=" + id)
		if p.Status != 200 || !strings.Contains(p.Text, "A form can’t show all of it.") || !strings.Contains(p.Text, `name="plan"`) {
			t.Errorf("%s: %d\n%s", name, p.Status, p.Text)
		}
	}
}

func TestATeamIsMadeAndEditedByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR", "ADMIN")
	reader, writer := w.clerks(t)
	const path = "/teams/+form"
	p := opal.Open(path)
	says(t, p, 200, "None yet: a team has at least two.", `value="`+reader+`"`)
	p = opal.Submit(path, asShown(p, "agent", reader, "do", "member"))
	p = opal.Submit(path, asShown(p, "id", "desk", "name", "Desk", "agent", writer, "do", "member", "members[0].role", "reads"))
	says(t, p, 200, `name="add" value="`+reader+`/lookup"`, `name="add" value="`+writer+`/note"`, `value="desk"`)
	p = opal.Submit(path, asShown(p, "add", reader+"/lookup"))
	p = opal.Submit(path, asShown(p, "add", writer+"/note", "steps[0].input", `{"resourceId": "o-1"}`))
	says(t, p, 200, "fixed by the manifest", `"EUR"`)
	form := asShown(p, "do", "save", "members[1].role", "writes", "steps[1].inputBindings", `{"amount": {"stepId": "lookup", "field": "total"}}`)
	made := opal.Submit(path, form)
	leads(t, made, "/teams/desk")
	says(t, made, 200, "This team may be run.", "from lookup.total")
	stored := w.operator.Get("/teams/desk").OK(t)
	stored.Is(t, "members", []any{doc{"agentId": reader, "role": "reads"}, doc{"agentId": writer, "role": "writes"}}).Is(t, "revision", 1)
	stored.Is(t, "steps.1.inputBindings", doc{"amount": doc{"stepId": "lookup", "field": "total"}}).Is(t, "steps.1.dependsOn", []string{"lookup"})
	says(t, opal.Submit(path, form), 400, "There is a team desk already")

	edit := opal.Open("/teams/desk/edit")
	says(t, edit, 200, `value="reads"`, "View as JSON")
	first := opal.Submit("/teams/desk/edit", asShown(edit, "name", "Returns", "do", "save"))
	leads(t, first, "/teams/desk")
	changed := w.operator.Get("/teams/desk").OK(t)
	changed.Is(t, "name", "Returns").Is(t, "revision", 2).Is(t, "steps", stored.At("steps")).Is(t, "members", stored.At("members"))
	fewer := opal.Submit("/teams/desk/edit", asShown(edit, "remove", "1"))
	says(t, fewer, 200, `name="revision" value="1"`)
	late := opal.Submit("/teams/desk/edit", asShown(fewer, "do", "save"))
	says(t, late, 409, "Overwrite revision 2", "Your text is kept.")
	leads(t, opal.Submit("/teams/desk/edit", asShown(late, "do", "save")), "/teams/desk")
	if n := len(w.operator.Get("/teams/desk").OK(t).Is(t, "revision", 3).At("steps").Items()); n != 1 {
		t.Errorf("%d steps", n)
	}
	alone := opal.Submit("/teams/desk/edit", asShown(opal.Open("/teams/desk/edit"), "removeMember", "1"))
	says(t, opal.Submit("/teams/desk/edit", asShown(alone, "do", "save")), 400, "at least 2 different agents")
	vic := w.person(t, "vic@example.com", "VIEWER")
	says(t, vic.Open(path), 403)
	says(t, vic.Submit("/teams/desk/edit", sheetFields(vic.Open("/settings"), "do", "save")), 403, "role_required")
}

func TestAnAgentIsMadeAndEditedByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	path := "/projects/" + shop + "/agent"
	p := opal.Open(path)
	says(t, p, 200, `name="capabilities" value="lookup"`)
	empty := opal.Submit(path, asShown(p, "do", "save"))
	says(t, empty, 400, `id="externalAgentId-e"`, `id="name-e"`, `id="goal-e"`)
	both := asShown(empty, "externalAgentId", "clerk-1", "name", "Clerk", "role", "refunds", "goal", "pays <back>", "do", "update")
	both["capabilities"] = []string{"lookup", "refund"}
	p = opal.Submit(path, both)
	says(t, p, 200, `name="executorInputs.refund.amount"`, `value="pays <back>"`)
	wrong := opal.Submit(path, ticked(p, []string{"lookup", "refund"}, "executorInputs.refund.amount", "12,50", "do", "save"))
	says(t, wrong, 400, `id="executorInputs.refund.amount-e"`, `value="12,50"`)
	made := opal.Submit(path, ticked(wrong, []string{"lookup", "refund"}, "executorInputs.refund.amount", "12.50", "do", "save"))
	leads(t, made, "/agents/")
	agent := strings.TrimPrefix(made.URL.Path, "/console")
	stored := w.operator.Get(agent).OK(t)
	stored.Is(t, "status", "PENDING").Is(t, "sourceRevision", 1).Is(t, "capabilities", []string{"lookup", "refund"}).Is(t, "goal", "pays <back>")
	if got := stored.At("executorInputs.refund.amount").String(); got != "12.50" {
		t.Errorf("the digits became %s", got)
	}
	edit := opal.Open(agent + "/edit")
	says(t, edit, 200, `name="sourceRevision" value="2"`, `value="12.50"`)
	leads(t, opal.Submit(agent+"/edit", ticked(edit, []string{"lookup", "refund"}, "name", "Clerk 2", "do", "save")), agent)
	w.operator.Get(agent).OK(t).Is(t, "name", "Clerk 2").Is(t, "sourceRevision", 2).Is(t, "executorInputs", stored.At("executorInputs"))
	stale := opal.Submit(agent+"/edit", ticked(edit, []string{"lookup"}, "name", "Clerk 3", "do", "save"))
	says(t, stale, 409, "manifest_conflict", `value="Clerk 3"`)
	vic := w.person(t, "vic@example.com", "VIEWER")
	says(t, vic.Open(path), 403)
	says(t, vic.Open(agent+"/edit"), 403)
	says(t, vic.Submit(path, sheetFields(vic.Open("/settings"), "do", "save")), 403, "role_required")
}

// ticked is asShown with these boxes ticked.
func ticked(p *harness.Page, capabilities []string, typed ...string) url.Values {
	out := asShown(p, typed...)
	out["capabilities"] = capabilities
	return out
}
