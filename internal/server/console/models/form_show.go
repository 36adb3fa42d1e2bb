package models

import (
	"cmp"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/text"
)

// The fields of the present element, as they are shown.

// fields shows the present element.
func (s *modelForm) fields(f *form.Form, d *modelFormData) {
	d.General = s.general(f)
	switch s.at.list {
	case "":
		s.showModel(f, d)
	case listStates:
		s.showState(f, d)
	case listTransitions:
		s.showTransition(f, d)
	case listVariables:
		s.showVariable(f, d)
	case listActions:
		s.showAction(f, d)
	case listScenarios:
		s.showScenario(f, d)
	}
	for _, one := range d.Folded {
		d.FoldOpen = d.FoldOpen || one.Wrong != ""
	}
}

func (s *modelForm) showModel(f *form.Form, d *modelFormData) {
	at := s.at.field
	d.Kind, d.Word = "Model", cmp.Or(s.doc.Name, "New model")
	if s.id == "" {
		d.Fields = append(d.Fields, form.Must(f.Mono(at("id"), "ID", "Letters, digits, dots, hyphens and underscores. It never changes.", "")))
	}
	d.Fields = append(d.Fields, form.Must(f.Line(at("name"), "Name", "", "")), f.Area(at("description"), "Description", "", "", 3))
	d.FoldWord = "Purpose and scope"
	d.Folded = []form.Field{
		f.Mono(at("agent.id"), "Agent’s ID", "Empty: the model’s.", ""), f.Line(at("agent.name"), "Agent’s name", "", ""), f.Line(at("agent.role"), "Role", "", ""), f.Line(at("agent.user"), "Whom it serves", "", ""),
		f.Line(at("agent.goal"), "Goal", "", ""), f.Line(at("agent.completionCriteria"), "Done when", "", ""),
		f.Area(at("scope.allowedActions"), "Allowed", "What the agent may do, in words.", "", 2), f.Area(at("scope.limits"), "Limits", "", "", 2), f.Area(at("scope.askUserWhen"), "Asks when", "", "", 2),
	}
}

const renamedHint = "References are updated when you change it."

func (s *modelForm) showState(f *form.Form, d *modelFormData) {
	at, one := s.at.field, s.doc.States[s.at.i]
	d.Kind, d.Word = "State", cmp.Or(one.Name, one.ID)
	d.Fields = []form.Field{
		form.Must(f.Line(at("name"), "Name", "", "")), form.Must(f.Mono(at("id"), "ID", renamedHint, "")), f.Line(at("meaning"), "Meaning", "What is true in this state.", ""),
		f.Check(at("isStart"), "Runs begin here", "Checking it clears it on the state that had it.", false), f.Check(at("isFinal"), "Runs end here", "", false),
	}
	d.FoldWord = "Where it is drawn"
	d.Folded = []form.Field{form.Must(f.Mono(at("position.x"), "From the left", "", "")), form.Must(f.Mono(at("position.y"), "From the top", "", ""))}
	for i := range s.doc.Transitions {
		t := &s.doc.Transitions[i]
		if t.FromStateID == one.ID {
			d.Leaving = append(d.Leaving, pick{At: place{listTransitions, i}.String(), Word: "To " + stateNames(s.doc).of(t.ToStateID) + ": " + labelWords(*t)})
		}
		if t.FromStateID == one.ID || t.ToStateID == one.ID {
			d.Goes++
		}
	}
	d.Targets = append([]form.Choice{{Word: "a new state"}}, s.states("")[1:]...)
}

// states are the states to choose from, after an empty choice. One that there isn't stays
// chosen, so that its error can be seen.
func (m *modelDraft) states(chosen string) []form.Choice {
	out, known := []form.Choice{{Word: "choose"}}, chosen == ""
	for _, one := range m.doc.States {
		out = append(out, form.Choice{Value: one.ID, Word: cmp.Or(one.Name, one.ID)})
		known = known || one.ID == chosen
	}
	if !known {
		out = append(out, form.Choice{Value: chosen, Word: chosen})
	}
	return out
}

func (m *modelDraft) variables(kind, chosen string) []form.Choice {
	out, known := []form.Choice{{Word: "choose"}}, chosen == ""
	for _, one := range m.doc.Variables {
		if kind == "" || one.Kind == kind {
			out = append(out, form.Choice{Value: one.ID, Word: one.ID + " (" + one.Type + ")"})
			known = known || one.ID == chosen
		}
	}
	if !known {
		out = append(out, form.Choice{Value: chosen, Word: chosen})
	}
	return out
}

