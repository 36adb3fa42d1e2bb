package test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// textOf is the content of a text area on a page.
func textOf(t *testing.T, p *harness.Page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<textarea[^>]* name="` + regexp.QuoteMeta(name) + `"[^>]*>\n?(.*?)</textarea>`).FindStringSubmatch(p.Text)
	if found == nil {
		t.Fatalf("%s has no text area %s:\n%s", p.URL, name, mainOf(p))
	}
	return html.UnescapeString(found[1])
}

var hiddenInputs = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// formTo is the hidden fields of the form with this action, below /console, and the typed fields.
func formTo(t *testing.T, p *harness.Page, path string, typed url.Values) url.Values {
	t.Helper()
	_, form, ok := strings.Cut(p.Text, `<form method="post" action="/console`+path+`"`)
	if !ok {
		t.Fatalf("%s has no form to %s:\n%s", p.URL, path, mainOf(p))
	}
	form, _, _ = strings.Cut(form, "</form>")
	out := url.Values{}
	for _, f := range hiddenInputs.FindAllStringSubmatch(form, -1) {
		out.Set(f[1], html.UnescapeString(f[2]))
	}
	for name, texts := range typed {
		out[name] = texts
	}
	return out
}

// reads checks that a page has this status and contains all parts.
func reads(t *testing.T, p *harness.Page, status int, parts ...string) *harness.Page {
	t.Helper()
	if p.Status != status {
		t.Fatalf("%s: %d, want %d:\n%s", p.URL, p.Status, status, mainOf(p))
	}
	for _, part := range parts {
		if !strings.Contains(html.UnescapeString(p.Text), part) {
			t.Errorf("%s does not say %q:\n%s", p.URL, part, mainOf(p))
		}
	}
	return p
}

var markup = regexp.MustCompile(`(?s)<textarea.*?</textarea>|<[^>]*>|\n\s*`)

// mainOf is the main text of a page, for error messages.
func mainOf(p *harness.Page) string {
	_, said, _ := strings.Cut(p.Text, "<main")
	return html.UnescapeString(markup.ReplaceAllString(said, " "))
}

// storeSample stores the sample model through the console.
func storeSample(t *testing.T, b *harness.Browser) {
	t.Helper()
	p := reads(t, b.Open("/models/new"), 200, "Save the sample model, or your own.")
	p = b.Submit("/models", formTo(t, p, "/models", url.Values{"document": {textOf(t, p, "document")}}))
	reads(t, p, 200, "Refund agent", "Valid", "4 of 4 pass")
	if p.URL.Path != "/console/models/refund-agent" {
		t.Fatalf("storing led to %s", p.URL)
	}
}

// TestTheStoryOfAModelNeedsNoScript: links and forms suffice to store a model, simulate it, compile a plan and start it.
func TestTheStoryOfAModelNeedsNoScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	storeSample(t, ada)
	reads(t, ada.Open("/models/refund-agent?scenario=returned-in-time&at=2"), 200,
		"In Order known", "step 2 of 4, goes to Refunded", "Path, step 2 of 4", `orderRead is true`, "set here", "279.00 EUR")
	chosen := "scenario=returned-in-time&cap_read-order=default-shop/lookup&cap_refund=default-shop/refund&cap_notify=default-shop/note"
	p := reads(t, ada.Open("/models/refund-agent/compile?"+chosen), 200, "asks for approval", "amount (number, optional)")
	if got := textOf(t, p, "vars_refund"); !strings.Contains(got, `"orderId": "orderId"`) || !strings.Contains(got, `"amount": "amount"`) {
		t.Errorf("the fields of refund that the model has are not prefilled: %s", got)
	}
	if got := textOf(t, p, "input_read-order"); !strings.Contains(got, `"resourceId": null`) {
		t.Errorf("the path's field waits for no value: %s", got)
	}
	compile := formTo(t, p, "/models/refund-agent/compile", url.Values{
		"input_read-order": {"{}"}, "vars_read-order": {`{"resourceId": "orderId"}`},
		"input_refund": {textOf(t, p, "input_refund")}, "vars_refund": {textOf(t, p, "vars_refund")}, "field_refund": {"status"}, "equals_refund": {`"succeeded"`},
		"input_notify": {`{"text": "paid"}`}, "vars_notify": {""}, "name": {"By hand"}, "mode": {"LIVE"},
	})
	plan := reads(t, ada.Submit("/models/refund-agent/compile", compile), 200, "By hand", "Ready to run live.",
		"1 step asks for approval before anything is sent.", "1 step changes something without asking.", "1 step reads without asking.",
		`status is "succeeded"`, "279.00", "GET /orders/{resourceId}")
	path := strings.TrimPrefix(plan.URL.Path, "/console") + "/runs"
	again := reads(t, ada.Open("/models/refund-agent/compile?scenario=returned-in-time&from="+strings.TrimPrefix(plan.URL.Path, "/console/plans/")), 200,
		`name="field_refund" value="status"`, `value="default-shop/note" selected`)
	for field, want := range map[string]string{"input_notify": `"text": "paid"`, "vars_read-order": `"resourceId": "orderId"`, "vars_refund": `"amount": "amount"`, "input_refund": "{}"} {
		if got := textOf(t, again, field); !strings.Contains(got, want) {
			t.Errorf("compiling again begins with %s %s, want %s", field, got, want)
		}
	}
	start := formTo(t, plan, path, nil)
	first, second := ada.Submit(path, start), ada.Submit(path, start)
	if first.URL.Path != second.URL.Path || !strings.HasPrefix(first.URL.Path, "/console/runs/run-") {
		t.Errorf("pressing twice started %s and %s", first.URL, second.URL)
	}
	w.Admin.Get("/runs").OK(t).Is(t, "total", 1)
	w.reaches(t, strings.TrimPrefix(first.URL.Path, "/console/runs/"), "WAITING_APPROVAL")
}

func TestThePlayerShowsEveryStepOfEveryScenario(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	storeSample(t, ada)
	for scenario, path := range map[string][]string{
		"returned-in-time": {"Asked", "Order known", "Refunded", "Told"}, "too-late": {"Asked", "Declined"},
		"date-unknown": {"Asked", "Ask"}, "close-return": {"Asked", "Return closed"},
	} {
		for i, name := range path {
			p := reads(t, ada.Open(fmt.Sprintf("/models/refund-agent?scenario=%s&at=%d", scenario, i+1)), 200,
				"In "+name, fmt.Sprintf("step %d of %d", i+1, len(path)), fmt.Sprintf("Path, step %d of %d", i+1, len(path)), "Passes", "It ends in "+path[len(path)-1])
			links := map[string]bool{"data-first": i > 0, "data-back": i > 0, "data-next": i+1 < len(path), "data-last": i+1 < len(path)}
			for link, there := range links {
				if strings.Contains(p.Text, " "+link+" ") != there {
					t.Errorf("%s step %d: %s is there: %v", scenario, i+1, link, !there)
				}
			}
			if n := strings.Count(p.Text, `class="g-node here`); n != 1 {
				t.Errorf("%s step %d: %d states are the present one", scenario, i+1, n)
			}
			if size := len(p.Text); size > 150_000 {
				t.Errorf("%s step %d: the page has %d bytes", scenario, i+1, size)
			}
		}
	}
	reads(t, ada.Open("/models/refund-agent?scenario=too-late&at=99"), 200, "step 2 of 2", "This state is final")
	reads(t, ada.Open("/models/refund-agent?scenario=too-late&at=x"), 200, "step 1 of 2")
	reads(t, ada.Open("/models/refund-agent?scenario=nothing"), 404, "has no scenario")
}

