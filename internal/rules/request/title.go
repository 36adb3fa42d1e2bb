package request

import (
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
)

// Title fills the {input} places of a capability's title with what value gives for
// them, numbers as they are spelt and nothing for what isn't there, and cuts it at
// countersign.MaxTitle characters.
func Title(title string, value func(place string) (countersign.Value, bool)) string {
	parts, err := split(title, isInput, inputForm)
	if err != nil {
		return "" // an older release stored no titles, and this one none that can't be read
	}
	var b strings.Builder
	length := 0 // in characters
	for _, p := range parts {
		if length >= countersign.MaxTitle {
			break // the rest would be cut off
		}
		b.WriteString(p.literal)
		length += utf8.RuneCountInString(p.literal)
		if p.name == "" {
			continue
		}
		if v, ok := value(p.name); ok && !v.IsZero() {
			text := cut(titleText(v))
			b.WriteString(text)
			length += utf8.RuneCountInString(text)
		}
	}
	return cut(b.String())
}

// cut keeps the first countersign.MaxTitle characters.
func cut(text string) string {
	n := 0
	for i := range text {
		if n == countersign.MaxTitle {
			return text[:i]
		}
		n++
	}
	return text
}

const inputForm = "the name of an input or a dotted path into one"

// isInput reports what may name an input: unlike in a path, any text.
func isInput(name string) bool { return name != "" && !strings.Contains(name, "{") }

func titleText(v countersign.Value) string {
	if v.Kind() == countersign.KindString {
		return v.Text()
	}
	return v.Raw()
}

// InputsAt returns the input that a placeholder of a title names, or with a dotted path a
// value inside it. What a receiver may read otherwise isn't known, and as good as not there:
// a title must not name one of two values.
func InputsAt(m *cost.Meter, input map[string]countersign.Value) func(place string) (countersign.Value, bool) {
	in := inputs.Of(m, "title", inputs.Folded, input, nil)
	return func(place string) (countersign.Value, bool) {
		at := in.Read(place)
		return at.Value, !at.Unclear && !at.Value.IsZero()
	}
}

// TitleOf is a capability's title, filled from its inputs; what is filled in once the meter
// has come to its end is left out.
func TitleOf(m *cost.Meter, c *countersign.Capability, input map[string]countersign.Value) string {
	return Title(c.Title, InputsAt(m, input))
}

// title: each place names an input that the capability takes.
func (k *capabilityCheck) title(m mapping) {
	parts, err := split(m.capability.Title, isInput, inputForm)
	if err != nil {
		k.add("title", "bad_title", "%s", err)
		return
	}
	for _, p := range parts {
		name, _, _ := strings.Cut(p.name, ".")
		if p.name != "" && !m.declared(p.name) && !m.declared(name) {
			k.add("title", "undeclared_input", "{%s} names no input of the capability", p.name)
		} else if why := Deeper(m.capability, p.name); why != "" {
			k.add("title", "wrong_type", "{%s}: %s", p.name, why)
		}
	}
}
