package evaluator

import "slices"

// Precondition is what must be so of a read's answer for a step to be sent (12.5).
type Precondition struct {
	Capability string     `json:"capability"`
	Fields     []string   `json:"fields"`
	When       *Condition `json:"when,omitempty"`
}

// looks reads the state: its values, or the code with which the step ends.
func (e *Evaluator) looks(c *Precondition) (values map[string]any, code string) {
	v, _ := parse(e.state) // what isn't JSON is the status of a refusal
	output, ok := v.(map[string]any)
	if !ok || e.answer == "unreachable" {
		return nil, e.cannotTell()
	}
	values = map[string]any{}
	for _, field := range c.Fields {
		if values[field], ok = output[field]; !ok && e.follows("field-not-there") {
			return nil, e.cannotTell()
		}
	}
	if c.When == nil {
		return values, ""
	}
	switch e.holds(*c.When, values) {
	case yes:
		return values, ""
	case unknown:
		return values, e.cannotTell()
	default:
		if !e.follows("false-when") {
			return values, ""
		}
		return values, "precondition_failed"
	}
}

func (e *Evaluator) cannotTell() string {
	if e.follows("unknown-isn't-failed") {
		return "precondition_unknown"
	}
	return "precondition_failed"
}

// changed are the fields whose values differ, "equal as an expectation's (whole JSON, exact numbers)".
func (e *Evaluator) changed(then, now map[string]any) (fields []string) {
	for field, v := range now {
		same := equal(v, then[field])
		if !e.follows("state-exact") && kind(v) == "number" && !same {
			same = true
		}
		if !same {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// maxAsked is how many new approvals of one attempt are asked for because of a change.
const maxAsked = 2

// hasChanged asks for a new approval of an approved step whose state is another now, or ends it; false where it may be sent.
func (e *Evaluator) hasChanged(r *run, v verdict, now map[string]any) bool {
	fields := e.changed(r.approval.state, now)
	if len(fields) == 0 || !e.follows("changed-asks") {
		return false
	}
	most := maxAsked
	if !e.follows("twice-at-most") {
		most--
	}
	if r.changes++; r.changes > most {
		e.end(r, "FAILED", "precondition_failed")
		return true
	}
	e.ask(r, v, now)
	r.approval.changed = fields
	return true
}

var ofPreconditions = map[string]string{
	"field-not-there":      "12.5: a field that isn't there is FAILED precondition_unknown",
	"false-when":           "12.5: where when is false, FAILED precondition_failed",
	"unknown-isn't-failed": "12.5: a read that fails, a field that isn't there, or an unknown when is FAILED precondition_unknown",
	"state-exact":          "12.5: values equal as an expectation's (whole JSON, exact numbers)",
	"changed-asks":         "12.5: where values differ a new approval is asked for with changed[]",
	"twice-at-most":        "12.5: after the second new approval of one attempt that was asked for because of a change, FAILED precondition_failed",
}

func init() {
	for name, text := range ofPreconditions {
		sentences[name] = text
	}
}
