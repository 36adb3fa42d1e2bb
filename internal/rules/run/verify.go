package run

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// Verify checks a selected output against the expectation of the step. status 0 means
// that there was no answer (a reconcile): the statusCode of the expectation is not
// checked. Without an expectation there is nothing to verify.
func Verify(e *countersign.Expectation, out plan.Output, status int) countersign.Verification {
	if e == nil {
		return countersign.Verification{Status: countersign.VerificationNotRequested}
	}
	v := countersign.Verification{Status: countersign.VerificationFailed, Field: e.Field, Expected: e.Equals, StatusCode: int64(status)}
	actual, found := out.Field(e.Field)
	if found {
		v.Actual = actual
	}
	statusFits := e.StatusCode == 0 || status == 0 || int64(status) == e.StatusCode
	if found && statusFits && actual.Equal(e.Equals) {
		v.Status = countersign.VerificationPassed
	}
	return v
}

func simulatedVerification(e *countersign.Expectation) *countersign.Verification {
	v := &countersign.Verification{Status: countersign.VerificationSimulated}
	if e != nil {
		v.Field, v.Expected = e.Field, e.Equals
	}
	return v
}

// unmet describes a failed verification.
func unmet(e *countersign.Expectation, v countersign.Verification) string {
	if v.Actual.IsZero() {
		return "the output has no field " + v.Field + "; expected it to be " + brief(v.Expected)
	}
	if !v.Actual.Equal(v.Expected) {
		return v.Field + " is " + brief(v.Actual) + ", expected " + brief(v.Expected)
	}
	return fmt.Sprintf("the status is %d, expected %d", v.StatusCode, e.StatusCode)
}

const briefLength = 200

// brief truncates a value for a message; the verification has all of it.
func brief(v countersign.Value) string {
	raw := v.Raw()
	if len(raw) > briefLength {
		return strings.ToValidUTF8(raw[:briefLength], "") + "…"
	}
	return raw
}
