package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// Edits of a document that keep it whole: what has another id is called by it everywhere,
// and a state takes the transitions at it along when it is removed.

// RenameState gives a state another id, in transitions and scenarios too.
func RenameState(doc *countersign.AgentModel, i int, id string) {
	was := doc.States[i].ID
	doc.States[i].ID = id
	for j := range doc.Transitions {
		t := &doc.Transitions[j]
		replace(&t.FromStateID, was, id)
		replace(&t.ToStateID, was, id)
	}
	for j := range doc.Scenarios {
		s := &doc.Scenarios[j]
		replace(&s.ExpectedStateID, was, id)
		for k := range s.ExpectedPath {
			replace(&s.ExpectedPath[k], was, id)
		}
	}
}

// RenameAction gives an action another id, in transitions too.
func RenameAction(doc *countersign.AgentModel, i int, id string) {
	was := doc.Actions[i].ID
	doc.Actions[i].ID = id
	for j := range doc.Transitions {
		replace(&doc.Transitions[j].ActionID, was, id)
	}
}

// RenameVariable gives a variable another id, in conditions, effects and scenarios too.
func RenameVariable(doc *countersign.AgentModel, i int, id string) {
	was := doc.Variables[i].ID
	doc.Variables[i].ID = id
	for j := range doc.Transitions {
		eachCondition(&doc.Transitions[j].Condition, nil, func(c *countersign.Condition, _ []int) {
			if c.Predicate != nil {
				replace(&c.Predicate.VariableID, was, id)
			}
		})
	}
	for j := range doc.Actions {
		for k := range doc.Actions[j].MemoryEffects {
			replace(&doc.Actions[j].MemoryEffects[k].VariableID, was, id)
		}
	}
	for j := range doc.Scenarios {
		rekey(doc.Scenarios[j].Inputs, was, id)
		rekey(doc.Scenarios[j].InitialMemory, was, id)
	}
}

func replace(s *string, was, id string) {
	if *s == was {
		*s = id
	}
}

func rekey(values map[string]countersign.Scalar, was, id string) {
	if value, given := values[was]; given && was != id {
		delete(values, was)
		values[id] = value
	}
}

// RemoveState removes a state with the transitions from it and to it.
func RemoveState(doc *countersign.AgentModel, i int) {
	id := doc.States[i].ID
	doc.States = slices.Delete(doc.States, i, i+1)
	doc.Transitions = slices.DeleteFunc(doc.Transitions, func(t countersign.Transition) bool {
		return t.FromStateID == id || t.ToStateID == id
	})
}

// RemoveAction removes an action; transitions keep their place without it.
func RemoveAction(doc *countersign.AgentModel, i int) {
	id := doc.Actions[i].ID
	doc.Actions = slices.Delete(doc.Actions, i, i+1)
	for j := range doc.Transitions {
		replace(&doc.Transitions[j].ActionID, id, "")
	}
}

// StartAt makes a state the start state, and no other.
func StartAt(doc *countersign.AgentModel, i int) {
	for j := range doc.States {
		doc.States[j].IsStart = j == i
	}
}
