package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// choosing is a model that shows what a condition comes to: it ends in yes when
// the condition holds, else in no.
func choosing(condition countersign.Condition, variables ...countersign.Variable) *countersign.AgentModel {
	return &countersign.AgentModel{
		Variables: variables,
		States:    states("start", "yes!", "no!"),
		Transitions: []countersign.Transition{
			arrow("t-yes", "start", "yes", condition),
			ranked(arrow("t-no", "start", "no", and()), 1),
		},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "yes", ExpectedPath: []string{"start", "yes"}}},
	}
}

func wantHolds(t *testing.T, doc *countersign.AgentModel, inputs given, want bool) {
	t.Helper()
	sim := simulated(t, doc, inputs)
	if got := sim.FinalStateID == "yes"; got != want {
		t.Errorf("condition holds: %v, want %v", got, want)
	}
}

func TestPredicates(t *testing.T) {
	amount := func(v string) countersign.Variable { return input("v", "number", raw(v)) }
	color := func(v countersign.Scalar) countersign.Variable { return input("v", "choice", v, "red", "green") }
	note := func(v countersign.Scalar) countersign.Variable { return input("v", "text", v) }
	flag := func(v string) countersign.Variable { return input("v", "boolean", raw(v)) }
	tests := []struct {
		name     string
		variable countersign.Variable
		operator string
		value    countersign.Scalar
		want     bool
	}{
		{"numbers are equal by exact value", amount("1.0"), "eq", raw("10e-1"), true},
		{"minus zero is zero", amount("-0"), "eq", raw("0"), true},
		{"numbers beyond 2^53 stay apart", amount("9007199254740993"), "eq", raw("9007199254740992"), false},
		{"and are ordered", amount("9007199254740993"), "gt", raw("9007199254740992"), true},
		{"huge exponents cost nothing", amount("1e999999999"), "gt", raw("1e999999998"), true},
		{"neq negates eq", amount("1"), "neq", raw("1.0"), false},
		{"neq holds for another value", amount("2"), "neq", raw("1"), true},
		{"gt excludes the value", amount("5"), "gt", raw("5"), false},
		{"gt above", amount("5.01"), "gt", raw("5"), true},
		{"gte includes the value", amount("5"), "gte", raw("5"), true},
		{"gte below", amount("4"), "gte", raw("5"), false},
		{"lt excludes the value", amount("5"), "lt", raw("5"), false},
		{"lt below", amount("-5"), "lt", raw("5"), true},
		{"lte includes the value", amount("5.0"), "lte", raw("5"), true},
		{"lte above", amount("6"), "lte", raw("5"), false},
		{"texts are equal by what they say", note(raw(`"\u0061"`)), "eq", raw(`"a"`), true},
		{"texts keep their case", note(text("A")), "eq", text("a"), false},
		{"an empty text is known", note(text("")), "isKnown", countersign.Scalar{}, true},
		{"choices are equal", color(text("red")), "eq", text("red"), true},
		{"choices differ", color(text("red")), "neq", text("green"), true},
		{"booleans are equal", flag("false"), "eq", raw("false"), true},
		{"booleans differ", flag("false"), "eq", raw("true"), false},
		{"false is known", flag("false"), "isKnown", countersign.Scalar{}, true},
		{"a known value is not unknown", flag("true"), "isUnknown", countersign.Scalar{}, false},
		{"nothing equals null", amount("0"), "eq", null, false},
		{"every known value is not null", amount("0"), "neq", null, true},
		{"nothing is ordered by null", amount("0"), "gte", null, false},
		{"isKnown ignores a value", amount("0"), "isKnown", raw("7"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantHolds(t, choosing(predicate("v", tt.operator, tt.value), tt.variable), nil, tt.want)
		})
	}
}

func TestPredicateOnUnknownIsFalseExceptIsUnknown(t *testing.T) {
	for _, operator := range []string{"eq", "neq", "gt", "gte", "lt", "lte", "isKnown"} {
		wantHolds(t, choosing(predicate("v", operator, raw("1")), input("v", "number", null)), nil, false)
	}
	for _, operator := range []string{"eq", "neq", "gt", "gte", "lt", "lte"} {
		wantHolds(t, choosing(predicate("v", operator, null), input("v", "number", null)), nil, false)
	}
	wantHolds(t, choosing(predicate("v", "isUnknown"), input("v", "number", null)), nil, true)
}