func (s *modelForm) showTransition(f *form.Form, d *modelFormData) {
	at, t := s.at.field, &s.doc.Transitions[s.at.i]
	d.Kind, d.Word = "Transition", s.arrow(t)
	actions := []form.Choice{{Word: "none"}}
	known := t.ActionID == ""
	for _, a := range s.doc.Actions {
		actions = append(actions, form.Choice{Value: a.ID, Word: cmp.Or(a.Name, a.ID)})
		known = known || a.ID == t.ActionID
	}
	if !known {
		actions = append(actions, form.Choice{Value: t.ActionID, Word: t.ActionID})
	}
	d.Fields = []form.Field{
		form.Must(f.Choose("select", at("fromStateId"), "From", "", "", s.states(t.FromStateID)...)), form.Must(f.Choose("select", at("toStateId"), "To", "", "", s.states(t.ToStateID)...)),
		f.Choose("select", at("actionId"), "Action", "What is done when it is taken.", "", actions...),
	}
	d.FoldWord = "Name, ID and priority"
	d.Folded = []form.Field{
		f.Line(at("name"), "Name", "Stands on the diagram where the condition is too long.", ""), form.Must(f.Mono(at("id"), "ID", "", "")),
		form.Must(f.Mono(at("priority"), "Priority", "Of a state’s transitions the lowest is tried first.", "")),
	}
	d.Condition = s.condition(f, t)
}

// condition shows the rows as they were typed; those that the document has as well have its
// errors.
func (s *modelForm) condition(f *form.Form, t *countersign.Transition) *conditionForm {
	stored, _, flat := comparisonRows(t.Condition, s.kindOf)
	c := &conditionForm{At: s.at.String(), Any: s.typed("any") != "", Operators: rules.RuleRow{}.Operators(), Variables: s.variables("", "")}
	if !flat {
		c.Kept = text.ConditionWords(t.Condition)
	}
	empty, filled := 0, 0
	for n := 0; n < mostRows+manyRows && empty < max(fewRows, s.rows); n++ {
		at := "comparison" + strconv.Itoa(n)
		row := compareRow{N: n, Variable: s.typed(at + ".variableId"), Operator: s.typed(at + ".operator"), Value: s.typed(at + ".value"), Joined: s.typed(at+".joined") != ""}
		paths := []string{s.at.field(at)}
		if row.Variable == "" && row.Value == "" && !s.laterComparison(n) {
			empty++
		} else if row.Variable != "" || row.Value != "" {
			if filled < len(stored) {
				paths = append(paths, s.at.field("condition"+stored[filled].Path))
			}
			filled++
		}
		row.Wrong = s.row(f, paths...)
		c.Rows = append(c.Rows, row)
		if row.Variable != "" && s.kindOf(row.Variable) == "" {
			c.Variables = append(c.Variables, form.Choice{Value: row.Variable, Word: row.Variable})
		}
	}
	return c
}

// laterComparison reports whether a row behind this one says something.
func (s *modelForm) laterComparison(n int) bool {
	for m := n + 1; m < mostRows+manyRows; m++ {
		if s.typed("comparison"+strconv.Itoa(m)+".variableId") != "" || s.typed("comparison"+strconv.Itoa(m)+".value") != "" {
			return true
		}
	}
	return false
}

func (s *modelForm) showVariable(f *form.Form, d *modelFormData) {
	at, one := s.at.field, s.doc.Variables[s.at.i]
	d.Kind, d.Word = "Variable", cmp.Or(one.Name, one.ID)
	value := s.value(f, at("defaultValue"), "Initial value", "Empty: unknown.", one, "unknown")
	d.Fields = []form.Field{
		form.Must(f.Line(at("name"), "Name", "", "")), form.Must(f.Mono(at("id"), "ID", renamedHint, "")),
		form.Must(f.Choose("radio", at("kind"), "Kind", "", "", form.Choice{Value: countersign.VariableInput, Word: "Input", Note: "Given when a plan is made."}, form.Choice{Value: countersign.VariableMemory, Word: "Memory", Note: "Set by actions."})),
		form.Must(f.Choose("select", at("type"), "Type", "", "", form.Choice{Value: countersign.TypeText, Word: "text"}, form.Choice{Value: countersign.TypeNumber, Word: "number"}, form.Choice{Value: countersign.TypeBoolean, Word: "true or false"}, form.Choice{Value: countersign.TypeChoice, Word: "one of several texts"})),
	}
	if choices := f.Area(at("choices"), "Choices", "One a line. For the type “one of several texts”.", "", 4); one.Type == countersign.TypeChoice || len(one.Choices) > 0 {
		d.Fields = append(d.Fields, choices)
	}
	d.Fields = append(d.Fields, value)
	d.FoldWord = "Where it comes from"
	d.Folded = []form.Field{f.Line(at("source"), "Source", "Who or what knows it.", ""), f.Line(at("unit"), "Unit", "", ""), f.Line(at("description"), "Description", "", "")}
}

