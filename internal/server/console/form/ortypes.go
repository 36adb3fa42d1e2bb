package form

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// An input of several types is typed as JSON; what is no JSON of one of them is text, where
// text is one.

const or = " or "

// TypesOf is how a form calls what an input may be.
func TypesOf(f countersign.InputField) string { return strings.Join(f.Types(), or) }

// ofSeveral reads what was typed for an input of those types.
func ofSeveral(types, text string) (value countersign.Value, problem string) {
	takes := func(kind string) bool { return strings.Contains(or+types+or, or+kind+or) }
	if err := exactjson.Decode([]byte(text), &value); err == nil && takes(value.Kind().String()) {
		return value, ""
	}
	if takes("string") {
		return countersign.String(text), ""
	}
	return countersign.Value{}, "write " + types + ", as JSON"
}
