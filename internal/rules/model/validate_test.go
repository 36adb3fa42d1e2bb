package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// sound has one of everything and nothing wrong with it.
func sound() *countersign.AgentModel {
	return &countersign.AgentModel{
		Variables: []countersign.Variable{
			input("amount", "number", raw("10")), input("color", "choice", text("red"), "red", "green"),
			memory("done", "boolean", null), input("note", "text", null),
		},
		States: states("a", "b", "c!"),
		Transitions: []countersign.Transition{
			acting(arrow("ab", "a", "b", and(predicate("amount", "gt", raw("5")), predicate("color", "eq", text("red")))), "act"),
			ranked(arrow("ac", "a", "c", predicate("note", "isUnknown")), 1),
			arrow("bc", "b", "c", predicate("done", "eq", raw("true"))),
		},
		Actions:   []countersign.Action{action("act", "acted", sets("done", raw("true")))},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "c", ExpectedPath: []string{"a", "b", "c"}, ExpectedResult: "acted"}},
	}
}

type edit = func(doc *countersign.AgentModel)

// found writes problems as "path code".
func found(problems []countersign.Problem) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Path+" "+p.Code)
	}
	return strings.Join(lines, "\n")
}

func conditionEdit(c countersign.Condition) edit {
	return func(d *countersign.AgentModel) { d.Transitions[1].Condition = c }
}

func TestASoundDocumentHasNoProblems(t *testing.T) {
	want := `{"valid":true,"errors":[],"warnings":[]}`
	wantEqual(t, "validation", encoded(t, model.Validate(sound())), want)
}

