package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func parsed[T any](t *testing.T, text string) *T {
	t.Helper()
	v := new(T)
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
	return v
}

// document is a model that reads an order twice, refunds it and tells the
// customer: start →read→ known →read→ sure →refund→ paid →tell them!→ end.
// count is raised by each read; note is never known.
const document = `{
"schemaVersion":"1.0.0","id":"refunds","name":"Refunds","description":"","revision":1,"updatedAt":"2026-01-01T00:00:00Z",
"agent":{"id":"a","name":"a","role":"r","user":"u","goal":"g","completionCriteria":"c"},
"scope":{"allowedActions":"a","limits":"l","askUserWhen":"n"},
"variables":[
 {"id":"amount","name":"amount","kind":"input","type":"number","defaultValue":12.50,"source":"s"},
 {"id":"note","name":"note","kind":"input","type":"text","defaultValue":null,"source":"s"},
 {"id":"count","name":"count","kind":"memory","type":"number","defaultValue":0,"source":"s"}],
"states":[
 {"id":"start","name":"s","meaning":"","isStart":true,"isFinal":false,"position":{"x":0,"y":0}},
 {"id":"known","name":"k","meaning":"","isStart":false,"isFinal":false,"position":{"x":0,"y":0}},
 {"id":"sure","name":"u","meaning":"","isStart":false,"isFinal":false,"position":{"x":0,"y":0}},
 {"id":"paid","name":"p","meaning":"","isStart":false,"isFinal":false,"position":{"x":0,"y":0}},
 {"id":"end","name":"e","meaning":"","isStart":false,"isFinal":true,"position":{"x":0,"y":0}},
 {"id":"odd","name":"o","meaning":"","isStart":false,"isFinal":true,"position":{"x":0,"y":0}}],
"transitions":[
 {"id":"t0","name":"t","fromStateId":"start","toStateId":"odd","priority":0,"condition":{"kind":"predicate","variableId":"amount","operator":"gt","value":1000},"actionId":"escalate"},
 {"id":"t1","name":"t","fromStateId":"start","toStateId":"known","priority":1,"condition":{"kind":"group","combinator":"AND","conditions":[]},"actionId":"read"},
 {"id":"t2","name":"t","fromStateId":"known","toStateId":"sure","priority":0,"condition":{"kind":"group","combinator":"AND","conditions":[]},"actionId":"read"},
 {"id":"t3","name":"t","fromStateId":"sure","toStateId":"paid","priority":0,"condition":{"kind":"predicate","variableId":"count","operator":"eq","value":2},"actionId":"refund"},
 {"id":"t4","name":"t","fromStateId":"paid","toStateId":"end","priority":0,"condition":{"kind":"group","combinator":"AND","conditions":[]},"actionId":"tell them!"}],
"actions":[
 {"id":"read","name":"Read the order","description":"","inputs":[],"simulatedResult":"read","memoryEffects":[{"variableId":"count","value":COUNT}]},
 {"id":"refund","name":"Refund it","description":"","inputs":[],"simulatedResult":"refunded","memoryEffects":[{"variableId":"count","value":9}]},
 {"id":"tell them!","name":"Tell them","description":"","inputs":[],"simulatedResult":"told","memoryEffects":[]},
 {"id":"escalate","name":"Escalate","description":"","inputs":[],"simulatedResult":"escalated","memoryEffects":[]}],
"scenarios":[
 {"id":"usual","name":"As usual","description":"","inputs":{},"initialMemory":{},"expectedStateId":"end","expectedPath":["start","known","sure","paid","end"],"expectedResult":"told"},
 {"id":"wrong","name":"Wrong","description":"","inputs":{},"initialMemory":{},"expectedStateId":"odd","expectedPath":["start","odd"],"expectedResult":"escalated"}]
}`

func storedModel(t *testing.T, changes ...string) *countersign.Model {
	t.Helper()
	text := strings.NewReplacer(append(changes, "COUNT", "2")...).Replace(document)
	return &countersign.Model{ID: "refunds", Revision: 2, Document: *parsed[countersign.AgentModel](t, text)}
}

