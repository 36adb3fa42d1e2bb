package models

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/server/console/form"
)

// The fields of one element of a model: how they are written, and how they are read back.

// kindOf is the type of a variable, "" if there is none.
func (m *modelDraft) kindOf(id string) string {
	for _, v := range m.doc.Variables {
		if v.ID == id {
			return v.Type
		}
	}
	return ""
}

// writeElement gives each field of the present element its value.
func (m *modelElement) writeElement(set func(what, value string)) {
	check := func(what string, on bool) {
		if on {
			set(what, "on")
		}
	}
	for what, text := range m.texts() {
		set(what, *text)
	}
	doc, i := &m.doc, m.at.i
	switch m.at.list {
	case listStates:
		one := doc.States[i]
		set("id", one.ID)
		check("isStart", one.IsStart)
		check("isFinal", one.IsFinal)
		set("position.x", one.Position.X.String())
		set("position.y", one.Position.Y.String())
	case listTransitions:
		t := doc.Transitions[i]
		set("id", t.ID)
		set("priority", strconv.FormatInt(t.Priority, 10))
		rows, either, _ := comparisonRows(t.Condition, m.kindOf)
		check("any", either)
		for _, row := range rows {
			at := "comparison" + strconv.Itoa(row.N)
			set(at+".variableId", row.Variable)
			set(at+".operator", row.Operator)
			set(at+".value", row.Value)
			check(at+".joined", row.Joined)
		}
	case listVariables:
		one := doc.Variables[i]
		set("id", one.ID)
		set("choices", strings.Join(one.Choices, "\n"))
		if !one.DefaultValue.IsNull() {
			set("defaultValue", shownScalar(one.Type, one.DefaultValue))
		}
	case listActions:
		a := doc.Actions[i]
		set("id", a.ID)
		set("inputs", strings.Join(a.Inputs, ", "))
		for j, e := range a.MemoryEffects {
			at := "memoryEffects[" + strconv.Itoa(j) + "]"
			set(at+".variableId", e.VariableID)
			set(at+".value", shownScalar(m.kindOf(e.VariableID), e.Value))
		}
	case listScenarios:
		c := doc.Scenarios[i]
		set("id", c.ID)
		set("expectedPath", strings.Join(c.ExpectedPath, ", "))
		for what, values := range map[string]map[string]countersign.Scalar{"inputs": c.Inputs, "initialMemory": c.InitialMemory} {
			for id, value := range values {
				set(what+"."+id, shownScalar(m.kindOf(id), value))
			}
		}
	}
}

// texts are the texts of the present element, by field, except for its ID: changing that
// changes what refers to it.
func (m *modelElement) texts() map[string]*string {
	doc, i := &m.doc, m.at.i
	switch m.at.list {
	case listStates:
		one := &doc.States[i]
		return map[string]*string{"name": &one.Name, "meaning": &one.Meaning}
	case listTransitions:
		t := &doc.Transitions[i]
		return map[string]*string{"name": &t.Name, "fromStateId": &t.FromStateID, "toStateId": &t.ToStateID, "actionId": &t.ActionID}
	case listVariables:
		one := &doc.Variables[i]
		return map[string]*string{"name": &one.Name, "kind": &one.Kind, "type": &one.Type, "source": &one.Source, "unit": &one.Unit, "description": &one.Description}
	case listActions:
		a := &doc.Actions[i]
		return map[string]*string{"name": &a.Name, "description": &a.Description, "simulatedResult": &a.SimulatedResult}
	case listScenarios:
		c := &doc.Scenarios[i]
		return map[string]*string{"name": &c.Name, "description": &c.Description, "expectedStateId": &c.ExpectedStateID, "expectedResult": &c.ExpectedResult}
	}
	out := map[string]*string{
		"name": &doc.Name, "description": &doc.Description,
		"agent.id": &doc.Agent.ID, "agent.name": &doc.Agent.Name, "agent.role": &doc.Agent.Role, "agent.user": &doc.Agent.User, "agent.goal": &doc.Agent.Goal, "agent.completionCriteria": &doc.Agent.CompletionCriteria,
		"scope.allowedActions": &doc.Scope.AllowedActions, "scope.limits": &doc.Scope.Limits, "scope.askUserWhen": &doc.Scope.AskUserWhen,
	}
	if m.id == "" { // a new model
		out["id"] = &doc.ID
	}
	return out
}

