package test

import (
	encoding "encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// modeler starts a server and returns an OPERATOR, who writes models.
func modeler(t *testing.T) (*harness.Server, *harness.Client) {
	t.Helper()
	s := tenant(t)
	return s, s.As(s.Admin.Post("/tokens", doc{"name": "op", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
}

func TestAModelIsCreatedAndUpdatedByCompareAndSet(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	put := func(expected any) *harness.Answer {
		body := doc{"document": harness.Model("m")}
		if expected != nil {
			body["expectedRevision"] = expected
		}
		return operator.Put("/models/m", body)
	}
	put(1).Refused(t, "revision_conflict")
	created := put(nil).OK(t).Is(t, "id", "m").Is(t, "revision", 1).Is(t, "name", "Refund").Is(t, "schemaVersion", "1.0.0").Is(t, "suspended", false)
	put(nil).Refused(t, "revision_conflict", "revision 1")
	put(0).Refused(t, "revision_conflict", "revision 1")
	put(2).Refused(t, "revision_conflict", "revision 1")
	updated := put(1).OK(t).Is(t, "revision", 2).Is(t, "createdAt", created.At("createdAt"))
	if updated.At("updatedAt").Text() <= created.At("updatedAt").Text() {
		t.Errorf("updatedAt went from %s to %s", created.At("updatedAt"), updated.At("updatedAt"))
	}
	operator.Get("/models/m").OK(t).Is(t, "revision", 2)
	put(-1).Refused(t, "invalid_request", "expectedRevision")
	put(1.5).Refused(t, "invalid_request", "expectedRevision")
	put("2").Refused(t, "invalid_request", "expectedRevision")
	put(0).Refused(t, "revision_conflict", "revision 2")
}

func TestExpectedRevision0Creates(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	operator.Put("/models/m", doc{"document": harness.Model("m"), "expectedRevision": 0}).OK(t).Is(t, "revision", 1)
}

func TestADocumentIsKeptVerbatim(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	plain, err := encoding.Marshal(harness.Model("m"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(plain)
	for old, verbatim := range map[string]string{
		`"x":1.5`:            `"x":1.50000000000000000001e+3`,
		`"y":-2`:             `"y":-0.0`,
		`"defaultValue":0`:   `"defaultValue":9007199254740993.10`,
		`"revision":1`:       `"revision":7.0`,
		`"priority":0`:       `"priority":0e0`,
		`"description":"Pay`: `"description":"\u00e4<&>\/Pay`,
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %s", old)
		}
		text = strings.ReplaceAll(text, old, verbatim)
	}
	text = `{"updatedAt":"2026-01-01T00:00:00Z",` + strings.TrimPrefix(strings.Replace(text, `"updatedAt":"2026-01-01T00:00:00Z",`, "", 1), "{") // another key order
	operator.Put("/models/m", `{"document":`+text+`}`).OK(t).Is(t, "revision", 1)
	if answer := operator.Get("/models/m"); !strings.Contains(answer.Raw, `"document":`+text) {
		t.Errorf("the document came back as\n%s\nsent was\n%s", answer.Raw, text)
	}
	operator.Post("/models/m/validate", nil).OK(t)
}

func TestWhatWasReadMayBeSentBack(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	m := w.operator.Get("/models/refund").OK(t).Doc()
	m["expectedRevision"], m["revision"], m["createdAt"] = 1, 99, "never"
	w.operator.Put("/models/refund", m).OK(t).Is(t, "revision", 2)
	p := w.tenantAdmin.Get("/projects/" + shop).OK(t).Doc()
	p["expectedRevision"], p["secretConfigured"], p["id"] = 1, "no", nil
	w.tenantAdmin.Put("/projects/"+shop, p).OK(t).Is(t, "revision", 2).Is(t, "secretConfigured", true).Is(t, "id", shop)
	tenant := w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t).Doc()
	tenant["expectedRevision"] = 1
	w.Admin.Put("/tenants/acme", tenant).OK(t).Is(t, "revision", 2)
}

func TestTheDocumentsIDIsThatOfThePath(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	operator.Put("/models/m", doc{"document": harness.Model("n")}).Refused(t, "invalid_request", "document.id")
	operator.Get("/models/m").Refused(t, "not_found")
}

func TestADocumentOfTheWrongShapeIsRefused(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	whole := harness.Model("m")
	for _, path := range []string{
		"schemaVersion", "id", "name", "description", "revision", "updatedAt", "agent", "scope", "variables", "states", "transitions", "actions", "scenarios",
		"agent.id", "agent.name", "agent.role", "agent.user", "agent.goal", "agent.completionCriteria", "scope.allowedActions", "scope.limits", "scope.askUserWhen",
		"variables.0.id", "variables.0.name", "variables.0.kind", "variables.0.type", "variables.0.defaultValue", "variables.0.source",
		"states.0.id", "states.0.name", "states.0.meaning", "states.0.isStart", "states.0.isFinal", "states.0.position", "states.0.position.x", "states.0.position.y",
		"transitions.0.id", "transitions.0.name", "transitions.0.fromStateId", "transitions.0.toStateId", "transitions.0.priority", "transitions.0.condition",
		"transitions.0.condition.kind", "transitions.0.condition.variableId", "transitions.0.condition.operator", "transitions.1.condition.combinator", "transitions.1.condition.conditions",
		"actions.0.id", "actions.0.name", "actions.0.description", "actions.0.inputs", "actions.0.simulatedResult", "actions.0.memoryEffects",
		"actions.0.memoryEffects.0.variableId", "actions.0.memoryEffects.0.value",
		"scenarios.0.id", "scenarios.0.name", "scenarios.0.description", "scenarios.0.inputs", "scenarios.0.initialMemory", "scenarios.0.expectedStateId", "scenarios.0.expectedPath", "scenarios.0.expectedResult",
	} {
		parts := strings.Split(path, ".")
		operator.Put("/models/m", doc{"document": harness.Without(whole, path)}).Refused(t, "invalid_request", parts[len(parts)-1])
	}
	for path, wrong := range map[string]any{
		"schemaVersion": "1.0", "revision": 0, "variables.0.kind": "output", "variables.0.type": "integer", "variables.0.defaultValue": []any{},
		"variables.0.choices": "a", "states.0.isStart": "yes", "states.0.position.x": "1", "transitions.0.priority": -1, "transitions.0.condition.kind": "or",
		"transitions.0.condition.operator": "like", "transitions.1.condition.combinator": "XOR", "transitions.1.condition.conditions": doc{}, "actions.0.inputs": []any{1},
		"transitions.0.condition.value": doc{}, "scenarios.0.inputs.amount": []any{}, "scenarios.0.expectedPath": "start", "transitions.0.condition": []any{}, "agent": "x",
		"transitions.0.priority.x": 1.5, "name": nil, "variables": nil, "states": doc{},
	} {
		if path == "transitions.0.priority.x" {
			path = "transitions.0.priority"
		}
		operator.Put("/models/m", doc{"document": harness.With(whole, path, wrong)}).Refused(t, "invalid_request")
	}
	operator.Get("/models").OK(t).Is(t, "total", 0)
}

func TestAModelWhoseMeaningIsWrongMayBeStoredAndIsReported(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	whole := harness.Model("m")
	revision := 0
	for name, change := range map[string]doc{
		"dangling target":         harness.With(whole, "transitions.0.toStateId", "nowhere"),
		"dangling source":         harness.With(whole, "transitions.0.fromStateId", "nowhere"),
		"dangling action":         harness.With(whole, "transitions.0.actionId", "nothing"),
		"dangling variable":       harness.With(whole, "transitions.0.condition.variableId", "nothing"),
		"dangling effect":         harness.With(whole, "actions.0.memoryEffects.0.variableId", "nothing"),
		"dangling expected state": harness.With(whole, "scenarios.0.expectedStateId", "nowhere"),
		"no start":                harness.With(whole, "states.0.isStart", false),
		"two starts":              harness.With(whole, "states.1.isStart", true),
		"duplicate state":         harness.With(whole, "states.1.id", "start"),
		"duplicate variable":      harness.With(whole, "variables.1.id", "amount"),
		"duplicate action":        harness.With(whole, "actions.1.id", "check"),
		"duplicate transition":    harness.With(whole, "transitions.1.id", "accept"),
		"choice default":          harness.With(harness.With(harness.With(whole, "variables.1.type", "choice"), "variables.1.choices", []string{"a", "b"}), "variables.1.defaultValue", "c"),
		"leaves a final state":    harness.With(whole, "transitions.0.fromStateId", "paid"),
		"operator does not fit":   harness.With(harness.With(whole, "transitions.0.condition.variableId", "orderId"), "transitions.0.condition.value", 3),
		"value does not fit":      harness.With(whole, "transitions.0.condition.value", "ten"),
		"scenario key":            harness.With(whole, "scenarios.0.inputs.unknown", 1),
		"scenario memory key":     harness.With(whole, "scenarios.0.initialMemory.amount", 1),
		"scenario input kind":     harness.With(whole, "scenarios.0.inputs.checked", true),
	} {
		operator.Put("/models/m", doc{"document": change, "expectedRevision": revision}).OK(t)
		revision++
		v := operator.Post("/models/m/validate", nil).OK(t).Is(t, "valid", false)
		if len(v.At("errors").Items()) == 0 {
			t.Errorf("%s: no errors", name)
		}
		for _, e := range v.At("errors").Items() {
			if e.At("path").Text() == "" && e.At("message").Text() == "" || e.At("code").Text() == "" {
				t.Errorf("%s: %s", name, e)
			}
		}
		operator.Post("/models/m/simulate", doc{"scenarioId": "small"}).Refused(t, "model_invalid")
	}
}

func TestAValidModelHasNoErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.viewer.Post("/models/refund/validate", nil).OK(t).Is(t, "valid", true).Is(t, "errors", []any{}).Is(t, "warnings", []any{})
	w.viewer.Post("/models/none/validate", nil).Refused(t, "not_found")
}

func TestWhatIsOddButNotWrongIsAWarning(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	whole := harness.Model("m")
	extra := func(list string, item doc) doc {
		var all []any
		all = append(all, whole[list].([]any)...)
		return harness.With(whole, list, append(all, item))
	}
	island := doc{"id": "island", "name": "island", "meaning": "m", "isStart": false, "isFinal": true, "position": doc{"x": 0, "y": 0}}
	revision := 0
	for name, change := range map[string]doc{
		"compares with null": harness.With(whole, "transitions.0.condition.value", nil),
		"unreachable state":  extra("states", island),
		"dead end":           harness.With(whole, "states.2.isFinal", false),
		"never taken":        extra("transitions", harness.Transition("late", "start", "paid", 9, harness.Group("AND"), "")),
		"unmet expectation":  harness.With(whole, "scenarios.0.expectedResult", "something else"),
	} {
		operator.Put("/models/m", doc{"document": change, "expectedRevision": revision}).OK(t)
		revision++
		v := operator.Post("/models/m/validate", nil).OK(t)
		if v.Is(t, "valid", true); len(v.At("warnings").Items()) == 0 {
			t.Errorf("%s: %s", name, v)
		}
	}
}

func TestSuspendingRaisesTheRevisionAndResumingDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reason := doc{"reason": "checking"}
	w.tenantAdmin.Post("/models/refund/suspend", reason).OK(t).Is(t, "suspended", true).Is(t, "revision", 2).Is(t, "document.id", "refund")
	w.viewer.Get("/models/refund").OK(t).Is(t, "suspended", true).Is(t, "revision", 2)
	w.tenantAdmin.Post("/models/refund/resume", reason).OK(t).Is(t, "suspended", false).Is(t, "revision", 2)
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 2}).OK(t).Is(t, "revision", 3).Is(t, "suspended", false)
	for _, path := range []string{"/models/refund/suspend", "/models/refund/resume"} {
		for _, blank := range []string{"", " ", "\n\t"} {
			w.tenantAdmin.Post(path, doc{"reason": blank}).Refused(t, "invalid_request", "reason")
		}
		w.tenantAdmin.Post(path, doc{}).Refused(t, "invalid_request", "reason")
	}
	w.tenantAdmin.Post("/models/none/suspend", reason).Refused(t, "not_found")
}

