package console

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// A capability's inputs as a form: a field for each declared input, or one JSON
// document if any input is accepted. Numbers are parsed as exact JSON, so that their
// digits are kept.

// oneCall is where the inputs of a form of one call stand.
const oneCall = "input"

// inputs are the fields of a capability's inputs, without those that the manifest
// fixes.
func (s *form) inputs(c *countersign.Capability, fixed map[string]countersign.Value) []field {
	return s.inputsAt(oneCall, c, fixed, nil)
}

// inputsAt are the fields of a capability's inputs that stand at a path in the form, with
// the stored values, nil for none.
func (s *form) inputsAt(at string, c *countersign.Capability, fixed, stored map[string]countersign.Value) []field {
	if c.InputSchema == nil {
		text := "{}"
		if stored != nil {
			text = pretty(countersign.ObjectValue(stored))
		}
		return []field{s.document(at, "Inputs", "A JSON object.", text, 6)}
	}
	var out []field
	for _, in := range inputsOf(*c) {
		if _, set := fixed[in.Name]; set {
			continue
		}
		b := s.input(at+"."+in.Name, in, stored[in.Name])
		b.Required = in.Required
		out = append(out, b)
	}
	return out
}

func (s *form) input(name string, in shownInput, stored countersign.Value) field {
	hint := in.Type
	if bounds := boundsInWords(in.Field); bounds != "" {
		hint += ", " + bounds
	}
	if in.Field.Description != "" {
		hint = safetext.Text(in.Field.Description) + " (" + hint + ")"
	}
	if in.Sensitive {
		hint += ", masked for viewers and in logs"
	}
	value := ""
	if !stored.IsZero() {
		value = stored.Raw()
	}
	if choices := enumChoices(in.Field); choices != nil {
		return s.chooseOf(name, in.Name, hint, typedText(in.Type, stored), choices)
	}
	if len(in.Field.OrTypes) > 0 {
		return s.document(name, in.Name, hint+", as JSON; in quotes it is text", value, 2)
	}
	switch in.Type {
	case "boolean":
		return s.choose("select", name, in.Name, hint, value, choice{Word: "choose"}, choice{Value: "true", Word: "true"}, choice{Value: "false", Word: "false"})
	case "object", "array":
		return s.document(name, in.Name, hint+", as JSON", value, 4)
	case "number":
		return s.mono(name, in.Name, hint+"; its digits are sent as they are typed", value)
	}
	if value != "" {
		value = stored.Text()
	}
	b := s.line(name, in.Name, hint, value)
	if strings.ContainsAny(b.Value, "\r\n") { // a line would lose them
		b.Kind, b.Rows = "area", 4
	}
	return b
}

// mostChosen is how many values an input may have to be chosen from a list.
const mostChosen = 100

// enumChoices are the values that an input may have, nil where it is typed: an empty text
// couldn't be told from no choice.
func enumChoices(f countersign.InputField) (out []choice) {
	for _, v := range f.Enum {
		text := typedText(typesOf(f), v)
		if text == "" || len(f.Enum) > mostChosen {
			return nil
		}
		out = append(out, choice{Value: text, Word: text})
	}
	return out
}

// chooseOf is a select that keeps a value that isn't one of the choices.
func (s *form) chooseOf(name, label, hint, stored string, choices []choice) field {
	b := s.choose("select", name, label, hint, stored, append([]choice{{Word: "choose"}}, choices...)...)
	if !slices.ContainsFunc(b.Choices, func(c choice) bool { return c.Chosen }) {
		b.Choices = append(b.Choices, choice{Value: b.Value, Word: b.Value, Chosen: true})
	}
	return b
}

// boundsInWords says what an input's value may be, "" if its type is all.
func boundsInWords(f countersign.InputField) string {
	var texts []string
	if len(f.Enum) > 0 {
		options := make([]string, len(f.Enum))
		for i, v := range f.Enum {
			options[i] = inline(v)
		}
		texts = append(texts, "one of "+strings.Join(options, ", "))
	}
	if !f.Minimum.IsZero() {
		texts = append(texts, "at least "+f.Minimum.Raw())
	}
	if !f.Maximum.IsZero() {
		texts = append(texts, "at most "+f.Maximum.Raw())
	}
	if f.MaxLength != 0 {
		texts = append(texts, "at most "+strconv.FormatInt(f.MaxLength, 10)+" characters")
	}
	if f.Pattern != "" {
		texts = append(texts, "matching "+f.Pattern)
	}
	if f.PathText {
		texts = append(texts, "any text in the path")
	}
	return strings.Join(texts, ", ")
}

// typedInputs parses the inputs and reports every invalid one.
func (v *pageRequest) typedInputs(c *countersign.Capability, fixed map[string]countersign.Value) (map[string]countersign.Value, error) {
	return v.typedInputsAt(oneCall, c, fixed)
}

func (v *pageRequest) typedInputsAt(at string, c *countersign.Capability, fixed map[string]countersign.Value) (map[string]countersign.Value, error) {
	if c.InputSchema == nil {
		return objectOf(at, v.form(at))
	}
	out := map[string]countersign.Value{}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(c.InputSchema)) {
		field := c.InputSchema[name]
		text := strings.ReplaceAll(v.r.PostForm.Get(at+"."+name), "\r\n", "\n") // as a browser sends an area
		if _, set := fixed[name]; set || text == "" && !field.Required {
			continue
		}
		value, problem := typedValue(typesOf(field), text)
		if problem != "" {
			wrong = append(wrong, at+"."+name+": "+problem)
		}
		out[name] = value
	}
	if len(wrong) > 0 {
		return nil, countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(wrong, "; "))
	}
	return out, nil
}

// kinds are the JSON kinds of the input types.
var kinds = map[string]countersign.Kind{
	"number": countersign.KindNumber, "boolean": countersign.KindBoolean, "object": countersign.KindObject, "array": countersign.KindArray,
}

func typedValue(kind, text string) (value countersign.Value, problem string) {
	switch {
	case text == "":
		return value, "it is needed"
	case kind == "string":
		return countersign.String(text), ""
	case strings.Contains(kind, or):
		return ofSeveral(kind, text)
	}
	if err := exactjson.Decode([]byte(text), &value); err != nil || value.Kind() != kinds[kind] {
		return value, "write " + map[string]string{"number": "a number, such as 249.00", "boolean": "true or false", "object": "a JSON object", "array": "a JSON array"}[kind]
	}
	return value, ""
}

// objectOf parses a JSON object; no text is no object.
func objectOf(field, text string) (map[string]countersign.Value, error) {
	if text == "" {
		return nil, nil
	}
	var value countersign.Value
	if err := exactjson.Decode([]byte(text), &value); err != nil {
		return nil, invalid(field, "%s", problemMessage(err))
	}
	object, ok := value.Object()
	if !ok {
		return nil, invalid(field, "write a JSON object, such as {}")
	}
	return object, nil
}
