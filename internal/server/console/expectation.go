package console

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// expectation are the fields of an expectation, with the stored one, nil for none.
func (s *form) expectation(e *countersign.Expectation, hint string) []field {
	return s.expectationAt("expectation", e, hint)
}

func (s *form) expectationAt(at string, e *countersign.Expectation, hint string) []field {
	var name, equals, status string
	if e != nil {
		name, equals = e.Field, e.Equals.Raw()
		if e.StatusCode != 0 {
			status = strconv.FormatInt(e.StatusCode, 10)
		}
	}
	return []field{
		s.mono(at+".field", "Field of the output", hint, name),
		s.mono(at+".equals", "Must equal", "As JSON, such as \"succeeded\" or 249.00; numbers are compared by exact value.", equals),
		s.mono(at+".statusCode", "HTTP status", "200 to 299, where it matters.", status),
	}
}

// typedExpectation reads the expectation from the form; nil if all its fields are
// empty.
func typedExpectation(v *web.Request) (*countersign.Expectation, error) {
	return typedExpectationAt(v, "expectation")
}

func typedExpectationAt(v *web.Request, at string) (*countersign.Expectation, error) {
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

func expectationHint(c *countersign.Capability) string {
	if c.Expectation != nil {
		return "Judged besides what the capability expects: " + text.Wants(countersign.Expectations(c, nil)) + ". Empty: by that alone. $ is the whole output."
	}
	return "A LIVE run needs it: an answer of 200 proves nothing. $ is the whole output."
}

// mode is the choice between DRY_RUN and LIVE. Neither is preset.
func (s *form) mode(enabled bool) field {
	live := "Steps are sent. Those that ask for approval wait for an approver’s decision."
	if !enabled {
		live = "Not now: the project is disabled, an admin enables it."
	}
	return must(s.choose("radio", "mode", "Mode", "", "",
		choice{Value: countersign.ModeDryRun, Word: "DRY_RUN", Note: "Nothing is sent and nobody is asked. The run shows the exact requests."},
		choice{Value: countersign.ModeLive, Word: "LIVE", Note: live}))
}

// startKey is the form's idempotency key: sending the form twice starts one run. A
// refused start keeps its key, except when the key belongs to another request.
func startKey(v *web.Request, err error) string {
	if typed := v.Form("key"); typed != "" && countersign.ErrorCode(err) != countersign.CodeIdempotencyConflict {
		return typed
	}
	return v.Config.NewID("start")
}
