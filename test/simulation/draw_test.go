package simulation

import (
	"fmt"

	"github.com/countersign/countersign"
)

// The generator makes valid values of every kind, and some invalid ones.

// pick draws one of the values.
func pick[T any](s *sim, of ...T) T { return of[s.rng.IntN(len(of))] }

// chance is true in one of n cases.
func (s *sim) chance(n int) bool { return s.rng.IntN(n) == 0 }

// maybe draws a value in one of n cases, and else returns the zero value.
func maybe[T any](s *sim, n int, v T) (out T) {
	if s.chance(n) {
		return v
	}
	return out
}

func field(kind string, required bool) countersign.InputField {
	return countersign.InputField{Type: kind, Required: required}
}

// project draws a project. The names of its capabilities are fixed, so that plans and agents can use them; their properties differ.
func (s *sim) project() countersign.ProjectWrite {
	yes, no := true, false
	w := countersign.ProjectWrite{Name: pick(s, "Shop", "Lager \u00e9\u4e2d", "A \"quoted\" name"), Adapter: countersign.AdapterHTTPJSON, BaseURL: pick(s, origin, origin+"/", second), HealthPath: pick(s, "", "/health")}
	w.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: secret})
	switch s.rng.IntN(8) {
	case 0:
		w.Adapter, w.BaseURL, w.Auth = countersign.AdapterLocalEcho, "", nil
	case 1:
		w.Auth.One.Type = countersign.AuthBearer
	case 2:
		w.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: secret, HeaderName: "X-Api-Key"})
	case 4:
		w.Auth = &countersign.Auths{Several: []countersign.Auth{
			{Type: countersign.AuthAPIKey, CredentialEnv: secret, HeaderName: "X-Api-Key"}, {Type: countersign.AuthHMAC, CredentialEnv: secret},
			{Type: countersign.AuthBasic, CredentialEnv: secret, User: "shop"},
		}}
	case 3:
		w.Auth, w.AuthSecretEnv = nil, secret
	}
	policy := func() string {
		return pick(s, "", countersign.ApprovalNone, countersign.ApprovalNone, countersign.ApprovalRiskBased, countersign.ApprovalAlways)
	}
	flag := func() *bool { return pick[*bool](s, nil, nil, nil, &yes, &no) }
	timeout := func() int64 {
		if s.abreast > 0 {
			return pick[int64](s, 0, 1000, 30_000, 60_000, 60_000)
		}
		return pick[int64](s, 0, 0, 100, 1000, 2500, 60000)
	}
	output := func() string { return pick(s, "", "", "", "", "", "", "result", "result", "nested.list.0", "id") }
	w.Capabilities = []countersign.Capability{
		{Name: "look", Method: "GET", Path: "/orders/{order}", InputSchema: map[string]countersign.InputField{"order": field("string", true)}, Approval: maybe(s, 5, countersign.ApprovalAlways), TimeoutMs: timeout(), OutputField: output()},
		{Name: "list", Method: "GET", Path: "/orders", SideEffect: maybe(s, 8, &yes), TimeoutMs: timeout()},
		{Name: "pay", Method: "POST", Path: "/payments", Approval: policy(), Idempotent: s.chance(2), TimeoutMs: timeout(), OutputField: output(), Probe: pick(s, "", "list"), Sensitive: maybe(s, 4, []string{"iban"})},
		{Name: "ship", Method: pick(s, "POST", "PUT", "PATCH"), Path: "/orders/{resourceId}/ship", Approval: policy(), Idempotent: s.chance(2), SideEffect: flag(), TimeoutMs: timeout(), Probe: pick(s, "", "look")},
		{Name: "drop", Method: "DELETE", Path: "/orders/{resourceId}", Approval: policy(), Idempotent: s.chance(2), TimeoutMs: timeout()},
		{
			Name: "exact", Method: "POST", Path: "/exact", Approval: pick(s, policy(), countersign.ApprovalNone, countersign.ApprovalRiskBased), ApprovalRules: s.rules(), Idempotent: !s.chance(4), TimeoutMs: timeout(),
			InputSchema: map[string]countersign.InputField{
				"amount": field("number", false), "note": field("string", false), "deep": field("object", false), "list": field("array", false), "flag": field("boolean", false),
			},
			Request: &countersign.RequestMapping{Query: []string{"flag", "note"}, Body: []string{"amount", "deep", "list"}},
		},
	}
	if s.chance(2) {
		w.Capabilities[2].Budgets = []countersign.Budget{{Count: budgetCount, Window: budgetWindow.String(), Then: countersign.BudgetDeny, Reason: "enough for now"}}
	}
	if w.Auth == nil && w.AuthSecretEnv == "" && w.Adapter == countersign.AdapterHTTPJSON {
		w.Capabilities = w.Capabilities[:2]
		w.Capabilities[1].SideEffect = nil
	}
	return w
}

var values = []countersign.Value{
	countersign.RawValue("12.50"), countersign.RawValue("9007199254740993"), countersign.RawValue("1e2"), countersign.RawValue("-0.0"),
	countersign.String("plain"), countersign.String("l\u00ednea\n\u2028 \"x\" </script>"), countersign.String(""), countersign.Null, countersign.Bool(true),
	countersign.RawValue(`{"a":[1,{"b":null}],"\u00e9":"x"}`), countersign.RawValue(`[1,1.0,"1"]`),
}

