package models

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Values of a model as they are typed: text without quotes, numbers and true or false as
// they are, null for unknown. Quotes tell a text that would be read as something else.

// shownScalar is a value as it is typed; "" for none.
func shownScalar(kind string, value countersign.Scalar) string {
	if value.IsZero() {
		return ""
	}
	if value.Kind() == countersign.KindString && !strings.ContainsAny(value.Text(), "\r\n") { // a line would lose them
		if again, wrong := typedScalar(kind, value.Text()); wrong == "" && again.Equal(value.Value) {
			return value.Text()
		}
	}
	return strings.TrimSpace(value.Raw())
}

// typedScalar reads a value for a variable of a type; kind "" is a variable that there isn't.
func typedScalar(kind, text string) (value countersign.Scalar, wrong string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return value, ""
	}
	err := exactjson.Decode([]byte(text), &value)
	isText := kind == countersign.TypeText || kind == countersign.TypeChoice
	if err == nil && (value.Kind() == countersign.KindString || value.IsNull() || !isText) {
		return value, ""
	}
	switch kind {
	case countersign.TypeNumber:
		return value, "write a number, such as 12.50"
	case countersign.TypeBoolean:
		return value, "write true or false"
	}
	return countersign.Scalar{Value: countersign.String(text)}, ""
}