// idForm is what an ID must be.
const idForm = "it begins with a letter or digit and has at most 128 letters, digits, dots, hyphens and underscores"

// bad notes that a field can't be read.
func (m *modelElement) bad(what, text string) { m.wrong[m.at.field(what)] = text }

// typed is a field of the present element.
func (m *modelElement) typed(what string) string {
	return strings.ReplaceAll(m.v.Form(m.at.field(what)), "\r\n", "\n")
}

// same reports whether a field still says what the document has: without the spaces around it
// and the line breaks, which a form loses.
func (m *modelElement) same(what, was string) bool {
	text := m.typed(what)
	was = strings.ReplaceAll(was, "\r\n", "\n")
	return text == strings.TrimSpace(was) || text == strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(was))
}

// takeTexts takes the texts that were changed.
func (m *modelElement) takeTexts() {
	for what, text := range m.texts() {
		if m.sent(what) && !m.same(what, *text) {
			*text = m.typed(what)
		}
	}
}

func (m *modelElement) sent(what string) bool { return m.v.R.PostForm.Has(m.at.field(what)) }

// apply takes what was typed into the document. What can't be read leaves its field in the
// document as it is.
func (m *modelElement) apply() {
	if !m.posted() {
		return
	}
	doc, i := &m.doc, m.at.i
	switch m.at.list {
	case "":
		m.takeTexts()
		if doc.ID != "" && !countersign.ValidID(doc.ID) {
			m.bad("id", idForm)
		}
		if m.id == "" && doc.Agent.ID == "" {
			doc.Agent.ID = doc.ID
		}
	case listStates:
		m.applyState(&doc.States[i])
	case listTransitions:
		m.applyTransition(&doc.Transitions[i])
	case listVariables:
		m.applyVariable(&doc.Variables[i])
	case listActions:
		m.applyAction(&doc.Actions[i])
	case listScenarios:
		m.applyScenario(&doc.Scenarios[i])
	}
}

// renamed reads an element's ID; rename gives it to the element. One that another element of
// the list has would mix the two up.
func (m *modelElement) renamed(was string, taken map[string]bool, rename func(id string)) {
	id := m.typed("id")
	switch {
	case m.same("id", was):
	case !countersign.ValidID(id):
		m.bad("id", idForm)
	case taken[id]:
		m.bad("id", "there is one with this ID already")
	default:
		rename(id)
	}
}

func (m *modelElement) applyState(one *countersign.ModelState) {
	doc, i := &m.doc, m.at.i
	m.renamed(one.ID, idsOf(doc.States, func(o countersign.ModelState) string { return o.ID }), func(id string) { model.RenameState(doc, i, id) })
	m.takeTexts()
	one.IsFinal = m.typed("isFinal") != ""
	switch start := m.typed("isStart") != ""; {
	case start && !one.IsStart:
		model.StartAt(doc, i)
	case !start:
		one.IsStart = false
	}
	for what, number := range map[string]*json.Number{"position.x": &one.Position.X, "position.y": &one.Position.Y} {
		var n countersign.Value
		if err := exactjson.Decode([]byte(m.typed(what)), &n); err != nil || n.Kind() != countersign.KindNumber {
			m.bad(what, "write a number")
			continue
		}
		*number = json.Number(n.Raw())
	}
}

func (m *modelElement) applyTransition(t *countersign.Transition) {
	m.renamed(t.ID, idsOf(m.doc.Transitions, func(o countersign.Transition) string { return o.ID }), func(id string) { t.ID = id })
	m.takeTexts()
	if n, err := strconv.ParseInt(m.typed("priority"), 10, 64); err == nil && n >= 0 {
		t.Priority = n
	} else {
		m.bad("priority", "write a whole number, 0 or more")
	}
	rows, values, readable := m.typedComparisons()
	if _, _, flat := comparisonRows(t.Condition, m.kindOf); readable && (flat || len(rows) > 0) {
		t.Condition = conditionOf(rows, m.typed("any") != "", values, t.Condition.Predicate != nil)
	}
}