func TestValidateErrors(t *testing.T) {
	tests := []struct {
		name string
		edit edit
		want string
	}{
		{"transition from no state", func(d *countersign.AgentModel) { d.Transitions[0].FromStateID = "x" }, "transitions[0].fromStateId unknown_state"},
		{"transition to no state", func(d *countersign.AgentModel) { d.Transitions[0].ToStateID = "x" }, "transitions[0].toStateId unknown_state"},
		{"transition with no action", func(d *countersign.AgentModel) { d.Transitions[1].ActionID = "x" }, "transitions[1].actionId unknown_action"},
		{"predicate on no variable", conditionEdit(or(and(), and(or(), predicate("x", "isKnown")))),
			"transitions[1].condition.conditions[1].conditions[1].variableId unknown_variable"},
		{"effect on no variable", func(d *countersign.AgentModel) { d.Actions[0].MemoryEffects[0].VariableID = "x" }, "actions[0].memoryEffects[0].variableId unknown_variable"},
		{"effect on an input", func(d *countersign.AgentModel) { d.Actions[0].MemoryEffects[0].VariableID = "note" }, "actions[0].memoryEffects[0].variableId not_a_memory_variable"},
		{"effect of another type", func(d *countersign.AgentModel) { d.Actions[0].MemoryEffects[0].Value = text("true") }, "actions[0].memoryEffects[0].value value_type_mismatch"},
		{"expected state", func(d *countersign.AgentModel) { d.Scenarios[0].ExpectedStateID = "" }, "scenarios[0].expectedStateId unknown_state"},
		{"expected path", func(d *countersign.AgentModel) { d.Scenarios[0].ExpectedPath[1] = "x" }, "scenarios[0].expectedPath[1] unknown_state"},
		{"no start state", func(d *countersign.AgentModel) { d.States[0].IsStart = false }, "states no_start_state"},
		{"several start states", func(d *countersign.AgentModel) { d.States[1].IsStart, d.States[2].IsStart = true, true },
			"states[1].isStart several_start_states\nstates[2].isStart several_start_states"},
		{"no states at all", func(d *countersign.AgentModel) { *d = countersign.AgentModel{} }, "states no_start_state"},
		{"duplicate variable", func(d *countersign.AgentModel) { d.Variables = append(d.Variables, d.Variables[0]) }, "variables[4].id duplicate_id"},
		{"duplicate state", func(d *countersign.AgentModel) { d.States = append(d.States, d.States[2]) }, "states[3].id duplicate_id"},
		{"duplicate transition", func(d *countersign.AgentModel) { d.Transitions[2].ID = "ab" }, "transitions[2].id duplicate_id"},
		{"duplicate action", func(d *countersign.AgentModel) { d.Actions = append(d.Actions, d.Actions[0]) }, "actions[1].id duplicate_id"},
		{"duplicate scenario", func(d *countersign.AgentModel) { d.Scenarios = append(d.Scenarios, d.Scenarios[0]) }, "scenarios[1].id duplicate_id"},
		{"the same id in two lists is none", func(d *countersign.AgentModel) { d.Scenarios[0].ID = "ab" }, ""},
		{"choice default outside its choices", func(d *countersign.AgentModel) { d.Variables[1].DefaultValue = text("blue") }, "variables[1].defaultValue value_not_in_choices"},
		{"unknown choice default is fine", func(d *countersign.AgentModel) { d.Variables[1].DefaultValue = null }, ""},
		{"choice without choices", func(d *countersign.AgentModel) {
			d.Variables[1].Choices, d.Variables[1].DefaultValue = nil, null
			d.Transitions[0].Condition = and()
		}, "variables[1].choices choices_missing"},
		{"default of another type", func(d *countersign.AgentModel) { d.Variables[0].DefaultValue = text("10") }, "variables[0].defaultValue value_type_mismatch"},
		{"array default", func(d *countersign.AgentModel) { d.Variables[3].DefaultValue = raw(`["a"]`) }, "variables[3].defaultValue value_type_mismatch"},
		{"transition out of a final state", func(d *countersign.AgentModel) { d.Transitions[2].FromStateID = "c" }, "transitions[2].fromStateId final_state_left"},
		{"ordering a text", conditionEdit(predicate("note", "lt", text("a"))), "transitions[1].condition.operator operator_type_mismatch"},
		{"ordering a choice", conditionEdit(predicate("color", "gte", text("red"))), "transitions[1].condition.operator operator_type_mismatch"},
		{"ordering a boolean", conditionEdit(predicate("done", "gt", raw("true"))), "transitions[1].condition.operator operator_type_mismatch"},
		{"number compared with a text", conditionEdit(predicate("amount", "gt", text("5"))), "transitions[1].condition.value value_type_mismatch"},
		{"boolean compared with a text", conditionEdit(predicate("done", "eq", text("true"))), "transitions[1].condition.value value_type_mismatch"},
		{"choice compared with no choice", conditionEdit(and(predicate("color", "neq", text("blue")))), "transitions[1].condition.conditions[0].value value_not_in_choices"},
		{"comparison without value", conditionEdit(predicate("note", "eq")), "transitions[1].condition.value value_missing"},
		{"scenario input that there isn't", func(d *countersign.AgentModel) {
			d.Scenarios[0].Inputs = given{"x": null, "done": raw("true"), "amount": text("a")}
		}, "scenarios[0].inputs.amount value_type_mismatch\nscenarios[0].inputs.done not_an_input_variable\nscenarios[0].inputs.x unknown_variable"},
		{"scenario memory that there isn't", func(d *countersign.AgentModel) {
			d.Scenarios[0].InitialMemory = given{"x": null, "color": text("red"), "done": raw("1")}
		}, "scenarios[0].initialMemory.color not_a_memory_variable\nscenarios[0].initialMemory.done value_type_mismatch\nscenarios[0].initialMemory.x unknown_variable"},
		{"scenario input outside its choices", func(d *countersign.AgentModel) { d.Scenarios[0].Inputs = given{"color": text("blue")} }, "scenarios[0].inputs.color value_not_in_choices"},
		{"action inputs are names, not ids", func(d *countersign.AgentModel) { d.Actions[0].Inputs = []string{"the order's number"} }, ""},
		{"unknown kind", func(d *countersign.AgentModel) { d.Variables[3].Kind = "output" }, "variables[3].kind wrong_shape"},
		{"unknown type", func(d *countersign.AgentModel) { d.Variables[3].Type = "date" }, "variables[3].type wrong_shape"},
		{"unknown operator", conditionEdit(predicate("note", "like", text("a"))), "transitions[1].condition.operator wrong_shape"},
		{"unknown combinator", conditionEdit(group("XOR")), "transitions[1].condition.combinator wrong_shape"},
		{"empty condition", conditionEdit(countersign.Condition{}), "transitions[1].condition wrong_shape"},
		{"several problems come in document order", func(d *countersign.AgentModel) {
			d.Scenarios[0].ExpectedStateID, d.Transitions[2].ActionID, d.States[1].IsStart, d.Variables[0].Type = "x", "x", true, "x"
		}, "variables[0].type wrong_shape\nstates[1].isStart several_start_states\ntransitions[2].actionId unknown_action\nscenarios[0].expectedStateId unknown_state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := sound()
			tt.edit(doc)
			v := model.Validate(doc)
			if got := found(v.Errors); got != tt.want {
				t.Errorf("errors:\n%s\nwant:\n%s", got, tt.want)
			}
			wantEqual(t, "valid", v.Valid, tt.want == "")
		})
	}
}

