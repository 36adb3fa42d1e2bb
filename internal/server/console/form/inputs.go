package form

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// A capability's inputs as a form: a field for each declared input, or one JSON
// document if any input is accepted. Numbers are parsed as exact JSON, so that their
// digits are kept.

// oneCall is where the inputs of a form of one call stand.
const oneCall = "input"

// Inputs are the fields of a capability's inputs, without those that the manifest
// fixes.
func (f *Form) Inputs(c *countersign.Capability, fixed map[string]countersign.Value) []Field {
	return f.InputsAt(oneCall, c, fixed, nil)
}

// InputsAt are the fields of a capability's inputs that stand at a path in the form, with
// the stored values, nil for none.
func (f *Form) InputsAt(at string, c *countersign.Capability, fixed, stored map[string]countersign.Value) []Field {
	if c.InputSchema == nil {
		document := "{}"
		if stored != nil {
			document = text.Pretty(countersign.ObjectValue(stored))
		}
		return []Field{f.Document(at, "Inputs", "A JSON object.", document, 6)}
	}
	var out []Field
	for _, in := range InputsOf(*c) {
		if _, set := fixed[in.Name]; set {
			continue
		}
		b := f.Input(at+"."+in.Name, in, stored[in.Name])
		b.Required = in.Required
		out = append(out, b)
	}
	return out
}

// Input is the field of one input, with its stored value.
func (f *Form) Input(name string, in ShownInput, stored countersign.Value) Field {
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
		return f.chooseOf(name, in.Name, hint, TypedText(in.Type, stored), choices)
	}
	if len(in.Field.OrTypes) > 0 {
		return f.Document(name, in.Name, hint+", as JSON; in quotes it is text", value, 2)
	}
	switch in.Type {
	case "boolean":
		return f.Choose("select", name, in.Name, hint, value, Choice{Word: "choose"}, Choice{Value: "true", Word: "true"}, Choice{Value: "false", Word: "false"})
	case "object", "array":
		return f.Document(name, in.Name, hint+", as JSON", value, 4)
	case "number":
		return f.Mono(name, in.Name, hint+"; its digits are sent as they are typed", value)
	}
	if value != "" {
		value = stored.Text()
	}
	b := f.Line(name, in.Name, hint, value)
	if strings.ContainsAny(b.Value, "\r\n") { // a line would lose them
		b.Kind, b.Rows = "area", 4
	}
	return b
}

// mostChosen is how many values an input may have to be chosen from a list.
const mostChosen = 100

// enumChoices are the values that an input may have, nil where it is typed: an empty text
// couldn't be told from no choice.
func enumChoices(f countersign.InputField) (out []Choice) {
	for _, v := range f.Enum {
		text := TypedText(TypesOf(f), v)
		if text == "" || len(f.Enum) > mostChosen {
			return nil
		}
		out = append(out, Choice{Value: text, Word: text})
	}
	return out
}

// chooseOf is a select that keeps a value that isn't one of the choices.
func (f *Form) chooseOf(name, label, hint, stored string, choices []Choice) Field {
	b := f.Choose("select", name, label, hint, stored, append([]Choice{{Word: "choose"}}, choices...)...)
	if !slices.ContainsFunc(b.Choices, func(c Choice) bool { return c.Chosen }) {
		b.Choices = append(b.Choices, Choice{Value: b.Value, Word: b.Value, Chosen: true})
	}
	return b
}

// boundsInWords says what an input's value may be, "" if its type is all.
func boundsInWords(f countersign.InputField) string {
	var texts []string
	if len(f.Enum) > 0 {
		options := make([]string, len(f.Enum))
		for i, v := range f.Enum {
			options[i] = text.Inline(v)
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

// TypedInputs parses the inputs and reports every invalid one.
func TypedInputs(v *web.Request, c *countersign.Capability, fixed map[string]countersign.Value) (map[string]countersign.Value, error) {
	return TypedInputsAt(v, oneCall, c, fixed)
}

// TypedInputsAt parses the inputs that stand at a path in the form.
func TypedInputsAt(v *web.Request, at string, c *countersign.Capability, fixed map[string]countersign.Value) (map[string]countersign.Value, error) {
	if c.InputSchema == nil {
		return ObjectOf(at, v.Form(at))
	}
	out := map[string]countersign.Value{}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(c.InputSchema)) {
		field := c.InputSchema[name]
		text := strings.ReplaceAll(v.R.PostForm.Get(at+"."+name), "\r\n", "\n") // as a browser sends an area
		if _, set := fixed[name]; set || text == "" && !field.Required {
			continue
		}
		value, problem := typedValue(TypesOf(field), text)
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

// ObjectOf parses a JSON object; no text is no object.
func ObjectOf(field, text string) (map[string]countersign.Value, error) {
	if text == "" {
		return nil, nil
	}
	var value countersign.Value
	if err := exactjson.Decode([]byte(text), &value); err != nil {
		return nil, web.Invalid(field, "%s", web.ProblemMessage(err))
	}
	object, ok := value.Object()
	if !ok {
		return nil, web.Invalid(field, "write a JSON object, such as {}")
	}
	return object, nil
}

// ShownInput is a declared input as a page lists it.
type ShownInput struct {
	Name, Type          string
	Required, Sensitive bool
	Field               countersign.InputField
}

// Words say what the input may be.
func (s ShownInput) Words() string {
	words := s.Type
	if s.Required {
		words += ", required"
	}
	if bounds := boundsInWords(s.Field); bounds != "" {
		words += ", " + bounds
	}
	if s.Sensitive {
		words += ", masked for viewers"
	}
	return words
}

// InputsOf are a capability's inputs, required ones first.
func InputsOf(c countersign.Capability) []ShownInput {
	list := make([]ShownInput, 0, len(c.InputSchema))
	for name, f := range c.InputSchema {
		list = append(list, ShownInput{name, TypesOf(f), f.Required, slices.Contains(c.Sensitive, name), f})
	}
	rank := map[bool]int{false: 1}
	slices.SortFunc(list, func(a, b ShownInput) int {
		return cmp.Or(cmp.Compare(rank[a.Required], rank[b.Required]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// TypedText is a value as it is typed into the field of an input.
func TypedText(kind string, v countersign.Value) string {
	if kind == "string" && v.Kind() == countersign.KindString {
		return v.Text()
	}
	return v.Raw()
}

// Names splits a list; "-" is an empty list and empty text is no list.
func Names(text string) []string {
	if text == "-" {
		return []string{}
	}
	var out []string
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Mentions reports whether what a capability is called or calls has a text.
func Mentions(c *countersign.Capability, text string) bool {
	return strings.Contains(strings.ToLower(c.Name+"\n"+c.Title+"\n"+c.Description+"\n"+c.Method+" "+c.Path), strings.ToLower(text))
}
