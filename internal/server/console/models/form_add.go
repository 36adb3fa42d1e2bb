package models

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
)

// What is added to a model by form, and where it is drawn.

// add appends an element to a list and goes there.
func (m *modelDraft) add(list string) {
	doc := &m.doc
	switch list {
	case listStates:
		m.addState(0, 0)
	case listTransitions:
		if len(doc.States) == 0 {
			return
		}
		m.addTransition(doc.States[0].ID, doc.States[len(doc.States)-1].ID)
	case listVariables:
		id := steps.Unused("variable", idsOf(doc.Variables, func(v countersign.Variable) string { return v.ID }))
		doc.Variables = append(doc.Variables, countersign.Variable{ID: id, Name: id, Kind: countersign.VariableInput, Type: countersign.TypeText, DefaultValue: unknownValue})
	case listActions:
		m.newAction("action")
	case listScenarios:
		id := steps.Unused("scenario", idsOf(doc.Scenarios, func(c countersign.Scenario) string { return c.ID }))
		doc.Scenarios = append(doc.Scenarios, countersign.Scenario{ID: id, Name: id, Inputs: map[string]countersign.Scalar{}, InitialMemory: map[string]countersign.Scalar{}, ExpectedPath: []string{}})
	default:
		return
	}
	m.at = place{list, sizeOf(doc, list) - 1}
}

var unknownValue = countersign.Scalar{Value: countersign.Null}

func idsOf[T any](list []T, id func(T) string) map[string]bool {
	out := map[string]bool{}
	for _, one := range list {
		out[id(one)] = true
	}
	return out
}

// addState appends a state beside a place of the drawing. The first is the start.
func (m *modelDraft) addState(x, y float64) {
	doc := &m.doc
	first := len(doc.States) == 0
	word := "state"
	if first {
		word = "start"
	}
	id := steps.Unused(word, idsOf(doc.States, func(one countersign.ModelState) string { return one.ID }))
	doc.States = append(doc.States, countersign.ModelState{ID: id, Name: text.Upper(id), Position: freePosition(doc.States, x, y)})
	if first {
		model.StartAt(doc, 0)
	}
}

// Room that a drawn state takes.
const (
	roomX = 240
	roomY = 120
)

// freePosition is at a place of the drawing, or below it where nothing stands.
func freePosition(states []countersign.ModelState, x, y float64) countersign.Position {
	for range len(states) {
		for _, one := range states {
			px, errX := one.Position.X.Float64()
			py, errY := one.Position.Y.Float64()
			if errX == nil && errY == nil && math.Abs(px-x) < roomX && math.Abs(py-y) < roomY {
				y = py + roomY
			}
		}
	}
	number := func(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }
	return countersign.Position{X: number(x), Y: number(y)}
}

// addTransition appends a transition that is tried after the others of its state.
func (m *modelDraft) addTransition(from, to string) {
	doc := &m.doc
	id := steps.Unused(steps.StepIDOf(from+"-to-"+to), idsOf(doc.Transitions, func(t countersign.Transition) string { return t.ID }))
	priority := int64(0)
	for _, t := range doc.Transitions {
		if t.FromStateID == from {
			priority = max(priority, t.Priority+1)
		}
	}
	doc.Transitions = append(doc.Transitions, countersign.Transition{
		ID: id, FromStateID: from, ToStateID: to, Priority: priority, Condition: joined(countersign.CombinatorAnd, nil),
	})
	m.at = place{listTransitions, len(doc.Transitions) - 1}
}

// leave adds a transition from the present state, to the chosen one or, without one, to a new one.
func (m *modelDraft) leave(to string) {
	if m.at.list != listStates {
		return
	}
	from := m.doc.States[m.at.i]
	if to == "" {
		x, _ := from.Position.X.Float64()
		y, _ := from.Position.Y.Float64()
		m.addState(x+roomX, y)
		to = m.doc.States[len(m.doc.States)-1].ID
	}
	m.addTransition(from.ID, to)
}

// addAction makes a new action that the present transition takes, and goes there.
func (m *modelDraft) addAction() {
	if m.at.list != listTransitions {
		return
	}
	t := &m.doc.Transitions[m.at.i]
	t.ActionID = m.newAction(steps.StepIDOf(t.ToStateID))
	m.at = place{listActions, len(m.doc.Actions) - 1}
}

func (m *modelDraft) newAction(word string) string {
	id := steps.Unused(word, idsOf(m.doc.Actions, func(a countersign.Action) string { return a.ID }))
	m.doc.Actions = append(m.doc.Actions, countersign.Action{ID: id, Name: text.Upper(id), Inputs: []string{}, MemoryEffects: []countersign.MemoryEffect{}})
	return id
}
