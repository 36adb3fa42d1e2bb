package countersign

import "time"

// Precondition is what must be so at the receiver for a call to be sent: a read of the same project
// is made before the call's approval is asked for, and again before the call is sent (contract 12.5).
// It narrows the time in which what was approved may have become untrue, and doesn't close it.
type Precondition struct {
	Capability string     `json:"capability" minLength:"1" doc:"a GET capability of this project that only reads and asks nobody: its required inputs are inputs of this capability, and taken by name"`
	Fields     []string   `json:"fields" nullable:"false" minItems:"1" maxItems:"10" doc:"1 to 10 fields of its output, read as an expectation's are: what was approved holds only while they stay as they were"`
	When       *Condition `json:"when,omitempty" doc:"a condition over the fields: nothing is sent, and nobody is asked, unless it holds"`
}

// Bounds of looks at a precondition's state.
const (
	MaxPreconditionFields = 10
	MaxStateBytes         = 16 << 10 // of the values of one look
	MaxLooks              = 1000     // of a run
	MaxLooksPerMinute     = 60       // of an agent
	LookTimeout           = 5 * time.Second
	MaxLookAge            = 10 * time.Second // from the beginning of a look to the intent that rests on it
	MaxAskedAgain         = 2                // new approvals of one attempt since the state had changed
)

// State is what a read for a precondition found.
type State struct {
	Capability    string           `json:"capability" doc:"the read"`
	RequestDigest string           `json:"requestDigest,omitempty" doc:"of the read's request; absent for who must not see all of it"`
	StatusCode    int              `json:"statusCode"`
	Values        map[string]Value `json:"values" nullable:"false" doc:"by field, exactly as the read gave them"`
	At            time.Time        `json:"at" doc:"when the read began"`
	Request       *Request         `json:"request,omitempty" doc:"the read's"`
}

// StateChange is a field of the state that isn't what it was.
type StateChange struct {
	Field string `json:"field"`
	Then  Value  `json:"then" doc:"in the state of the approval before"`
	Now   Value  `json:"now"`
}

// Look is one read for a precondition. It is kept once it was let out, whatever became of the run.
type Look struct {
	N             int64            `json:"n" doc:"no two of a step share one; its key is <runId>.<stepId>~look-<n>"`
	By            string           `json:"by,omitempty" doc:"the person who asked for it, who decides by it and nothing else; absent: the service itself"`
	ByName        string           `json:"byName,omitempty" doc:"a token's name or a user's"`
	At            time.Time        `json:"at" doc:"when it began"`
	Capability    string           `json:"capability"`
	RequestDigest string           `json:"requestDigest,omitempty" doc:"absent for who must not see all of the request"`
	StatusCode    int              `json:"statusCode,omitempty"`
	StateDigest   string           `json:"stateDigest,omitempty" doc:"of what it found; absent where it found nothing that could be judged, and for who must not see all of it"`
	Values        map[string]Value `json:"values,omitzero" nullable:"false" doc:"what it found; absent where an earlier look of the step that has them has the same stateDigest"`
	Error         string           `json:"error,omitempty" doc:"why it found nothing that could be judged"`
}

// Answered reports a look of which it is known what came of it.
func (l *Look) Answered() bool { return l.Error != "" || l.StateDigest != "" || l.Values != nil }

// WouldCheck says of a rehearsed step what would be looked at.
type WouldCheck struct {
	Capability string     `json:"capability"`
	Fields     []string   `json:"fields" nullable:"false"`
	When       *Condition `json:"when,omitempty"`
	Request    *Request   `json:"request,omitempty" doc:"the read's; absent where it can't be made from these inputs"`
}

// StateDigest is the digest of a state: SHA-256 of the canonical form of its capability and fields.
func StateDigest(capability string, values map[string]Value) string {
	return ObjectValue(map[string]Value{"capability": String(capability), "fields": ObjectValue(values)}).Digest()
}

// looks reports a step that has anything of a precondition.
func (s *StepRun) looks() bool {
	return s.WouldCheck != nil || len(s.Looks) > 0 || s.Looking != 0 || s.AskedAgain != 0 || s.StateDigest != ""
}