// typedComparisons are the rows of the form that name a variable or have a value.
func (m *modelElement) typedComparisons() (rows []compareRow, values []countersign.Scalar, readable bool) {
	readable = true
	for n := range mostRows + manyRows {
		at := "comparison" + strconv.Itoa(n)
		row := compareRow{N: n, Variable: m.typed(at + ".variableId"), Operator: m.typed(at + ".operator"), Value: m.typed(at + ".value"), Joined: m.typed(at+".joined") != ""}
		if row.Variable == "" && row.Value == "" {
			continue
		}
		var value countersign.Scalar
		if row.Operator != countersign.OpIsKnown && row.Operator != countersign.OpIsUnknown {
			var wrong string
			if value, wrong = typedScalar(m.kindOf(row.Variable), row.Value); wrong != "" {
				m.bad(at+".value", wrong)
				readable = false
			}
		}
		rows, values = append(rows, row), append(values, value)
	}
	return rows, values, readable
}

func (m *modelElement) applyVariable(one *countersign.Variable) {
	doc, i := &m.doc, m.at.i
	m.renamed(one.ID, idsOf(doc.Variables, func(o countersign.Variable) string { return o.ID }), func(id string) { model.RenameVariable(doc, i, id) })
	m.takeTexts()
	if m.sent("choices") && !m.same("choices", strings.Join(one.Choices, "\n")) {
		one.Choices = nil
		for line := range strings.Lines(m.typed("choices")) {
			if line = strings.TrimSpace(line); line != "" {
				one.Choices = append(one.Choices, line)
			}
		}
	}
	value, wrong := typedScalar(one.Type, m.typed("defaultValue"))
	if wrong != "" {
		m.bad("defaultValue", wrong)
		return
	}
	if one.DefaultValue = value; value.IsZero() {
		one.DefaultValue = unknownValue
	}
}

func (m *modelElement) applyAction(a *countersign.Action) {
	doc, i := &m.doc, m.at.i
	m.renamed(a.ID, idsOf(doc.Actions, func(o countersign.Action) string { return o.ID }), func(id string) { model.RenameAction(doc, i, id) })
	m.takeTexts()
	if m.sent("inputs") && !m.same("inputs", strings.Join(a.Inputs, ", ")) {
		a.Inputs = append([]string{}, form.Names(m.typed("inputs"))...)
	}
	effects, readable := []countersign.MemoryEffect{}, true
	for n := range mostRows + manyRows {
		at := "memoryEffects[" + strconv.Itoa(n) + "]"
		id, text := m.typed(at+".variableId"), m.typed(at+".value")
		if id == "" && text == "" {
			continue
		}
		value, wrong := typedScalar(m.kindOf(id), text)
		if wrong != "" {
			m.bad(at+".value", wrong)
			readable = false
		}
		if value.IsZero() {
			value = unknownValue
		}
		effects = append(effects, countersign.MemoryEffect{VariableID: id, Value: value})
	}
	if readable {
		a.MemoryEffects = effects
	}
}

func (m *modelElement) applyScenario(c *countersign.Scenario) {
	m.renamed(c.ID, idsOf(m.doc.Scenarios, func(o countersign.Scenario) string { return o.ID }), func(id string) { c.ID = id })
	m.takeTexts()
	if m.sent("expectedPath") && !m.same("expectedPath", strings.Join(c.ExpectedPath, ", ")) {
		c.ExpectedPath = append([]string{}, form.Names(m.typed("expectedPath"))...)
	}
	c.Inputs = m.typedValues("inputs", c.Inputs)
	c.InitialMemory = m.typedValues("initialMemory", c.InitialMemory)
}

// typedValues reads the values of a scenario that the form has fields for.
func (m *modelElement) typedValues(what string, was map[string]countersign.Scalar) map[string]countersign.Scalar {
	out := maps.Clone(was)
	if out == nil {
		out = map[string]countersign.Scalar{}
	}
	for _, id := range m.valueIDs(what, was) {
		value, wrong := typedScalar(m.kindOf(id), m.typed(what+"."+id))
		switch {
		case !m.sent(what + "." + id):
		case wrong != "":
			m.bad(what+"."+id, wrong)
		case value.IsZero():
			delete(out, id)
		default:
			out[id] = value
		}
	}
	return out
}

// valueIDs are the variables that a scenario may give a value, and those that it gives one.
func (m *modelElement) valueIDs(what string, given map[string]countersign.Scalar) []string {
	kind := countersign.VariableInput
	if what == "initialMemory" {
		kind = countersign.VariableMemory
	}
	var ids []string
	for _, v := range m.doc.Variables {
		if v.Kind == kind {
			ids = append(ids, v.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
