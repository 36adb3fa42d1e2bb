package form

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Expectation are the fields of an expectation, with the stored one, nil for none.
func (f *Form) Expectation(e *countersign.Expectation, hint string) []Field {
	return f.ExpectationAt("expectation", e, hint)
}

// ExpectationAt are the fields of an expectation that stand at a path in the form.
func (f *Form) ExpectationAt(at string, e *countersign.Expectation, hint string) []Field {
	var name, equals, status string
	if e != nil {
		name, equals = e.Field, e.Equals.Raw()
		if e.StatusCode != 0 {
			status = strconv.FormatInt(e.StatusCode, 10)
		}
	}
	return []Field{
		f.Mono(at+".field", "Field of the output", hint, name),
		f.Mono(at+".equals", "Must equal", "As JSON, such as \"succeeded\" or 249.00; numbers are compared by exact value.", equals),
		f.Mono(at+".statusCode", "HTTP status", "200 to 299, where it matters.", status),
	}
}

// TypedExpectation reads the expectation from the form; nil if all its fields are
// empty.
func TypedExpectation(v *web.Request) (*countersign.Expectation, error) {
	return TypedExpectationAt(v, "expectation")
}

// TypedExpectationAt reads the expectation that stands at a path in the form.
func TypedExpectationAt(v *web.Request, at string) (*countersign.Expectation, error) {
	field, equals, status := v.Form(at+".field"), v.Form(at+".equals"), v.Form(at+".statusCode")
	if field == "" && equals == "" && status == "" {
		return nil, nil
	}
	e := &countersign.Expectation{Field: field}
	if field == "" {
		return nil, web.Invalid(at+".field", "say which field")
	}
	if err := exactjson.Decode([]byte(equals), &e.Equals); err != nil {
		return nil, web.Invalid(at+".equals", "write JSON, such as \"succeeded\" or 249.00")
	}
	if status != "" {
		n, err := strconv.ParseInt(status, 10, 64)
		if err != nil || n < 200 || n > 299 {
			return nil, web.Invalid(at+".statusCode", "a whole number from 200 to 299")
		}
		e.StatusCode = n
	}
	return e, nil
}

// ExpectationHint says what the expectation is judged besides.
func ExpectationHint(c *countersign.Capability) string {
	if c.Expectation != nil {
		return "Judged besides what the capability expects: " + text.Wants(countersign.Expectations(c, nil)) + ". Empty: by that alone. $ is the whole output."
	}
	return "A LIVE run needs it: an answer of 200 proves nothing. $ is the whole output."
}

// Mode is the choice between DRY_RUN and LIVE. Neither is preset.
func (f *Form) Mode(enabled bool) Field {
	live := "Steps are sent. Those that ask for approval wait for an approver’s decision."
	if !enabled {
		live = "Not now: the project is disabled, an admin enables it."
	}
	return Must(f.Choose("radio", "mode", "Mode", "", "",
		Choice{Value: countersign.ModeDryRun, Word: "DRY_RUN", Note: "Nothing is sent and nobody is asked. The run shows the exact requests."},
		Choice{Value: countersign.ModeLive, Word: "LIVE", Note: live}))
}

// StartKey is the form's idempotency key: sending the form twice starts one run. A
// refused start keeps its key, except when the key belongs to another request.
func StartKey(v *web.Request, err error) string {
	if typed := v.Form("key"); typed != "" && countersign.ErrorCode(err) != countersign.CodeIdempotencyConflict {
		return typed
	}
	return v.Config.NewID("start")
}