func TestGroups(t *testing.T) {
	yes, no := and(), or()
	tests := []struct {
		name      string
		condition countersign.Condition
		want      bool
	}{
		{"AND of nothing is true", and(), true},
		{"OR of nothing is false", or(), false},
		{"AND needs all", and(yes, no), false},
		{"AND of true", and(yes, yes), true},
		{"OR needs one", or(no, yes), true},
		{"OR of false", or(no, no), false},
		{"groups nest", and(or(no, and(yes, or(yes))), yes), true},
		{"a nested false counts", or(no, and(yes, or())), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantHolds(t, choosing(tt.condition), nil, tt.want) })
	}
}

// valueOf is the value that a variable has at the end of a scenario.
func valueOf(t *testing.T, v countersign.Variable, s countersign.Scenario, inputs given) string {
	t.Helper()
	s.ID, s.ExpectedStateID = "s", "start"
	doc := &countersign.AgentModel{Variables: []countersign.Variable{v}, States: states("start!"), Scenarios: []countersign.Scenario{s}}
	return simulated(t, doc, inputs).Values[v.ID].Raw()
}

func TestValuePrecedence(t *testing.T) {
	amount, count := input("v", "number", raw("1")), memory("v", "number", raw("1"))
	tests := []struct {
		name     string
		variable countersign.Variable
		scenario countersign.Scenario
		inputs   given
		want     string
	}{
		{"DefaultValueCountsLast", amount, countersign.Scenario{}, nil, "1"},
		{"ScenarioInputHidesTheDefault", amount, countersign.Scenario{Inputs: given{"v": raw("2.00")}}, nil, "2.00"},
		{"RequestInputHidesTheScenario", amount, countersign.Scenario{Inputs: given{"v": raw("2")}}, given{"v": raw("3e0")}, "3e0"},
		{"AbsentFallsThrough", amount, countersign.Scenario{Inputs: given{"v": raw("2")}}, given{}, "2"},
		{"ExplicitNullHidesTheDefault", amount, countersign.Scenario{Inputs: given{"v": null}}, nil, "null"},
		{"ExplicitNullInRequestHidesTheScenario", amount, countersign.Scenario{Inputs: given{"v": raw("2")}}, given{"v": null}, "null"},
		{"InitialMemoryHidesTheDefault", count, countersign.Scenario{InitialMemory: given{"v": raw("2")}}, nil, "2"},
		{"ExplicitNullMemoryHidesTheDefault", count, countersign.Scenario{InitialMemory: given{"v": null}}, nil, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, "value", valueOf(t, tt.variable, tt.scenario, tt.inputs), tt.want)
		})
	}
}

func TestExplicitNullHidesTheDefault(t *testing.T) {
	doc := choosing(predicate("v", "isUnknown"), input("v", "number", raw("1")))
	wantHolds(t, doc, nil, false)
	wantHolds(t, doc, given{"v": null}, true)
}

func TestLowerPriorityNumberIsTriedFirst(t *testing.T) {
	doc := choosing(and())
	doc.Transitions[0].Priority, doc.Transitions[1].Priority = 2, 1
	wantHolds(t, doc, nil, false)
	doc.Transitions[0].Priority = 0
	wantHolds(t, doc, nil, true)
}

func TestEqualPrioritiesAreTriedInDocumentOrder(t *testing.T) {
	doc := choosing(and())
	doc.Transitions[1].Priority = 0
	wantHolds(t, doc, nil, true)
	doc.Transitions[0], doc.Transitions[1] = doc.Transitions[1], doc.Transitions[0]
	wantHolds(t, doc, nil, false)
}

// working runs through two actions with effects on one memory cell.
func working() *countersign.AgentModel {
	return &countersign.AgentModel{
		Variables: []countersign.Variable{memory("m", "number", null), input("i", "number", raw("1.50"))},
		States:    states("a", "b", "c", "d!"),
		Transitions: []countersign.Transition{
			acting(arrow("ab", "a", "b", and()), "first"),
			acting(arrow("bc", "b", "c", predicate("m", "eq", raw("2"))), "second"),
			arrow("cd", "c", "d", and()),
		},
		Actions: []countersign.Action{
			action("first", "one", sets("m", raw("1")), sets("m", raw("2.0"))),
			action("second", "two", sets("m", null)),
		},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "d", ExpectedPath: []string{"a", "b", "c", "d"}, ExpectedResult: "two"}},
	}
}

func TestEffectsAreAppliedInOrder(t *testing.T) {
	sim := simulated(t, working(), nil)
	wantEqual(t, "actual", sim.Trace[1].Predicates[0].Actual.Raw(), "2.0")
	wantEqual(t, "effects", encoded(t, sim.Trace[0].Effects), `[{"variableId":"m","value":1},{"variableId":"m","value":2.0}]`)
}

