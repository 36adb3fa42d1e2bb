package model

import (
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
)

// checker collects the errors of a document in document order. It formats paths only
// where there is a problem.
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

// entry is a place in one of the document's lists, formatted only where there is a
// problem.
type entry struct {
	list string
	i    int
}

func (e entry) String() string { return e.list + "[" + strconv.Itoa(e.i) + "]" }

func (e entry) field(name string) string { return e.String() + "." + name }

// unique reports an id that an earlier entry of the list has.
func (c *checker) unique(at entry, first int, id string) {
	if first != at.i {
		c.fail(at.field("id"), DuplicateID, "%s is the id of %s already; ids are unique within %s", quoted(id), entry{at.list, first}, at.list)
	}
}

func (c *checker) variables() {
	for i := range c.doc.Variables {
		v, at := &c.doc.Variables[i], entry{"variables", i}
		c.unique(at, c.ix.variables[v.ID].slot, v.ID)
		c.variable(at, &variable{Variable: v, choices: choiceSet(v)})
	}
}

func (c *checker) variable(at entry, v *variable) {
	if v.Kind != countersign.VariableInput && v.Kind != countersign.VariableMemory {
		c.fail(at.field("kind"), WrongShape, "%s is neither input nor memory", quoted(v.Kind))
	}
	if kindOf(v.Type) == countersign.KindAbsent {
		c.fail(at.field("type"), WrongShape, "%s is none of number, boolean, text, choice", quoted(v.Type))
	}
	if code, message := v.misfit(v.DefaultValue); code != "" {
		c.fail(at.field("defaultValue"), code, "%s", message)
	}
	if v.Type == countersign.TypeChoice && len(v.Choices) == 0 {
		c.fail(at.field("choices"), ChoicesMissing, "choice variable %s has no choices; list at least one", quoted(v.ID))
	}
}

func (c *checker) states() {
	start := -1
	for i := range c.doc.States {
		s, at := &c.doc.States[i], entry{"states", i}
		c.unique(at, c.ix.states[s.ID], s.ID)
		if s.IsStart && start >= 0 {
			c.fail(at.field("isStart"), SeveralStartStates, "states[%d] is the start state already; exactly one state is", start)
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
		t, at := &c.doc.Transitions[i], entry{"transitions", i}
		c.unique(at, first[t.ID], t.ID)
		c.transition(at, t)
		c.condition(i, &t.Condition)
	}
}

func (c *checker) transition(at entry, t *countersign.Transition) {
	from, ok := c.ix.states[t.FromStateID]
	if !ok {
		c.unknownState(at.field("fromStateId"), t.FromStateID)
	} else if c.doc.States[from].IsFinal {
		c.fail(at.field("fromStateId"), FinalStateLeft, "state %s is final, so nothing leads out of it; remove the transition or isFinal", quoted(t.FromStateID))
	}
	if _, ok := c.ix.states[t.ToStateID]; !ok {
		c.unknownState(at.field("toStateId"), t.ToStateID)
	}
	if _, ok := c.ix.actions[t.ActionID]; !ok && t.ActionID != "" {
		c.fail(at.field("actionId"), UnknownAction, "the model has no action %s", quoted(t.ActionID))
	}
}

func (c *checker) unknownState(path, id string) {
	c.fail(path, UnknownState, "the model has no state %s", quoted(id))
}

// actions checks memory effects. An action's inputs are names of what it needs,
// not ids: a plan's bindings give them values (contract 5).
func (c *checker) actions() {
	for i := range c.doc.Actions {
		a, at := &c.doc.Actions[i], entry{"actions", i}
		c.unique(at, c.ix.actions[a.ID], a.ID)
		for j, effect := range a.MemoryEffects {
			c.effect(at, j, effect)
		}
	}
}

func (c *checker) effect(at entry, j int, e countersign.MemoryEffect) {
	code, message := c.ix.misfitOf(e.VariableID, countersign.VariableMemory, e.Value)
	if code == "" {
		return
	}
	field := "variableId"
	if code == ValueTypeMismatch || code == ValueNotInChoices {
		field = "value"
	}
	c.fail(fmt.Sprintf("%s.memoryEffects[%d].%s", at, j, field), code, "%s", message)
}

func (c *checker) scenarios() {
	for i := range c.doc.Scenarios {
		s, at := &c.doc.Scenarios[i], entry{"scenarios", i}
		c.unique(at, c.ix.scenarios[s.ID], s.ID)
		c.given(at, "inputs", c.ix.misfits(countersign.VariableInput, s.Inputs))
		c.given(at, "initialMemory", c.ix.misfits(countersign.VariableMemory, s.InitialMemory))
		if _, ok := c.ix.states[s.ExpectedStateID]; !ok {
			c.unknownState(at.field(fieldState), s.ExpectedStateID)
		}
		for j, id := range s.ExpectedPath {
			if _, ok := c.ix.states[id]; !ok {
				c.unknownState(fmt.Sprintf("%s.expectedPath[%d]", at, j), id)
			}
		}
	}
}

func (c *checker) given(at entry, field string, problems []countersign.Problem) {
	for _, p := range problems {
		c.fail(at.field(field)+"."+p.Path, p.Code, "%s", p.Message)
	}
}
