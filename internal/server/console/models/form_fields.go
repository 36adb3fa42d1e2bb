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
func (s *modelDraft) kindOf(id string) string {
	for _, v := range s.doc.Variables {
		if v.ID == id {
			return v.Type
		}
	}
	return ""
}

// writeElement gives each field of the present element its value.
func (s *modelElement) writeElement(set func(what, value string)) {
	check := func(what string, on bool) {
		if on {
			set(what, "on")
		}
	}
	for what, text := range s.texts() {
		set(what, *text)
	}
	doc, i := &s.doc, s.at.i
	switch s.at.list {
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
		rows, either, _ := comparisonRows(t.Condition, s.kindOf)
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
			set(at+".value", shownScalar(s.kindOf(e.VariableID), e.Value))
		}
	case listScenarios:
		c := doc.Scenarios[i]
		set("id", c.ID)
		set("expectedPath", strings.Join(c.ExpectedPath, ", "))
		for what, values := range map[string]map[string]countersign.Scalar{"inputs": c.Inputs, "initialMemory": c.InitialMemory} {
			for id, value := range values {
				set(what+"."+id, shownScalar(s.kindOf(id), value))
			}
		}
	}
}

// texts are the texts of the present element, by field, except for its ID: changing that
// changes what refers to it.
func (s *modelElement) texts() map[string]*string {
	doc, i := &s.doc, s.at.i
	switch s.at.list {
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
	if s.id == "" { // a new model
		out["id"] = &doc.ID
	}
	return out
}

// idForm is what an ID must be.
const idForm = "it begins with a letter or digit and has at most 128 letters, digits, dots, hyphens and underscores"

// bad notes that a field can't be read.
func (s *modelElement) bad(what, text string) { s.wrong[s.at.field(what)] = text }

// typed is a field of the present element.
func (s *modelElement) typed(what string) string {
	return strings.ReplaceAll(s.v.Form(s.at.field(what)), "\r\n", "\n")
}

// same reports whether a field still says what the document has: without the spaces around it
// and the line breaks, which a form loses.
func (s *modelElement) same(what, was string) bool {
	text := s.typed(what)
	was = strings.ReplaceAll(was, "\r\n", "\n")
	return text == strings.TrimSpace(was) || text == strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(was))
}

// takeTexts takes the texts that were changed.
func (s *modelElement) takeTexts() {
	for what, text := range s.texts() {
		if s.sent(what) && !s.same(what, *text) {
			*text = s.typed(what)
		}
	}
}

func (s *modelElement) sent(what string) bool { return s.v.R.PostForm.Has(s.at.field(what)) }

// apply takes what was typed into the document. What can't be read leaves its field in the
// document as it is.
func (s *modelElement) apply() {
	if !s.posted() {
		return
	}
	doc, i := &s.doc, s.at.i
	switch s.at.list {
	case "":
		s.takeTexts()
		if doc.ID != "" && !countersign.ValidID(doc.ID) {
			s.bad("id", idForm)
		}
		if s.id == "" && doc.Agent.ID == "" {
			doc.Agent.ID = doc.ID
		}
	case listStates:
		s.applyState(&doc.States[i])
	case listTransitions:
		s.applyTransition(&doc.Transitions[i])
	case listVariables:
		s.applyVariable(&doc.Variables[i])
	case listActions:
		s.applyAction(&doc.Actions[i])
	case listScenarios:
		s.applyScenario(&doc.Scenarios[i])
	}
}

// renamed reads an element's ID; rename gives it to the element. One that another element of
// the list has would mix the two up.
func (s *modelElement) renamed(was string, taken map[string]bool, rename func(id string)) {
	id := s.typed("id")
	switch {
	case s.same("id", was):
	case !countersign.ValidID(id):
		s.bad("id", idForm)
	case taken[id]:
		s.bad("id", "there is one with this ID already")
	default:
		rename(id)
	}
}

func (s *modelElement) applyState(one *countersign.ModelState) {
	doc, i := &s.doc, s.at.i
	s.renamed(one.ID, idsOf(doc.States, func(o countersign.ModelState) string { return o.ID }), func(id string) { model.RenameState(doc, i, id) })
	s.takeTexts()
	one.IsFinal = s.typed("isFinal") != ""
	switch start := s.typed("isStart") != ""; {
	case start && !one.IsStart:
		model.StartAt(doc, i)
	case !start:
		one.IsStart = false
	}
	for what, number := range map[string]*json.Number{"position.x": &one.Position.X, "position.y": &one.Position.Y} {
		var n countersign.Value
		if err := exactjson.Decode([]byte(s.typed(what)), &n); err != nil || n.Kind() != countersign.KindNumber {
			s.bad(what, "write a number")
			continue
		}
		*number = json.Number(n.Raw())
	}
}

