package model

import (
	"fmt"

	"github.com/countersign/countersign"
)

// checker collects the errors of a document, section by section in the order of
// the document. Paths are written only where there is a problem.
type checker struct {
	doc    *countersign.AgentModel
	ix     *index
	errors []countersign.Problem
}

// check returns every error of a document (contract 4). Without any, the
// document can be compiled and simulated.
func check(doc *countersign.AgentModel, ix *index) []countersign.Problem {
	c := checker{doc: doc, ix: ix, errors: []countersign.Problem{}}
	c.variables()
	c.states()
	c.transitions()
	c.actions()
	c.scenarios()
	return c.errors
}

func (c *checker) fail(path, code, format string, args ...any) {
	c.errors = append(c.errors, countersign.Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// unique reports an id that an earlier entry of its list has.
func (c *checker) unique(list string, i, first int, id string) {
	if first != i {
		c.fail(fmt.Sprintf("%s[%d].id", list, i), DuplicateID, "%s is the id of %s[%d] already; ids are unique within %s", quoted(id), list, first, list)
	}
}

func (c *checker) variables() {
	for i := range c.doc.Variables {
		v := &c.doc.Variables[i]
		c.unique("variables", i, c.ix.variables[v.ID].slot, v.ID)
		c.variable(fmt.Sprintf("variables[%d]", i), &variable{Variable: v, choices: choiceSet(v)})
	}
}

func (c *checker) variable(at string, v *variable) {
	if v.Kind != countersign.VariableInput && v.Kind != countersign.VariableMemory {
		c.fail(at+".kind", WrongShape, "%s is neither input nor memory", quoted(v.Kind))
	}
	if kindOf(v.Type) == countersign.KindAbsent {
		c.fail(at+".type", WrongShape, "%s is none of number, boolean, text, choice", quoted(v.Type))
	}
	if code, message := v.misfit(v.DefaultValue); code != "" {
		c.fail(at+".defaultValue", code, "%s", message)
	}
	if v.Type == countersign.TypeChoice && len(v.Choices) == 0 {
		c.fail(at+".choices", ChoicesMissing, "choice variable %s has no choices; list at least one", quoted(v.ID))
	}
}

func (c *checker) states() {
	start := -1
	for i := range c.doc.States {
		s := &c.doc.States[i]
		c.unique("states", i, c.ix.states[s.ID], s.ID)
		if s.IsStart && start >= 0 {
			c.fail(fmt.Sprintf("states[%d].isStart", i), SeveralStartStates, "states[%d] is the start state already; exactly one state is", start)
		}
		if s.IsStart && start < 0 {
			start = i
		}
	}
	if start < 0 {
		c.fail("states", NoStartState, "no state has isStart true; exactly one needs it")
	}
}

func (c *checker) transitions() {
	first := positions(c.doc.Transitions, func(t *countersign.Transition) string { return t.ID })
	for i := range c.doc.Transitions {
		t := &c.doc.Transitions[i]
		c.unique("transitions", i, first[t.ID], t.ID)
		c.transition(fmt.Sprintf("transitions[%d]", i), t)
		c.condition(i, &t.Condition)
	}
}

func (c *checker) transition(at string, t *countersign.Transition) {
	from, ok := c.ix.states[t.FromStateID]
	if !ok {
		c.unknownState(at+".fromStateId", t.FromStateID)
	} else if c.doc.States[from].IsFinal {
		c.fail(at+".fromStateId", FinalStateLeft, "state %s is final, so nothing leads out of it; remove the transition or isFinal", quoted(t.FromStateID))
	}
	if _, ok := c.ix.states[t.ToStateID]; !ok {
		c.unknownState(at+".toStateId", t.ToStateID)
	}
	if _, ok := c.ix.actions[t.ActionID]; !ok && t.ActionID != "" {
		c.fail(at+".actionId", UnknownAction, "the model has no action %s", quoted(t.ActionID))
	}
}

func (c *checker) unknownState(path, id string) {
	c.fail(path, UnknownState, "the model has no state %s", quoted(id))
}

// actions checks memory effects. An action's inputs are names of what it needs,
// not ids: a plan's bindings give them values (contract 5).
func (c *checker) actions() {
	for i := range c.doc.Actions {
		a := &c.doc.Actions[i]
		c.unique("actions", i, c.ix.actions[a.ID], a.ID)
		for j, effect := range a.MemoryEffects {
			c.effect(fmt.Sprintf("actions[%d].memoryEffects[%d]", i, j), effect)
		}
	}
}

func (c *checker) effect(at string, e countersign.MemoryEffect) {
	code, message := c.ix.misfitOf(e.VariableID, countersign.VariableMemory, e.Value)
	switch code {
	case "":
	case ValueTypeMismatch, ValueNotInChoices:
		c.fail(at+".value", code, "%s", message)
	default:
		c.fail(at+".variableId", code, "%s", message)
	}
}

func (c *checker) scenarios() {
	for i := range c.doc.Scenarios {
		s, at := &c.doc.Scenarios[i], fmt.Sprintf("scenarios[%d]", i)
		c.unique("scenarios", i, c.ix.scenarios[s.ID], s.ID)
		c.errors = append(c.errors, c.ix.misfits(at+".inputs", countersign.VariableInput, s.Inputs)...)
		c.errors = append(c.errors, c.ix.misfits(at+".initialMemory", countersign.VariableMemory, s.InitialMemory)...)
		if _, ok := c.ix.states[s.ExpectedStateID]; !ok {
			c.unknownState(at+".expectedStateId", s.ExpectedStateID)
		}
		for j, id := range s.ExpectedPath {
			if _, ok := c.ix.states[id]; !ok {
				c.unknownState(fmt.Sprintf("%s.expectedPath[%d]", at, j), id)
			}
		}
	}
}
