package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

const modelForm = "/models/+form"

// press submits the form as it is shown, with a button and typed fields.
func press(b *harness.Browser, p *harness.Page, path, button string, typed ...string) *harness.Page {
	return b.Submit(path, asShown(p, append([]string{"do", button}, typed...)...))
}

func TestAModelIsMadeFromNothingByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	p := opal.Open(modelForm)
	reads(t, p, 200, "No state yet.", "Add the start state", "Empty")
	p = press(opal, p, modelForm, "add:variables", "model.id", "paying", "model.name", "Paying back", "model.scope.limits", "100 EUR")
	p = press(opal, p, modelForm, "check", "variables[0].id", "amount", "variables[0].name", "Amount", "variables[0].type", "number")
	p = press(opal, p, modelForm, "add:variables", "variables[0].defaultValue", "12.50")
	p = press(opal, p, modelForm, "add:states", "variables[1].id", "paid", "variables[1].name", "Paid", "variables[1].kind", "memory", "variables[1].type", "boolean")
	reads(t, p, 200, `value="Start"`, "Nothing leads out of this state")
	p = press(opal, p, modelForm, "leave", "states[0].id", "asked", "states[0].name", "Asked", "leaveTo", "")
	reads(t, p, 200, "Transition: Asked → State")
	p = press(opal, p, modelForm, "action", "transitions[0].comparison0.variableId", "amount", "transitions[0].comparison0.operator", "lte", "transitions[0].comparison0.value", "100.00")
	p = press(opal, p, modelForm, "select:states[1]", "actions[0].id", "pay", "actions[0].name", "Pay it", "actions[0].simulatedResult", "paid",
		"actions[0].memoryEffects[0].variableId", "paid", "actions[0].memoryEffects[0].value", "true")
	reads(t, p, 200, "amount ≤ 100.00", "/ Pay it, paid := true")
	p = press(opal, p, modelForm, "add:scenarios", "states[1].id", "done", "states[1].name", "Done", "states[1].isFinal", "on")
	reads(t, p, 200, "Choose a state.")
	p = press(opal, p, modelForm, "fill", "scenarios[0].id", "small", "scenarios[0].name", "Small", "scenarios[0].inputs.amount", "99.90")
	reads(t, p, 200, `value="asked, done"`, `value="paid"`, "Valid")
	w.operator.Get("/models/paying").Refused(t, "not_found")
	stored := press(opal, p, modelForm, "save")
	leads(t, stored, "/models/paying")
	reads(t, stored, 200, "Valid", "1 of 1 pass", "Path, step 1 of 2")
	m := w.operator.Get("/models/paying").OK(t).Is(t, "revision", 1).Is(t, "name", "Paying back").Is(t, "document.scope.limits", "100 EUR").Is(t, "document.agent.id", "paying")
	m.Is(t, "document.transitions.0.actionId", "pay")
	for at, digits := range map[string]string{"document.transitions.0.condition.conditions.0.value": "100.00", "document.variables.0.defaultValue": "12.50"} {
		if got := m.At(at).String(); got != digits {
			t.Errorf("%s is %s, typed was %s", at, got, digits)
		}
	}
	m.Is(t, "document.scenarios.0.expectedPath", []string{"asked", "done"}).Is(t, "document.actions.0.memoryEffects", []any{doc{"variableId": "paid", "value": true}})
	w.operator.Post("/models/paying/validate", doc{}).OK(t).Is(t, "valid", true)
	again := press(opal, p, modelForm, "save")
	reads(t, again, 400, "There is a model paying already", `id="model.id-e"`)
}