func TestUpdatingASuspendedModelDoesNotResumeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 2, "suspended": false}).OK(t).Is(t, "revision", 3).Is(t, "suspended", true)
}

func TestASuspendedModelMakesPlansInvalidAndStopsOldOnesForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.ready(t, planOf(step("n", "note", nil)))
	w.tenantAdmin.Post("/models/refund/suspend", doc{"reason": "r"}).OK(t)
	w.operator.Post("/runs", doc{"planId": old}, key()).Refused(t, "drift", "refund")
	w.viewer.Get("/plans/"+old+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.0.kind", "model").Is(t, "changes.0.suspended", true).
		Is(t, "changes.0.planned", 1).Is(t, "changes.0.current", 2)
	w.operator.Post("/plans", harness.With(planOf(step("n", "note", nil)), "modelRevision", 2)).OK(t).Is(t, "status", "INVALID").Has(t, "validationErrors.0", "suspended")
	w.tenantAdmin.Post("/models/refund/resume", doc{"reason": "r"}).OK(t)
	w.operator.Post("/runs", doc{"planId": old}, key()).Refused(t, "drift")
	w.ready(t, harness.With(planOf(step("n", "note", nil)), "modelRevision", 2))
}

func TestSameModelIDsInTwoTenantsAreTwoModels(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	other, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "tenantId": "acme"})
	other.Get("/models/refund").Refused(t, "not_found")
	other.Put("/models/refund", doc{"document": harness.With(harness.Model("refund"), "name", "Theirs")}).OK(t).Is(t, "revision", 1)
	if diff := cmp.Diff([]string{"refund"}, ids(other.Get("/models").OK(t))); diff != "" {
		t.Error(diff)
	}
	w.operator.Get("/models/refund").OK(t).Is(t, "name", "Refund")
}