func TestOtherInputsAreSimulatedAndRefusedBesideTheirField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	storeSample(t, ada)
	const model = "/models/refund-agent?scenario=returned-in-time"
	p := reads(t, ada.Open(model+"&in_daysSinceDelivery=30.5"), 200, "Does not pass", "It ends in Declined", "expectedStateId", `"told"`, "in_daysSinceDelivery=30.5&scenario=returned-in-time")
	if !strings.Contains(p.Text, "30.5 days") {
		t.Error("the value has not the digits that were typed")
	}
	reads(t, ada.Open(model+"&in_daysSinceDelivery=soon"), 400, "An input is no JSON value.", "Write a JSON value: 12.50", `value="soon"`, `aria-invalid="true"`)
	reads(t, ada.Open(model+`&in_daysSinceDelivery="9"`), 400, "These inputs don't fit, so nothing was simulated.", "takes type number or null", `value=""9""`, `aria-invalid="true"`)
	reads(t, ada.Open(`/models/refund-agent/compile?scenario=returned-in-time&in_daysSinceDelivery="9"`), 400, "The scenario can't be simulated with these inputs.", "takes type number or null")
	reads(t, ada.Open(model+"&in_nothing=1"), 400, "the model has no input variable", `name="in_nothing"`)
}

func TestARefusedDocumentIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, ben := w.person(t, "ada@example.com", "OPERATOR"), w.person(t, "ben@example.com", "OPERATOR")
	storeSample(t, ada)
	mine, his := ada.Open("/models/refund-agent/edit"), ben.Open("/models/refund-agent/edit")
	text := textOf(t, mine, "document")
	const path = "/models/refund-agent"
	wrong := strings.Replace(text, `"priority": 0`, `"priority": -1`, 1)
	p := reads(t, ada.Submit(path, formTo(t, mine, path, url.Values{"document": {wrong}})), 400, "transitions[0].priority", `aria-invalid="true"`)
	if textOf(t, p, "document") != wrong {
		t.Error("the refused text is another one")
	}
	reads(t, ada.Submit(path, formTo(t, mine, path, url.Values{"document": {"{"}})), 400, "invalid_json")
	saved := strings.Replace(text, "Refund agent", "Ada's agent", 1)
	reads(t, ada.Submit(path, formTo(t, mine, path, url.Values{"document": {saved}})), 200, "Ada's agent")
	late := strings.Replace(text, "Refund agent", "Ben's agent", 1)
	p = reads(t, ben.Submit(path, formTo(t, his, path, url.Values{"document": {late}})), 409, "Not saved: revision 2 is there already. Your text is kept.", "Overwrite revision 2")
	if textOf(t, p, "document") != late {
		t.Error("the text that came too late is another one")
	}
	w.operator.Get(path).OK(t).Is(t, "name", "Ada's agent").Is(t, "revision", 2)
	reads(t, ben.Submit(path, formTo(t, p, path, url.Values{"document": {late}})), 200, "Ben's agent")
	reads(t, ben.Submit("/models", formTo(t, ben.Open("/models/new"), "/models", url.Values{"document": {text}})), 409, "this id is in use")
}