func TestAModelsFormSaysWhatIsWrongAtItsFieldAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	const path = "/models/refund/form"
	p := opal.Open(path + "?at=transitions[0]")
	reads(t, p, 200, "Transition: start → review")
	bad := press(opal, p, path, "save", "transitions[0].comparison0.value", "12,50", "transitions[0].priority", "-1", "transitions[0].id", "reject")
	reads(t, bad, 400, "3 fields need attention.", "Write a number, such as 12.50.", `value="12,50"`, `id="transitions[0].priority-e"`, "There is one with this ID already.")
	shown := press(opal, p, path, "check", "transitions[0].comparison0.value", "12,50")
	reads(t, shown, 200, "Write a number, such as 12.50.", `value="12,50"`)
	unknown := press(opal, p, path, "save", "transitions[0].toStateId", "", "transitions[0].comparison0.value", `"x"`)
	reads(t, unknown, 400, "2 errors in the model", `id="transitions[0].toStateId-e"`, "Choose a state.", `id="transitions[0].comparison0.e"`, "takes type number", "Save with its errors")
	elsewhere := press(opal, unknown, path, "select:model")
	reads(t, press(opal, elsewhere, path, "save"), 400, "Transition: start → ", `id="transitions[0].toStateId-e"`)
	w.operator.Get("/models/refund").OK(t).Is(t, "revision", 1)
	leads(t, press(opal, unknown, path, "saveAnyway"), "/models/refund")
	w.operator.Post("/models/refund/validate", doc{}).OK(t).Is(t, "valid", false)
	p = opal.Open(path + "?at=variables[0]")
	reads(t, press(opal, p, path, "saveAnyway", "variables[0].type", "money"), 400, `variables[0].type`)
	p = opal.Open(path + "?at=transitions[2]")
	reads(t, press(opal, p, path, "saveAnyway", "transitions[2].comparison0.operator", "like"), 400, "like")
	w.operator.Get("/models/refund").OK(t).Is(t, "revision", 2)
	blank := press(opal, opal.Open(modelForm), modelForm, "save", "model.id", "no id")
	reads(t, blank, 400, `id="model.id-e"`)
	for _, odd := range []url.Values{
		asShown(p, "at", "states[99]", "do", "select:states[-1]"), asShown(p, "at", "x[0]", "do", "select:x[1]"), asShown(p, "do", "add:nothing"), asShown(p, "do", "leave"),
		asShown(p, "do", "fill"), asShown(p, "at", "model", "do", "remove"), asShown(p, "at", "x[0]", "do", "remove"),
	} {
		if got := opal.Submit(path, odd); got.Status != 200 {
			t.Errorf("%v: %d", odd["do"], got.Status)
		}
	}
	reads(t, opal.Submit(path, asShown(p, "document", "{")), 400)
	vic := w.person(t, "vic@example.com", "VIEWER")
	says(t, vic.Open(path), 403)
	says(t, vic.Open(modelForm), 403)
	says(t, vic.Submit(path, sheetFields(vic.Open("/settings"), "do", "save")), 403, "role_required")
}

func TestAStateIsRenamedWithItsTransitionsAndLeftByANewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	const path = "/models/refund/form"
	p := opal.Open(path)
	reads(t, p, 200, `href="#pick-states-1"`, `id="pick-states-1"`, `href="#pick-transitions-0"`)
	p = press(opal, p, path, "select:states[1]")
	p = press(opal, p, path, "leave", "states[1].id", "looked-at", "states[1].name", "Looked at", "leaveTo", "rejected")
	reads(t, p, 200, "Transition: Looked at → rejected")
	stored := press(opal, p, path, "save", "transitions[3].comparison0.variableId", "orderId", "transitions[3].comparison0.operator", "isUnknown")
	leads(t, stored, "/models/refund")
	m := w.operator.Get("/models/refund").OK(t).Is(t, "revision", 2)
	m.Is(t, "document.states.1.id", "looked-at").Is(t, "document.transitions.0.toStateId", "looked-at").Is(t, "document.transitions.2.fromStateId", "looked-at")
	m.Is(t, "document.scenarios.0.expectedPath", []string{"start", "looked-at", "paid"}).Is(t, "document.transitions.3.priority", 1)
	m.Is(t, "document.transitions.3.condition", doc{"kind": "group", "combinator": "AND", "conditions": []any{doc{"kind": "predicate", "variableId": "orderId", "operator": "isUnknown"}}})
	removed := press(opal, opal.Open(path+"?at=states[1]"), path, "remove")
	reads(t, removed, 200, "error")
	mustNotHold(t, removed, "Looked at →")
}

func TestASaveOfAModelThatSomebodyChangedMeanwhileOverwritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, ben := w.person(t, "ada@example.com", "OPERATOR"), w.person(t, "ben@example.com", "OPERATOR")
	const path = "/models/refund/form"
	mine, his := ada.Open(path), ben.Open(path)
	leads(t, press(ada, mine, path, "save", "model.name", "Ada's"), "/models/refund")
	his = press(ben, his, path, "select:states[0]", "model.name", "Ben's") // looks on, and knows of nothing
	if !strings.Contains(his.Text, `name="revision" value="1"`) {
		t.Fatal("the form took the revision of somebody else's change")
	}
	p := press(ben, his, path, "save")
	reads(t, p, 409, "this model was changed meanwhile. Your changes are kept.", "user:ada@example.com changed it at ", "Overwrite revision 2", "Ben's")
	w.operator.Get("/models/refund").OK(t).Is(t, "name", "Ada's").Is(t, "revision", 2)
	leads(t, press(ben, p, path, "save"), "/models/refund")
	w.operator.Get("/models/refund").OK(t).Is(t, "name", "Ben's").Is(t, "revision", 3)
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 2}).Refused(t, "revision_conflict", "user:ben@example.com changed it at")
}
