package importer

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// maxDescription is how many characters of an input's description are proposed.
const maxDescription = 300

// says is what a schema says of an input of these types: the description and the bounds that
// an inputSchema can state. What can't be stated is left out, so that nothing is refused that
// the document allows.
func (n node) says(kinds []string) countersign.InputField {
	target, why := n.resolved()
	if why != nil || len(kinds) == 0 {
		return countersign.InputField{}
	}
	f := ofTypes(countersign.InputField{
		Description: short(cmp.Or(n.at("description").text(), target.at("description").text()), maxDescription),
		Enum:        target.enum(kinds),
	}, kinds)
	switch {
	case f.IsNumber():
		f.Minimum, f.Maximum = target.bound("minimum", "exclusiveMinimum"), target.bound("maximum", "exclusiveMaximum")
	case f.Type == "string" && len(f.OrTypes) == 0:
		f.MaxLength, f.Pattern = target.length("maxLength"), target.at("pattern").text()
	}
	return statable(f)
}

// ofTypes gives an input its types.
func ofTypes(f countersign.InputField, kinds []string) countersign.InputField {
	f.Type, f.OrTypes = "", nil
	if len(kinds) > 0 {
		f.Type = kinds[0]
	}
	if len(kinds) > 1 {
		f.OrTypes = kinds[1:]
	}
	return f
}

// statable leaves out bounds that the service wouldn't register: a pattern that is no RE2
// expression, or bounds that contradict one another.
func statable(f countersign.InputField) countersign.InputField {
	bare := countersign.InputField{Type: f.Type, OrTypes: f.OrTypes, Description: f.Description}
	if reflect.DeepEqual(f, bare) || fits(f) {
		return f
	}
	if f.Pattern = ""; fits(f) {
		return f
	}
	return bare
}

func fits(f countersign.InputField) bool {
	c := countersign.Capability{Name: "c", Method: "POST", Path: "/", InputSchema: map[string]countersign.InputField{"x": f}}
	return len(request.CheckCapability(nil, &c)) == 0 && len(f.Pattern) <= maxPattern
}

// maxPattern is the longest pattern that the API takes.
const maxPattern = 500

// enum are the values of an enum or a const, null left away; nil where one of them is of
// another kind.
func (n node) enum(kinds []string) []countersign.Value {
	list := n.at("enum").list()
	if n.has("const") {
		list = []node{n.at("const")}
	}
	var out []countersign.Value
	for _, item := range list {
		switch value, ok := item.value(); {
		case item.kind() == "null":
		case !ok || !slices.Contains(kinds, item.kind()):
			return nil
		default:
			out = append(out, value)
		}
	}
	return out
}

// value is a scalar of the document, digit for digit.
func (n node) value() (countersign.Value, bool) {
	switch v := n.v.(type) {
	case string:
		return countersign.String(n.text()), true
	case bool:
		return countersign.Bool(v), true
	case json.Number:
		return countersign.RawValue(v.String()), true
	default:
		return countersign.Value{}, false
	}
}

// bound is an inclusive bound. An exclusive one is stated as inclusive: an inputSchema has
// no other, and the receiver judges the one value between them.
func (n node) bound(inclusive, exclusive string) countersign.Value {
	for _, keyword := range []string{inclusive, exclusive} { // before 3.1 the latter is true or false
		if v, ok := n.at(keyword).value(); ok && v.Kind() == countersign.KindNumber {
			return v
		}
	}
	return countersign.Value{}
}

func (n node) length(keyword string) int64 {
	v, _ := n.at(keyword).v.(json.Number)
	most, err := v.Int64()
	if err != nil || most < 0 {
		return 0
	}
	return most
}

// agreed is what two descriptions of one input, which has these types, both say of it.
func agreed(a, b countersign.InputField, kinds []string) countersign.InputField {
	description := cmp.Or(b.Description, a.Description)
	a.Description, b.Description = description, description
	if reflect.DeepEqual(a, b) {
		return a
	}
	return ofTypes(countersign.InputField{Description: description}, kinds)
}