func (s *modelElement) applyTransition(t *countersign.Transition) {
	s.renamed(t.ID, idsOf(s.doc.Transitions, func(o countersign.Transition) string { return o.ID }), func(id string) { t.ID = id })
	s.takeTexts()
	if n, err := strconv.ParseInt(s.typed("priority"), 10, 64); err == nil && n >= 0 {
		t.Priority = n
	} else {
		s.bad("priority", "write a whole number, 0 or more")
	}
	rows, values, readable := s.typedComparisons()
	if _, _, flat := comparisonRows(t.Condition, s.kindOf); readable && (flat || len(rows) > 0) {
		t.Condition = conditionOf(rows, s.typed("any") != "", values, t.Condition.Predicate != nil)
	}
}

// typedComparisons are the rows of the form that name a variable or have a value.
func (s *modelElement) typedComparisons() (rows []compareRow, values []countersign.Scalar, readable bool) {
	readable = true
	for n := range mostRows + manyRows {
		at := "comparison" + strconv.Itoa(n)
		row := compareRow{N: n, Variable: s.typed(at + ".variableId"), Operator: s.typed(at + ".operator"), Value: s.typed(at + ".value"), Joined: s.typed(at+".joined") != ""}
		if row.Variable == "" && row.Value == "" {
			continue
		}
		var value countersign.Scalar
		if row.Operator != countersign.OpIsKnown && row.Operator != countersign.OpIsUnknown {
			var wrong string
			if value, wrong = typedScalar(s.kindOf(row.Variable), row.Value); wrong != "" {
				s.bad(at+".value", wrong)
				readable = false
			}
		}
		rows, values = append(rows, row), append(values, value)
	}
	return rows, values, readable
}

func (s *modelElement) applyVariable(one *countersign.Variable) {
	doc, i := &s.doc, s.at.i
	s.renamed(one.ID, idsOf(doc.Variables, func(o countersign.Variable) string { return o.ID }), func(id string) { model.RenameVariable(doc, i, id) })
	s.takeTexts()
	if s.sent("choices") && !s.same("choices", strings.Join(one.Choices, "\n")) {
		one.Choices = nil
		for line := range strings.Lines(s.typed("choices")) {
			if line = strings.TrimSpace(line); line != "" {
				one.Choices = append(one.Choices, line)
			}
		}
	}
	value, wrong := typedScalar(one.Type, s.typed("defaultValue"))
	if wrong != "" {
		s.bad("defaultValue", wrong)
		return
	}
	if one.DefaultValue = value; value.IsZero() {
		one.DefaultValue = unknownValue
	}
}

func (s *modelElement) applyAction(a *countersign.Action) {
	doc, i := &s.doc, s.at.i
	s.renamed(a.ID, idsOf(doc.Actions, func(o countersign.Action) string { return o.ID }), func(id string) { model.RenameAction(doc, i, id) })
	s.takeTexts()
	if s.sent("inputs") && !s.same("inputs", strings.Join(a.Inputs, ", ")) {
		a.Inputs = append([]string{}, form.Names(s.typed("inputs"))...)
	}
	effects, readable := []countersign.MemoryEffect{}, true
	for n := range mostRows + manyRows {
		at := "memoryEffects[" + strconv.Itoa(n) + "]"
		id, text := s.typed(at+".variableId"), s.typed(at+".value")
		if id == "" && text == "" {
			continue
		}
		value, wrong := typedScalar(s.kindOf(id), text)
		if wrong != "" {
			s.bad(at+".value", wrong)
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

func (s *modelElement) applyScenario(c *countersign.Scenario) {
	s.renamed(c.ID, idsOf(s.doc.Scenarios, func(o countersign.Scenario) string { return o.ID }), func(id string) { c.ID = id })
	s.takeTexts()
	if s.sent("expectedPath") && !s.same("expectedPath", strings.Join(c.ExpectedPath, ", ")) {
		c.ExpectedPath = append([]string{}, form.Names(s.typed("expectedPath"))...)
	}
	c.Inputs = s.typedValues("inputs", c.Inputs)
	c.InitialMemory = s.typedValues("initialMemory", c.InitialMemory)
}

// typedValues reads the values of a scenario that the form has fields for.
func (s *modelElement) typedValues(what string, was map[string]countersign.Scalar) map[string]countersign.Scalar {
	out := maps.Clone(was)
	if out == nil {
		out = map[string]countersign.Scalar{}
	}
	for _, id := range s.valueIDs(what, was) {
		value, wrong := typedScalar(s.kindOf(id), s.typed(what+"."+id))
		switch {
		case !s.sent(what + "." + id):
		case wrong != "":
			s.bad(what+"."+id, wrong)
		case value.IsZero():
			delete(out, id)
		default:
			out[id] = value
		}
	}
	return out
}

// valueIDs are the variables that a scenario may give a value, and those that it gives one.
func (s *modelElement) valueIDs(what string, given map[string]countersign.Scalar) []string {
	kind := countersign.VariableInput
	if what == "initialMemory" {
		kind = countersign.VariableMemory
	}
	var ids []string
	for _, v := range s.doc.Variables {
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