// value is the field of a value of a variable.
func (s *modelForm) value(f *form.Form, name, label, hint string, one countersign.Variable, absent string) form.Field {
	choices := []form.Choice{{Word: absent}}
	switch one.Type {
	case countersign.TypeBoolean:
		choices = append(choices, form.Choice{Value: "true", Word: "true"}, form.Choice{Value: "false", Word: "false"})
	case countersign.TypeChoice:
		for _, text := range one.Choices {
			choices = append(choices, form.Choice{Value: shownScalar(one.Type, countersign.Scalar{Value: countersign.String(text)}), Word: text})
		}
	case countersign.TypeNumber:
		return f.Mono(name, label, hint+" A number, such as 12.50.", "")
	default:
		return f.Line(name, label, hint, "")
	}
	if absent != "unknown" {
		choices = append(choices, form.Choice{Value: "null", Word: "unknown"})
	}
	b := f.Choose("select", name, label, "", "", choices...)
	for _, c := range b.Choices {
		if c.Chosen {
			return b
		}
	}
	b.Choices = append(b.Choices, form.Choice{Value: b.Value, Word: b.Value, Chosen: true})
	return b
}

func (s *modelForm) showAction(f *form.Form, d *modelFormData) {
	at, a := s.at.field, s.doc.Actions[s.at.i]
	d.Kind, d.Word = "Action", cmp.Or(a.Name, a.ID)
	d.Fields = []form.Field{
		form.Must(f.Line(at("name"), "Name", "", "")), form.Must(f.Mono(at("id"), "ID", renamedHint+" Plans name their step after it.", "")),
		f.Line(at("description"), "Description", "", ""), f.Mono(at("inputs"), "Needs", "Names of what it needs, separated by commas.", ""),
		f.Line(at("simulatedResult"), "Result in a simulation", "", ""),
	}
	d.Memory = s.variables(countersign.VariableMemory, "")
	empty := 0
	for n := 0; n < mostRows+manyRows && empty < max(fewRows, s.rows); n++ {
		row := effectRow{N: n, At: s.at.String()}
		name := "memoryEffects[" + strconv.Itoa(n) + "]"
		row.Variable, row.Value = s.typed(name+".variableId"), s.typed(name+".value")
		if row.Variable == "" && row.Value == "" && n >= len(a.MemoryEffects) {
			empty++
		}
		row.Wrong = s.row(f, s.at.field(name))
		d.Effects = append(d.Effects, row)
		if row.Variable != "" && !hasChoice(d.Memory, row.Variable) {
			d.Memory = append(d.Memory, form.Choice{Value: row.Variable, Word: row.Variable})
		}
	}
}

func hasChoice(list []form.Choice, value string) bool {
	for _, c := range list {
		if c.Value == value {
			return true
		}
	}
	return false
}

func (s *modelForm) showScenario(f *form.Form, d *modelFormData) {
	at, c := s.at.field, s.doc.Scenarios[s.at.i]
	d.Kind, d.Word = "Scenario", cmp.Or(c.Name, c.ID)
	d.Fields = []form.Field{form.Must(f.Line(at("name"), "Name", "", "")), form.Must(f.Mono(at("id"), "ID", "", "")), f.Line(at("description"), "Description", "", "")}
	for _, what := range []string{"inputs", "initialMemory"} {
		given, word := c.Inputs, "Input"
		if what == "initialMemory" {
			given, word = c.InitialMemory, "Memory"
		}
		for _, id := range s.valueIDs(what, given) {
			one := countersign.Variable{ID: id}
			for _, v := range s.doc.Variables {
				if v.ID == id {
					one = v
				}
			}
			stands := shownScalar(one.Type, one.DefaultValue)
			if one.DefaultValue.IsZero() || one.DefaultValue.IsNull() {
				stands = "unknown"
			}
			d.Given = append(d.Given, s.value(f, at(what+"."+id), word+" "+cmp.Or(one.Name, id), "Empty: "+stands+".", one, "unchanged: "+stands))
		}
	}
	d.Unfilled = true
	d.FoldWord, d.FoldOpen = "Expected outcome", true
	d.Folded = []form.Field{
		form.Must(f.Choose("select", at("expectedStateId"), "Ends in", "", "", s.states(c.ExpectedStateID)...)),
		f.Mono(at("expectedPath"), "Path", "IDs of states, separated by commas.", ""), f.Line(at("expectedResult"), "Result", "Of the last action.", ""),
	}
}
