package receipt

import (
	"slices"

	"github.com/countersign/countersign"
)

// expectations are those that judge the answer to a step: its capability's, and besides
// it the plan's own of the step.
func (c *claims) expectations(s, planned node) (out []node) {
	for _, e := range []node{c.capability(s).at("expectation"), planned.at("expectation")} {
		if e.exists() {
			out = append(out, e)
		}
	}
	return out
}

// asVerified compares the verification of a step with its expectations and with the
// step's status.
func asVerified(s node, expectations []node) string {
	v, status := s.at("verification"), s.at("status").text()
	judged := v.at("status").text()
	want := map[string]string{string(countersign.StepCompleted): countersign.VerificationPassed, string(countersign.StepSimulated): countersign.VerificationSimulated}[status]
	if status == string(countersign.StepCompleted) && len(expectations) == 0 {
		want = countersign.VerificationNotRequested
	}
	switch {
	case want != "" && judged != want:
		return "is " + status + " and was not verified so"
	case !v.exists():
		return ""
	case !judgedBy(v, expectations):
		return "was verified by another expectation than in the plan"
	}
	for _, check := range append(v.at("checks").list(), v) {
		if check.at("status").text() == countersign.VerificationPassed && !check.at("actual").equal(check.at("expected")) {
			return "was verified as passed, and is not what was expected"
		}
	}
	return ""
}

// judgedBy: a verification names the expectation that it judged by. Where there are
// several, its checks name each, and what it says itself is the judgement of one.
func judgedBy(v node, expectations []node) bool {
	checks := v.at("checks").list()
	if len(expectations) < 2 {
		one := node{}
		if len(expectations) == 1 {
			one = expectations[0]
		}
		return len(checks) == 0 && byThis(v, one)
	}
	if len(checks) != len(expectations) {
		return false
	}
	for i, check := range checks {
		passed := check.at("status").text() == v.at("status").text()
		if !byThis(check, expectations[i]) || v.at("status").text() != countersign.VerificationFailed && !passed {
			return false
		}
	}
	return slices.ContainsFunc(checks, func(check node) bool {
		return check.at("status").text() == v.at("status").text() && check.at("field").text() == v.at("field").text() &&
			check.at("expected").equal(v.at("expected")) && check.at("actual").equal(v.at("actual"))
	})
}

func byThis(v, e node) bool {
	return v.at("field").text() == e.at("field").text() && v.at("expected").equal(e.at("equals"))
}
