package receipt

import (
	"bytes"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// What an answer means for its step, computed from its bytes (contract 6).

// meant is what becomes of a step by an answer.
type meant struct {
	status       countersign.StepStatus // "": the answer doesn't say what became of the request
	code         countersign.Code
	output       node
	verification node
	mayHave      bool
}

// answerMeans is what an answer to the attempt-th sending of a step means.
func (c *claims) answerMeans(s node, status int, body []byte, attempt int64) meant {
	switch text := string(body); {
	case status >= 200 && status < 300:
		return c.successMeans(s, status, body)
	case status == 408, status == 409 && (attempt > 1 || request.SpeaksOfAnother(text)), status < 400, status >= 500:
		return meant{}
	case status == 410 && request.SaysError(text, "key_withdrawn"):
		return meant{status: countersign.StepFailed, code: countersign.CodeWithdrawn}
	}
	return meant{status: countersign.StepFailed, code: countersign.CodeReceiverRefused}
}

func (c *claims) successMeans(s node, status int, body []byte) meant {
	value, ok := readAnswer(body)
	if !ok || status == 206 {
		return meant{}
	}
	out, found := plan.Select(value, c.capability(s).at("outputField").text())
	effect := s.at("sideEffect").isTrue()
	if !found {
		return meant{status: countersign.StepFailed, code: countersign.CodeOutputMissing, mayHave: effect}
	}
	var expected []countersign.Expectation
	for _, e := range c.expectations(s, c.planned(s)) {
		expected = append(expected, countersign.Expectation{Field: e.at("field").text(), Equals: e.at("equals").value(), StatusCode: max(0, e.at("statusCode").whole())})
	}
	judged, why := run.Judge(expected, out, status)
	m := meant{status: countersign.StepCompleted, output: asNode(out.Value), verification: asNode(judged)}
	if why != "" {
		m.status, m.code, m.mayHave = countersign.StepFailed, countersign.CodeExpectationNotMet, effect
	}
	return m
}

// readAnswer is the value of a body: null where there is nothing in it. ok is false for what is no
// exact JSON.
func readAnswer(body []byte) (v countersign.Value, ok bool) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return countersign.Null, true
	}
	return countersign.RawValue(string(body)), exactjson.Check(body) == nil
}

// asNode is a value as a section has it.
func asNode(v any) node {
	value, err := countersign.ValueOf(v)
	if err != nil {
		return node{}
	}
	return parse(value.Canonical())
}

// asAnswered compares a step with what its signed answer means, unless something else ended it.
func (c *claims) asAnswered(s node, body []byte) string {
	if c.masked() || s.at("settledBy").exists() || endedByPerson(s) {
		return ""
	}
	m := c.answerMeans(s, int(s.at("response").at("statusCode").whole()), body, s.at("attempt").whole())
	if m.status == "" {
		if s.at("sideEffect").isTrue() || s.at("status").text() != string(countersign.StepFailed) || endedByAnswer(s) {
			return "ended by an answer that doesn't say what became of it"
		}
		return ""
	}
	return c.asMeant(s, m)
}

// asMeant compares a step with what an answer means.
func (c *claims) asMeant(s node, m meant) string {
	status, code := s.at("status").text(), s.at("error").at("code").text()
	if c.run.has("restoredAt") && m.status != countersign.StepCompleted && m.code != countersign.CodeWithdrawn {
		m.mayHave = s.at("sideEffect").isTrue() // the store that was replaced may have sent it, too
	}
	switch {
	case status != string(m.status) || code != string(m.code):
		return "has another status or error than its signed answer means"
	case !s.at("output").equal(m.output):
		return "has another output than its signed answer"
	case !s.at("verification").equal(m.verification):
		return "has another verification than its signed answer comes to"
	case s.at("mayHaveHappened").isTrue() != m.mayHave:
		return "says otherwise than its signed answer whether it may have happened"
	}
	return ""
}