// request binds every action on the path.
func request() countersign.CompileRequest {
	bind := func(capability string, input map[string]countersign.Value, variables map[string]string) countersign.ActionBinding {
		return countersign.ActionBinding{ProjectID: "acme-shop", Capability: capability, Input: input, InputVariables: variables}
	}
	return countersign.CompileRequest{ScenarioID: "usual", ActionBindings: map[string]countersign.ActionBinding{
		"read":       bind("read", inputs("resourceId", `"o-1"`), nil),
		"refund":     bind("refund", nil, map[string]string{"amount": "amount", "note": "note"}),
		"tell them!": bind("refund", inputs("vip", "true"), map[string]string{"amount": "count"}),
	}}
}

func compile(t *testing.T, m *countersign.Model, req countersign.CompileRequest) (countersign.PlanWrite, []string) {
	t.Helper()
	w, problems, err := plan.Compile(m, req)
	if err != nil {
		t.Fatal(err)
	}
	return w, problems
}

// TestCompileMakesAStepOfEachActionOnThePath: in path order, each depending on
// the one before; an id that recurs gets -2, one that is no id is rewritten; an
// input variable is read before the action's own effects, and an unknown one is
// left out.
func TestCompileMakesAStepOfEachActionOnThePath(t *testing.T) {
	req := request()
	req.ActionBindings["refund"] = func(b countersign.ActionBinding) countersign.ActionBinding {
		b.Expectation = &countersign.Expectation{Field: "state", Equals: countersign.String("done")}
		return b
	}(req.ActionBindings["refund"])
	got, problems := compile(t, storedModel(t), req)
	if problems != nil {
		t.Fatal(problems)
	}
	step := func(id, name, action, capability string, input map[string]countersign.Value, dependsOn ...string) countersign.Step {
		return countersign.Step{ID: id, Name: name, ProjectID: "acme-shop", Capability: capability, ActionID: action, Input: input, DependsOn: dependsOn}
	}
	want := countersign.PlanWrite{
		Name: "Refunds: As usual", ModelID: "refunds", ModelRevision: 2, ScenarioID: "usual",
		Steps: []countersign.Step{
			step("read", "Read the order", "read", "read", inputs("resourceId", `"o-1"`)),
			step("read-2", "Read the order", "read", "read", inputs("resourceId", `"o-1"`), "read"),
			step("refund", "Refund it", "refund", "refund", inputs("amount", "12.50"), "read-2"),
			step("tell-them", "Tell them", "tell them!", "refund", inputs("amount", "9", "vip", "true"), "refund"),
		},
	}
	want.Steps[2].Expectation = req.ActionBindings["refund"].Expectation
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b countersign.Value) bool { return a.Raw() == b.Raw() })); diff != "" {
		t.Error(diff)
	}
}

// Values are read before the action's own effects: refund sets count to 9, and
// still sees the 2 that the reads left.
func TestInputVariablesAreReadBeforeTheActionsOwnEffects(t *testing.T) {
	req := request()
	b := req.ActionBindings["refund"]
	b.InputVariables = map[string]string{"amount": "count"}
	req.ActionBindings["refund"] = b
	w, _ := compile(t, storedModel(t), req)
	if got := w.Steps[2].Input["amount"].Raw(); got != "2" {
		t.Errorf("amount is %s", got)
	}
}

func TestCompileKeepsNameModeAndInputs(t *testing.T) {
	req := request()
	req.Name, req.Mode = "Monday", countersign.ModeLive
	req.Inputs = map[string]countersign.Scalar{"amount": {Value: countersign.RawValue("7")}}
	w, _ := compile(t, storedModel(t), req)
	if w.Name != "Monday" || w.Mode != countersign.ModeLive || w.PlanningInputs["amount"].Raw() != "7" || w.Steps[2].Input["amount"].Raw() != "7" {
		t.Errorf("%+v", w)
	}
}