// input draws inputs for a capability, mostly valid ones.
func (s *sim) input(capability string) map[string]countersign.Value {
	in := map[string]countersign.Value{}
	switch capability {
	case "look":
		in["order"] = countersign.String(pick(s, "o-1", "A.48_2", "7"))
	case "pay":
		in["amount"] = pick(s, values...)
		in["iban"] = countersign.String("DE00-1234")
	case "ship", "drop":
		in["resourceId"] = countersign.String(pick(s, "o-1", "r.2"))
	case "exact":
		in["amount"] = pick(s, values[:4]...)
		in["flag"] = countersign.Bool(s.chance(2))
		if !s.chance(5) {
			in["deep"] = s.deep()
		}
		if s.chance(2) {
			in["list"], in["note"] = values[10], values[5]
		}
	}
	if s.chance(80) {
		in[pick(s, "resourceId", "order", "amount", "other")] = pick(s, values...)
	}
	return in
}

// expectation draws an expectation, mostly one that answers meet.
func (s *sim) expectation() *countersign.Expectation {
	e := pick(s,
		countersign.Expectation{Field: "state", Equals: countersign.String("done")},
		countersign.Expectation{Field: "state", Equals: countersign.String("done"), StatusCode: 200},
		countersign.Expectation{Field: "amount", Equals: countersign.RawValue("12.5")},
		countersign.Expectation{Field: "amount", Equals: countersign.RawValue("125e-1")},
		countersign.Expectation{Field: "nested.list", Equals: countersign.RawValue(`[1.0,null,"x"]`)},
	)
	if s.chance(15) {
		e = countersign.Expectation{Field: "$", Equals: countersign.RawValue("1")}
	}
	return &e
}

var capabilities = []string{"look", "list", "pay", "pay", "ship", "drop", "exact", "exact"}

// planSteps draws 1 to 12 steps with dependencies on and bindings to earlier steps.
func (s *sim) planSteps(tenant string) []countersign.Step {
	n := 1 + s.rng.IntN(pick(s, 2, 4, 12))
	steps := make([]countersign.Step, n)
	for i := range steps {
		c := pick(s, capabilities...)
		st := countersign.Step{ID: fmt.Sprintf("s%d", i), Name: c, ProjectID: tenant + "-" + pick(s, "one", "one", "one", "two"), Capability: c, Input: s.input(c)}
		if s.chance(2) {
			st.Expectation = s.expectation()
		}
		if i > 0 && s.chance(2) {
			st.DependsOn = []string{steps[s.rng.IntN(i)].ID}
			s.bind(&st)
		}
		steps[i] = st
	}
	if s.chance(40) {
		steps[0].DependsOn = []string{pick(s, "s0", "nobody")}
	}
	s.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

// bind binds an input to the step that it depends on.
func (s *sim) bind(st *countersign.Step) {
	name := map[string]string{"pay": "amount", "exact": "amount", "ship": "resourceId", "look": "order"}[st.Capability]
	if name == "" || !s.chance(2) {
		return
	}
	delete(st.Input, name)
	from := pick(s, "amount", "amount", "id", "id", "$", "result.amount", "state")
	st.InputBindings = map[string]countersign.Binding{name: {StepID: st.DependsOn[0], Field: from}}
}

// Actions and scenarios of the models.
const (
	actionOne, actionTwo = "one", "two"
	both, neither        = "both", "neither"
)

// model draws a model document with an id, mostly a valid one.
func (s *sim) model(id string) countersign.AgentModel {
	null := countersign.Scalar{Value: countersign.Null}
	positive := func(op string) countersign.Condition {
		return countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "amount", Operator: op, Value: countersign.Scalar{Value: countersign.RawValue("0")}}}
	}
	at := countersign.Position{X: "0", Y: "1.5"}
	scenario := func(id, amount, end, result string, path ...string) countersign.Scenario {
		return countersign.Scenario{
			ID: id, Name: id, Inputs: map[string]countersign.Scalar{"amount": {Value: countersign.RawValue(amount)}}, InitialMemory: map[string]countersign.Scalar{},
			ExpectedStateID: end, ExpectedPath: path, ExpectedResult: result,
		}
	}
	action := func(id string) countersign.Action {
		return countersign.Action{ID: id, Name: id, Inputs: []string{}, SimulatedResult: id + " done", MemoryEffects: []countersign.MemoryEffect{}}
	}
	return countersign.AgentModel{
		SchemaVersion: countersign.ModelSchemaVersion, ID: id, Name: id, Description: fmt.Sprintf("draw %d", s.rng.IntN(1000)), Revision: 1,
		Variables: []countersign.Variable{{ID: "amount", Name: "Amount", Kind: countersign.VariableInput, Type: countersign.TypeNumber, DefaultValue: null}},
		States: []countersign.ModelState{
			{ID: "a", Name: "a", IsStart: !s.chance(25), Position: at}, {ID: "b", Name: "b", Position: at}, {ID: "c", Name: "c", IsFinal: true, Position: at},
		},
		Transitions: []countersign.Transition{
			{ID: "t1", Name: "t1", FromStateID: "a", ToStateID: "b", Condition: positive("gt"), ActionID: actionOne},
			{ID: "t2", Name: "t2", FromStateID: "b", ToStateID: "c", Condition: positive("gt"), ActionID: actionTwo},
			{ID: "t3", Name: "t3", FromStateID: "a", ToStateID: "c", Priority: 1, Condition: positive("lte")},
		},
		Actions:   []countersign.Action{action(actionOne), action(actionTwo)},
		Scenarios: []countersign.Scenario{scenario(both, "1", "c", "two done", "a", "b", "c"), scenario(neither, "0", "c", "", "a", "c")},
	}
}
