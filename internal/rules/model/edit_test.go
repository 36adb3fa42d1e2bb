package model

import (
	"testing"

	"github.com/countersign/countersign"
)

// edited is a model in which each id is referred to wherever it can be.
func edited() *countersign.AgentModel {
	when := countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: "AND", Conditions: []countersign.Condition{
		{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "v", Operator: "isKnown"}},
	}}}
	value := countersign.Scalar{Value: countersign.String("x")}
	return &countersign.AgentModel{
		Variables:   []countersign.Variable{{ID: "v"}},
		States:      []countersign.ModelState{{ID: "a", IsStart: true}, {ID: "b"}},
		Transitions: []countersign.Transition{{ID: "t", FromStateID: "a", ToStateID: "b", Condition: when, ActionID: "do"}, {ID: "u", FromStateID: "b", ToStateID: "b"}},
		Actions:     []countersign.Action{{ID: "do", MemoryEffects: []countersign.MemoryEffect{{VariableID: "v", Value: value}}}},
		Scenarios: []countersign.Scenario{{ID: "s", Inputs: map[string]countersign.Scalar{"v": value}, InitialMemory: map[string]countersign.Scalar{"v": value},
			ExpectedStateID: "b", ExpectedPath: []string{"a", "b"}}},
	}
}

func TestARenamedElementKeepsWhatRefersToIt(t *testing.T) {
	doc := edited()
	RenameState(doc, 1, "end")
	RenameAction(doc, 0, "act")
	RenameVariable(doc, 0, "w")
	one, s := doc.Transitions[0], doc.Scenarios[0]
	_, input := s.Inputs["w"]
	_, memory := s.InitialMemory["w"]
	if one.FromStateID != "a" || one.ToStateID != "end" || doc.Transitions[1].FromStateID != "end" || s.ExpectedStateID != "end" || s.ExpectedPath[1] != "end" || s.ExpectedPath[0] != "a" {
		t.Errorf("state: %+v", doc)
	}
	if one.ActionID != "act" || doc.Transitions[1].ActionID != "" {
		t.Errorf("action: %+v", doc)
	}
	if one.Condition.Group.Conditions[0].Predicate.VariableID != "w" || doc.Actions[0].MemoryEffects[0].VariableID != "w" || !input || !memory || len(s.Inputs) != 1 {
		t.Errorf("variable: %+v", doc)
	}
}

func TestARemovedStateTakesItsTransitionsAlong(t *testing.T) {
	doc := edited()
	doc.Transitions = append(doc.Transitions, countersign.Transition{ID: "stay", FromStateID: "a", ToStateID: "a"})
	RemoveState(doc, 1)
	if len(doc.States) != 1 || len(doc.Transitions) != 1 || doc.Transitions[0].ID != "stay" {
		t.Errorf("%+v", doc)
	}
}

func TestARemovedActionIsTakenByNoTransition(t *testing.T) {
	doc := edited()
	RemoveAction(doc, 0)
	if len(doc.Actions) != 0 || doc.Transitions[0].ActionID != "" {
		t.Errorf("%+v", doc)
	}
}

func TestOneStateIsTheStart(t *testing.T) {
	doc := edited()
	StartAt(doc, 1)
	if doc.States[0].IsStart || !doc.States[1].IsStart {
		t.Errorf("%+v", doc.States)
	}
}