func TestCompileProblems(t *testing.T) {
	alter := func(action string, f func(*countersign.ActionBinding)) func(*countersign.CompileRequest) {
		return func(r *countersign.CompileRequest) {
			b := r.ActionBindings[action]
			f(&b)
			r.ActionBindings[action] = b
		}
	}
	tests := []struct {
		name   string
		model  []string // replacements in the document
		change func(*countersign.CompileRequest)
		want   []string
		steps  int
	}{
		{"both literal and variable", nil, alter("refund", func(b *countersign.ActionBinding) { b.Input = inputs("amount", "5") }),
			[]string{"actionBindings.refund.inputVariables.amount: the input is given literally too; keep one"}, 4},
		{"a variable that the model lacks", nil, alter("read", func(b *countersign.ActionBinding) { b.InputVariables = map[string]string{"x": "nowhere"} }),
			[]string{"actionBindings.read.inputVariables.x: the model has no variable nowhere"}, 4},
		{"a missing binding", nil, func(r *countersign.CompileRequest) { delete(r.ActionBindings, "read") },
			[]string{"actionBindings: action read is on the path and has no binding"}, 2},
		{"a binding for a missing action", nil, alter("fly", func(*countersign.ActionBinding) {}), []string{"actionBindings.fly: the model has no such action"}, 4},
		{"a binding off the path", nil, alter("escalate", func(b *countersign.ActionBinding) { b.ProjectID = "acme-none" }), nil, 4},
		{"a scenario that fails", nil, func(r *countersign.CompileRequest) { r.ScenarioID = "wrong" }, []string{
			`scenarioId: scenario wrong does not pass: expectedStateId is "end", expected "odd"`,
			`scenarioId: scenario wrong does not pass: expectedPath is ["start","known","sure","paid","end"], expected ["start","odd"]`,
			`scenarioId: scenario wrong does not pass: expectedResult is "told", expected "escalated"`,
		}, 4},
		{"a scenario that loops", []string{`"toStateId":"sure"`, `"toStateId":"start"`}, nil, []string{
			"scenarioId: scenario usual loops and never ends",
			`scenarioId: scenario usual does not pass: expectedStateId is "known", expected "end"`,
			`scenarioId: scenario usual does not pass: expectedPath is ["start","known","start","known"], expected ["start","known","sure","paid","end"]`,
			`scenarioId: scenario usual does not pass: expectedResult is "read", expected "told"`,
		}, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := request()
			if test.change != nil {
				test.change(&req)
			}
			m := storedModel(t, test.model...)
			w, problems := compile(t, m, req)
			if diff := cmp.Diff(test.want, problems); diff != "" {
				t.Error(diff)
			}
			if len(w.Steps) != test.steps {
				t.Errorf("%d steps, want %d", len(w.Steps), test.steps)
			}
			of := sources()
			of.Model = m
			if p := plan.New(w, of, problems, origin()); (p.Status == countersign.PlanInvalid) != (test.want != nil) {
				t.Errorf("the plan is %s: %v", p.Status, p.ValidationErrors)
			}
		})
	}
}

func TestModelWithErrorsMakesAnInvalidPlan(t *testing.T) {
	w, problems := compile(t, storedModel(t, `"isStart":true`, `"isStart":false`), request())
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "modelId: ") || len(w.Steps) != 0 {
		t.Errorf("%v, %d steps", problems, len(w.Steps))
	}
	if p := plan.New(w, sources(), problems, origin()); p.Status != countersign.PlanInvalid {
		t.Errorf("the plan is %s", p.Status)
	}
}

func TestCompileRefusals(t *testing.T) {
	scalar := func(text string) map[string]countersign.Scalar {
		return map[string]countersign.Scalar{"amount": {Value: countersign.RawValue(text)}}
	}
	tests := []struct {
		name string
		req  countersign.CompileRequest
		code countersign.Code
	}{
		{"unknown scenario", countersign.CompileRequest{ScenarioID: "none"}, countersign.CodeNotFound},
		{"mistyped input", countersign.CompileRequest{ScenarioID: "usual", Inputs: scalar(`"much"`)}, countersign.CodeInvalidRequest},
		{"unknown input", countersign.CompileRequest{ScenarioID: "usual", Inputs: map[string]countersign.Scalar{"x": {Value: countersign.Null}}}, countersign.CodeInvalidRequest},
		{"memory given as input", countersign.CompileRequest{ScenarioID: "usual", Inputs: map[string]countersign.Scalar{"count": {Value: countersign.Int(1)}}}, countersign.CodeInvalidRequest},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, _, err := plan.Compile(storedModel(t), test.req); countersign.ErrorCode(err) != test.code {
				t.Errorf("%v, want %s", err, test.code)
			}
		})
	}
}