func TestNullEffectMakesAVariableUnknown(t *testing.T) {
	wantEqual(t, "values", encoded(t, simulated(t, working(), nil).Values), `{"i":1.50,"m":null}`)
}

func TestResultIsTheLastActionsAndATransitionWithoutActionKeepsIt(t *testing.T) {
	wantEqual(t, "result", simulated(t, working(), nil).Result, "two")
}

func TestResultIsEmptyWhenNoActionRan(t *testing.T) {
	wantEqual(t, "result", simulated(t, choosing(and()), nil).Result, "")
}

func TestWalkListsActionsWithTheValuesBeforeTheirEffects(t *testing.T) {
	sim, visits, err := compiled(t, working()).Walk("s", given{"i": raw("7")})
	if err != nil || len(visits) != 2 {
		t.Fatalf("Walk: %d visits, %v; want 2", len(visits), err)
	}
	wantEqual(t, "passed", sim.Passed, true)
	wantEqual(t, "first visit", encoded(t, visits[0]), `{"ActionID":"first","TransitionID":"ab","Values":{"i":7,"m":null}}`)
	wantEqual(t, "second visit", encoded(t, visits[1]), `{"ActionID":"second","TransitionID":"bc","Values":{"i":7,"m":2.0}}`)
}

func TestWalkOfAPathWithoutActionsListsNone(t *testing.T) {
	_, visits, err := compiled(t, choosing(and())).Walk("s", nil)
	if err != nil || visits == nil || len(visits) != 0 {
		t.Errorf("Walk: %#v, %v; want an empty list", visits, err)
	}
}

func TestFinalStartEndsAtOnce(t *testing.T) {
	doc := &countersign.AgentModel{
		States:    states("a!"),
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "a", ExpectedPath: []string{"a"}}},
	}
	want := `{"scenarioId":"s","passed":true,"outcome":"final","finalStateId":"a","path":["a"],"result":"","values":{},"trace":[],"mismatches":[]}`
	wantEqual(t, "simulation", encoded(t, simulated(t, doc, nil)), want)
}

func TestStuckMayPass(t *testing.T) {
	doc := choosing(predicate("v", "isKnown"), input("v", "text", null))
	doc.Transitions = doc.Transitions[:1]
	doc.Scenarios[0].ExpectedStateID, doc.Scenarios[0].ExpectedPath = "start", []string{"start"}
	sim := simulated(t, doc, nil)
	wantEqual(t, "outcome", sim.Outcome, "stuck")
	wantEqual(t, "final state", sim.FinalStateID, "start")
	wantEqual(t, "passed", sim.Passed, true)
}

func TestLoopEndsWithTheRecurringStateAndNeverPasses(t *testing.T) {
	doc := &countersign.AgentModel{
		States: states("a", "b", "c"),
		Transitions: []countersign.Transition{
			arrow("ab", "a", "b", and()), arrow("bc", "b", "c", and()), arrow("cb", "c", "b", and()),
		},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "b", ExpectedPath: []string{"a", "b", "c", "b"}}},
	}
	sim := simulated(t, doc, nil)
	wantEqual(t, "outcome", sim.Outcome, "loop")
	wantEqual(t, "path", strings.Join(sim.Path, " "), "a b c b")
	wantEqual(t, "trace", len(sim.Trace), 3)
	wantEqual(t, "mismatches", len(sim.Mismatches), 0)
	wantEqual(t, "passed", sim.Passed, false)
}

func TestAStateThatRecursWithOtherValuesIsNoLoop(t *testing.T) {
	doc := &countersign.AgentModel{
		Variables: []countersign.Variable{memory("tries", "number", raw("0"))},
		States:    states("a", "b!"),
		Transitions: []countersign.Transition{
			acting(arrow("again", "a", "a", predicate("tries", "lt", raw("1"))), "try"),
			arrow("enough", "a", "b", predicate("tries", "gte", raw("1"))),
		},
		Actions:   []countersign.Action{action("try", "tried", sets("tries", raw("1")))},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "b", ExpectedPath: []string{"a", "a", "b"}, ExpectedResult: "tried"}},
	}
	wantEqual(t, "passed", simulated(t, doc, nil).Passed, true)
}