func TestValidateWarnings(t *testing.T) {
	tests := []struct {
		name string
		edit edit
		want string
	}{
		{"eq null", conditionEdit(or(predicate("note", "isUnknown"), predicate("note", "eq", null))), "transitions[1].condition.conditions[1].value compares_with_null"},
		{"neq null", conditionEdit(predicate("note", "neq", null)), "transitions[1].condition.value compares_with_null"},
		{"gt null", conditionEdit(or(predicate("note", "isUnknown"), predicate("amount", "gt", null))), "transitions[1].condition.conditions[1].value compares_with_null"},
		{"isKnown with a value", conditionEdit(predicate("note", "isKnown", text("a"))), "transitions[1].condition.value value_ignored"},
		{"isKnown with null", conditionEdit(predicate("note", "isKnown", null)), ""},
		{"unreachable state", func(d *countersign.AgentModel) {
			d.States = append(d.States, countersign.ModelState{ID: "d", IsFinal: true})
		}, "states[3] unreachable_state"},
		{"state without a way out", func(d *countersign.AgentModel) { d.States[2].IsFinal = false }, "states[2] dead_end_state"},
		{"a way to itself is no way out", func(d *countersign.AgentModel) {
			d.States[2].IsFinal = false
			d.Transitions = append(d.Transitions, arrow("cc", "c", "c", predicate("note", "isKnown")))
		}, "states[2] dead_end_state"},
		{"a way that is never taken is no way", func(d *countersign.AgentModel) { d.Transitions[2].Condition = or() },
			"states[1] dead_end_state\ntransitions[2] transition_never_taken\nscenarios[0].expectedStateId expectation_not_met\nscenarios[0].expectedPath expectation_not_met"},
		{"what only such a way leads to is unreachable", func(d *countersign.AgentModel) { d.Transitions[0].Condition = or(or(), and(and(), or())) },
			"states[1] unreachable_state\ntransitions[0] transition_never_taken\n" +
				"scenarios[0].expectedPath expectation_not_met\nscenarios[0].expectedResult expectation_not_met"},
		{"tried after what is always taken", func(d *countersign.AgentModel) { d.Transitions[0].Condition = or(or(), and()) }, "transitions[1] transition_never_taken"},
		{"the same condition again", func(d *countersign.AgentModel) {
			d.Transitions = append(d.Transitions, arrow("bb", "b", "a", predicate("done", "eq", raw(" true"))))
		}, "transitions[3] transition_never_taken"},
		{"a condition that contradicts itself", conditionEdit(and(predicate("amount", "gt", raw("5")), predicate("amount", "lt", raw("5.0")))), "transitions[1] transition_never_taken"},
		{"there is a number between any two", conditionEdit(and(predicate("amount", "gt", raw("4")), predicate("amount", "lt", raw("4.1")))), ""},
		{"all that its condition allows is taken before", func(d *countersign.AgentModel) {
			d.Transitions[0].Condition = predicate("amount", "gte", raw("5"))
			d.Transitions[1].Condition = and(predicate("amount", "gt", raw("7")), predicate("note", "isKnown"))
		}, "transitions[1] transition_never_taken"},
		{"no choice is left", func(d *countersign.AgentModel) {
			d.Transitions[0].Condition = or(predicate("color", "eq", text("red")), predicate("color", "eq", text("green")))
			d.Transitions[1].Condition = predicate("color", "isKnown")
		}, "transitions[1] transition_never_taken"},
		{"another text is always left", func(d *countersign.AgentModel) {
			d.Transitions[0].Condition = or(predicate("note", "eq", text("")), predicate("note", "isUnknown"))
			d.Transitions[1].Condition = predicate("note", "isKnown")
			d.Scenarios = nil
		}, ""},
		{"scenario that ends elsewhere", func(d *countersign.AgentModel) { d.Scenarios[0].ExpectedStateID = "b" }, "scenarios[0].expectedStateId expectation_not_met"},
		{"scenario that takes another path", func(d *countersign.AgentModel) { d.Scenarios[0].ExpectedPath = []string{"a", "c"} }, "scenarios[0].expectedPath expectation_not_met"},
		{"scenario with another result", func(d *countersign.AgentModel) { d.Scenarios[0].ExpectedResult = "" }, "scenarios[0].expectedResult expectation_not_met"},
		{"scenario that loops", func(d *countersign.AgentModel) {
			d.Transitions[2].ToStateID, d.Scenarios[0].ExpectedStateID, d.Scenarios[0].ExpectedPath = "a", "b", []string{"a", "b", "a", "b"}
		}, "scenarios[0] scenario_loops"},
		{"with errors scenarios are not judged", func(d *countersign.AgentModel) {
			d.Scenarios[0].ExpectedResult, d.Transitions[2].ActionID, d.States[2].IsFinal = "", "x", false
		}, "states[2] dead_end_state"},
		{"with errors conditions are judged one by one", func(d *countersign.AgentModel) {
			d.Transitions[1].Condition, d.Transitions[2].ActionID = predicate("note", "eq", null), "x"
		}, "transitions[1] transition_never_taken\ntransitions[1].condition.value compares_with_null"},
		{"so are those of a state with too many cases", func(d *countersign.AgentModel) {
			for i := range 30 {
				v := input(fmt.Sprint("v", i), "boolean", null)
				d.Variables = append(d.Variables, v)
				d.Transitions = append(d.Transitions, ranked(arrow("t-"+v.ID, "a", "b", predicate(v.ID, "isKnown")), int64(2+i)))
			}
			d.Transitions = append(d.Transitions, ranked(arrow("again", "a", "b", predicate("v7", "isKnown")), 40))
		}, "transitions[33] transition_never_taken"},
		{"two transitions of one priority at once", func(d *countersign.AgentModel) { d.Transitions[1].Priority = 0 }, "transitions[1] overlapping_transitions"},
		{"of different priorities there is no doubt", func(d *countersign.AgentModel) { d.Transitions[1].Condition = predicate("amount", "gt", raw("6")) }, ""},
		{"a state that no run comes to", func(d *countersign.AgentModel) {
			d.States = append(d.States, countersign.ModelState{ID: "d", IsFinal: true})
			d.Transitions = append(d.Transitions, ranked(arrow("bd", "b", "d", predicate("done", "neq", raw("true"))), 1))
		}, "states[3] unreachable_state\ntransitions[3] transition_never_taken"},
		{"a scenario that begins otherwise comes there", func(d *countersign.AgentModel) {
			d.States = append(d.States, countersign.ModelState{ID: "d", IsFinal: true})
			d.Transitions = append(d.Transitions, ranked(arrow("ad", "a", "d", predicate("done", "eq", raw("false"))), 2))
			d.Scenarios = append(d.Scenarios, countersign.Scenario{
				ID: "s2", Inputs: given{"amount": null, "note": text("n")}, InitialMemory: given{"done": raw("false")},
				ExpectedStateID: "d", ExpectedPath: []string{"a", "d"},
			})
		}, ""},
		{"a trap", func(d *countersign.AgentModel) {
			d.States = append(d.States, countersign.ModelState{ID: "d"}, countersign.ModelState{ID: "e"})
			d.Transitions = append(d.Transitions, ranked(arrow("ad", "a", "d", predicate("amount", "lt", raw("0"))), 2),
				arrow("de", "d", "e", and()), arrow("ed", "e", "d", and()))
		}, "states[3] trap_state\nstates[3] loop_possible\nstates[4] trap_state"},
		{"a scenario that nothing tells from another", func(d *countersign.AgentModel) {
			d.Scenarios = append(d.Scenarios, d.Scenarios[0])
			d.Scenarios[1].ID, d.Scenarios[1].Inputs = "s2", given{"amount": raw("11")}
		}, "scenarios[1] scenario_covers_nothing_new"},
		{"a scenario on the other side of a constant is another", func(d *countersign.AgentModel) {
			d.Scenarios = append(d.Scenarios, d.Scenarios[0])
			d.Scenarios[1].ID, d.Scenarios[1].Inputs, d.Scenarios[1].ExpectedPath, d.Scenarios[1].ExpectedResult = "s2", given{"amount": raw("5")}, []string{"a", "c"}, ""
		}, ""},
		{"a model too large to be explored", func(d *countersign.AgentModel) {
			big := counter(20, false)
			d.States[2].IsFinal, d.Variables = false, append(d.Variables, big.Variables...)
			d.States = append(d.States, countersign.ModelState{ID: "full", IsFinal: true})
			d.Actions = append(d.Actions, big.Actions...)
			for _, t := range big.Transitions {
				t.FromStateID, t.ToStateID = "c", map[string]string{"count": "c", "full": "full"}[t.ToStateID]
				d.Transitions = append(d.Transitions, t)
			}
			d.Scenarios = nil
		}, " exploration_ended"},
		{"without a start nothing is called unreachable", func(d *countersign.AgentModel) { d.States[0].IsStart = false }, ""},
		{"a dangling way out is one", func(d *countersign.AgentModel) { d.Transitions[2].ToStateID = "x" }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := sound()
			tt.edit(doc)
			if got := found(model.Validate(doc).Warnings); got != tt.want {
				t.Errorf("warnings:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestAWarningNamesInputsThatShowIt(t *testing.T) {
	doc := sound()
	doc.Transitions[1].Priority = 0
	want := `transitions "ab" and "ac" of state "a" have the same priority and can be enabled at once, so only their order in the document decides: ` +
		`with inputs {"amount": 10, "color": "red", "note": null} it goes a > b > c; give them different priorities or conditions that exclude each other`
	wantEqual(t, "message", model.Validate(doc).Warnings[0].Message, want)
}

func TestProblemsSayWhatWouldBeRight(t *testing.T) {
	doc := sound()
	doc.Transitions[0].Condition = and(predicate("color", "eq", text("blue")), predicate("amount", "gt", text("5")))
	var messages []string
	for _, p := range model.Validate(doc).Errors {
		messages = append(messages, p.Message)
	}
	want := []string{
		`"blue" is none of the choices of variable "color": "red", "green"`,
		`"5" is of type string; variable "amount" takes type number or null`,
	}
	if !slices.Equal(messages, want) {
		t.Errorf("messages are %q, want %q", messages, want)
	}
}

// TestMessagesAreClipped: a long id or list of choices must not come back with
// every problem that concerns it.
func TestMessagesAreClipped(t *testing.T) {
	doc := sound()
	long := strings.Repeat("é", 100_000)
	doc.Variables[1].ID = long
	doc.Variables[1].Choices = slices.Repeat([]string{long}, 100)
	doc.Transitions[0].Condition = predicate(long, "eq", text(strings.Repeat("x", 100_000)))
	for _, p := range model.Validate(doc).Errors {
		if len(p.Message) > 2000 {
			t.Errorf("%s: message of %d bytes", p.Path, len(p.Message))
		}
	}
}

func TestTheFirstOfDuplicatesCounts(t *testing.T) {
	doc := sound()
	doc.Variables = append(doc.Variables, memory("amount", "text", null))
	if v := model.Validate(doc); len(v.Errors) != 1 {
		t.Errorf("errors:\n%s\nwant only the duplicate", found(v.Errors))
	}
}
