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

// Judge verifies an output against all expectations of its step, and says of the
// first that isn't met why.
func Judge(es []countersign.Expectation, out plan.Output, status int) (v countersign.Verification, why string) {
	judged := make([]countersign.Verification, len(es))
	shown := len(es) - 1 // the step's own
	for i := range es {
		judged[i] = Verify(&es[i], out, status)
		if judged[i].Status == countersign.VerificationFailed && why == "" {
			shown, why = i, unmet(&es[i], judged[i])
		}
	}
	if len(es) == 0 {
		return Verify(nil, out, status), ""
	}
	v = judged[shown]
	v.Checks = checks(judged)
	return v, why
}

// checks are nil for a single expectation: the verification itself says all of it.
func checks(judged []countersign.Verification) (out []countersign.ExpectationCheck) {
	if len(judged) < 2 {
		return nil
	}
	for _, v := range judged {
		out = append(out, countersign.ExpectationCheck{Status: v.Status, Field: v.Field, Expected: v.Expected, Actual: v.Actual})
	}
	return out
}

func simulatedVerification(es []countersign.Expectation) *countersign.Verification {
	simulated := make([]countersign.Verification, len(es))
	for i, e := range es {
		simulated[i] = countersign.Verification{Status: countersign.VerificationSimulated, Field: e.Field, Expected: e.Equals}
	}
	if len(es) == 0 {
		return &countersign.Verification{Status: countersign.VerificationSimulated}
	}
	v := simulated[len(es)-1]
	v.Checks = checks(simulated)
	return &v
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