func TestAModelIsSuspendedWithAReasonByAnAdmin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, vic := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "vic@example.com", "VIEWER")
	const path = "/models/refund"
	p := ada.Open(path)
	reads(t, ada.Submit(path+"/suspend", formTo(t, p, path+"/suspend", url.Values{"reason": {" "}})), 400, "Say why; a reason can't be blank.", `aria-invalid="true"`)
	p = reads(t, ada.Submit(path+"/suspend", formTo(t, p, path+"/suspend", url.Values{"reason": {"it pays twice"}})), 200, "Suspended", "No plans can be made from it")
	reads(t, ada.Submit(path+"/resume", formTo(t, p, path+"/resume", url.Values{"reason": {"it was corrected"}})), 200, "Suspend this model")
	seen := reads(t, vic.Open(path), 200, "Simulation")
	for _, button := range []string{"/suspend", "/edit", "/compile", `method="post" action="/console/models`} {
		if strings.Contains(seen.Text, button) {
			t.Errorf("a viewer is shown %s", button)
		}
	}
	reads(t, vic.Open(path+"/edit"), 403)
	reads(t, vic.Open("/models/new"), 403)
	reads(t, vic.Open(path+"/compile"), 403)
}

func TestFindingsHaveTheNumberThatTheirStateHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	dead := harness.With(harness.Model("dead"), "states.3.isFinal", false)
	w.operator.Put("/models/dead", doc{"document": dead}).OK(t)
	reads(t, ada.Open("/models/dead"), 200, "1 warning", "Warning 1.", "states[3]", `class="badge-t"`)
	broken := harness.With(harness.Model("broken"), "transitions.0.toStateId", "nowhere")
	w.operator.Put("/models/broken", doc{"document": broken}).OK(t)
	p := reads(t, ada.Open("/models/broken"), 200, "error", "Error 1.", "Not played.")
	if strings.Contains(p.Text, "data-next") || strings.Contains(p.Text, "/compile") {
		t.Error("a model with errors is played or compiled")
	}
}
