package form

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestWhatIsTypedForSeveralTypesIsJSONOrText.
func TestWhatIsTypedForSeveralTypesIsJSONOrText(t *testing.T) {
	text, list := countersign.InputField{Type: "string", OrTypes: []string{"number", "array"}}, countersign.InputField{Type: "number", OrTypes: []string{"array"}}
	for _, test := range []struct {
		field       countersign.InputField
		typed, want string
	}{
		{text, "5.0", "5.0"}, {text, `"5"`, `"5"`}, {text, "[1]", "[1]"}, {text, "plain text", `"plain text"`}, {text, "true", `"true"`}, {text, "", "it is needed"},
		{list, "5", "5"}, {list, "[]", "[]"}, {list, "a", "write number or array, as JSON"}, {list, `"5"`, "write number or array, as JSON"},
	} {
		value, problem := typedValue(TypesOf(test.field), test.typed)
		got := problem
		if got == "" {
			got = value.Raw()
			if again, _ := typedValue(TypesOf(test.field), TypedText(TypesOf(test.field), value)); !again.Equal(value) {
				t.Errorf("%s becomes %s when it is shown and typed again", value.Raw(), again.Raw())
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, not %s", test.typed, got, test.want)
		}
	}
}