func TestLoopComparesValuesNotTheirSpelling(t *testing.T) {
	doc := &countersign.AgentModel{
		Variables:   []countersign.Variable{memory("m", "number", raw("1.0"))},
		States:      states("a"),
		Transitions: []countersign.Transition{acting(arrow("aa", "a", "a", and()), "set")},
		Actions:     []countersign.Action{action("set", "", sets("m", raw("10e-1")))},
		Scenarios:   []countersign.Scenario{{ID: "s", ExpectedStateID: "a"}},
	}
	sim := simulated(t, doc, nil)
	wantEqual(t, "path", strings.Join(sim.Path, " "), "a a")
	wantEqual(t, "value", sim.Values["m"].Raw(), "10e-1")
}

// TestTraceHasThePredicatesEvaluated: all transitions tried in the state, up to
// the one taken; a group stops at the member that decides it.
func TestTraceHasThePredicatesEvaluated(t *testing.T) {
	doc := choosing(or(
		and(predicate("v", "gt", raw("9")), predicate("v", "lt", raw("0"))),
		predicate("v", "eq", raw("5")),
		predicate("v", "isKnown"),
	), input("v", "number", raw("5.0")))
	doc.Transitions = append([]countersign.Transition{arrow("t-first", "start", "no", predicate("v", "isUnknown"))}, doc.Transitions...)
	want := `[{"from":"start","to":"yes","transitionId":"t-yes","predicates":[` +
		`{"transitionId":"t-first","variableId":"v","operator":"isUnknown","actual":5.0,"holds":false},` +
		`{"transitionId":"t-yes","variableId":"v","operator":"gt","value":9,"actual":5.0,"holds":false},` +
		`{"transitionId":"t-yes","variableId":"v","operator":"eq","value":5,"actual":5.0,"holds":true}],"effects":[]}]`
	wantEqual(t, "trace", encoded(t, simulated(t, doc, nil).Trace), want)
}

func TestMismatchesCompareStatePathAndResult(t *testing.T) {
	doc := working()
	doc.Scenarios[0].ExpectedStateID, doc.Scenarios[0].ExpectedPath, doc.Scenarios[0].ExpectedResult = "c", nil, "<two>"
	sim := simulated(t, doc, nil)
	want := `[{"field":"expectedStateId","expected":"c","actual":"d"},` +
		`{"field":"expectedPath","expected":[],"actual":["a","b","c","d"]},` +
		`{"field":"expectedResult","expected":"<two>","actual":"two"}]`
	wantEqual(t, "mismatches", encoded(t, sim.Mismatches), want)
	wantEqual(t, "passed", sim.Passed, false)
}

func TestUnknownScenarioIsNotFound(t *testing.T) {
	_, err := compiled(t, working()).Simulate("other", given{"nonsense": null})
	wantEqual(t, "code", countersign.ErrorCode(err), countersign.CodeNotFound)
}

func TestUnknownAndMistypedInputsAreAllNamed(t *testing.T) {
	_, err := compiled(t, working()).Simulate("s", given{"i": text("12"), "m": raw("1"), "amout": raw("1")})
	var e *countersign.Error
	if !errors.As(err, &e) {
		t.Fatalf("Simulate: %v, want an Error", err)
	}
	wantEqual(t, "code", e.Code, countersign.CodeInvalidRequest)
	wantEqual(t, "message", e.Message, `inputs.amout: the model has no input variable "amout"; `+
		`inputs.i: "12" is of type string; variable "i" takes type number or null; `+
		`inputs.m: "m" is a memory variable; only input variables are given here`)
}

func TestCompileRefusesADocumentWithErrors(t *testing.T) {
	doc := working()
	doc.Transitions[0].ToStateID, doc.Transitions[1].ActionID = "x", "y"
	_, err := model.Compile(doc)
	wantEqual(t, "code", countersign.ErrorCode(err), countersign.CodeModelInvalid)
	for _, part := range []string{"transitions[0].toStateId: ", "; transitions[1].actionId: "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q doesn't name %s", err, part)
		}
	}
}

func TestSimulateLeavesTheMachineAndItsDocumentAsTheyWere(t *testing.T) {
	doc := working()
	before := encoded(t, doc)
	m := compiled(t, doc)
	first, _ := m.Simulate("s", given{"i": null})
	second, _ := m.Simulate("s", nil)
	third, _ := m.Simulate("s", given{"i": null})
	wantEqual(t, "document", encoded(t, doc), before)
	wantEqual(t, "simulation", encoded(t, third), encoded(t, first))
	wantEqual(t, "value of i", second.Values["i"].Raw(), "1.50")
}
