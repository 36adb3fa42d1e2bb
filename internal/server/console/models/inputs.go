package models

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Inputs in the address override the scenario's: in_<variable>, each an exact JSON
// value.

const inputPrefix = "in_"

// modelInput is the field of an input variable.
type modelInput struct {
	Variable countersign.Variable
	Name     string // of the field
	Text     string
	Stands   string // the value that applies without it
	Err      string
	Marked   bool // the page's problem is about this field
}

// givenInput is a typed input and its parsed value.
type givenInput struct {
	id, text string
	value    countersign.Scalar
	err      string
}

type givenInputs []givenInput

var notJSON = &web.Problem{Sentence: "An input is no JSON value.", Detail: "Nothing was simulated; the message stands beside the field.", Code: countersign.CodeInvalidRequest}

// overridesOf are the parameters that every link of the player keeps.
func overridesOf(v *web.Request) url.Values { return overridesIn(v.R.URL.Query()) }

func overridesIn(all url.Values) url.Values {
	q := url.Values{}
	for name, texts := range all {
		if strings.HasPrefix(name, inputPrefix) && len(texts) > 0 && strings.TrimSpace(texts[0]) != "" {
			q.Set(name, strings.TrimSpace(texts[0]))
		}
	}
	return q
}

// givenOf parses the inputs in the address; ok is false if one is no JSON value.
func givenOf(v *web.Request, doc countersign.AgentModel) (givenInputs, bool) {
	return givenIn(overridesOf(v), doc)
}

func givenIn(q url.Values, doc countersign.AgentModel) (out givenInputs, ok bool) {
	ok = true
	for _, name := range slices.Sorted(maps.Keys(q)) {
		in := givenInput{id: strings.TrimPrefix(name, inputPrefix), text: q.Get(name)}
		if err := exactjson.Decode([]byte(in.text), &in.value); err != nil {
			ok = false
			in.err = "Write a JSON value: " + example(doc, in.id) + " or null for unknown."
		}
		out = append(out, in)
	}
	return out, ok
}

// example shows how to write a variable's value.
func example(doc countersign.AgentModel, id string) string {
	for _, variable := range doc.Variables {
		if variable.ID != id {
			continue
		}
		switch variable.Type {
		case countersign.TypeNumber:
			return "12.50"
		case countersign.TypeBoolean:
			return "true, false"
		case countersign.TypeChoice:
			if len(variable.Choices) > 0 {
				return text.Inline(countersign.String(variable.Choices[0]))
			}
		}
	}
	return `"text" in double quotes`
}

func (g givenInputs) values() map[string]countersign.Scalar {
	if len(g) == 0 {
		return nil
	}
	out := map[string]countersign.Scalar{}
	for _, in := range g {
		if in.err == "" {
			out[in.id] = in.value
		}
	}
	return out
}

// inputFields are the model's input variables, followed by inputs for unknown variables
// so that they can be removed.
func inputFields(doc countersign.AgentModel, s *countersign.Scenario, given givenInputs) []modelInput {
	var fields []modelInput
	for _, variable := range doc.Variables {
		if variable.Kind != countersign.VariableInput {
			continue
		}
		f := modelInput{Variable: variable, Name: inputPrefix + variable.ID, Stands: text.Inline(variable.DefaultValue)}
		if s != nil {
			if value, ok := s.Inputs[variable.ID]; ok {
				f.Stands = text.Inline(value)
			}
		}
		f.Text, f.Err, given = given.take(variable.ID)
		fields = append(fields, f)
	}
	for _, in := range given {
		fields = append(fields, modelInput{Variable: countersign.Variable{ID: in.id, Name: in.id}, Name: inputPrefix + in.id, Text: in.text, Err: in.err, Stands: "nothing"})
	}
	return fields
}

func (g givenInputs) take(id string) (text, err string, rest givenInputs) {
	for _, in := range g {
		if in.id == id {
			text, err = in.text, in.err
		} else {
			rest = append(rest, in)
		}
	}
	return text, err, rest
}

// markInputs marks the fields that a refused simulation is about, to link the message
// to them.
func markInputs(fields []modelInput, p *web.Problem) {
	for i := range fields {
		fields[i].Marked = fields[i].Text != "" && strings.Contains(p.Detail, "inputs."+fields[i].Variable.ID+":")
	}
}
