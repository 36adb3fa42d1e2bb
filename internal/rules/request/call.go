// Package request builds the exact request to a project API from a capability and
// its resolved inputs, and defines the outcomes of a call. It is pure: the same
// inputs give the same bytes, and it never opens a connection.
package request

import (
	"time"

	"github.com/countersign/countersign"
)

// Call is one request to send. Request has the exact bytes; the credential and the
// signature are added when it is sent and stored nowhere.
type Call struct {
	Tenant         string            // whose project it is
	BoundTo        map[string]string // the tenants that its credential variables are bound to, by variable
	RunID          string
	StepID         string
	IdempotencyKey string
	Project        *countersign.Project
	Request        countersign.Request
	Input          map[string]countersign.Value // what LOCAL_ECHO answers with
	Timeout        time.Duration                // for the whole call
	SendBefore     time.Time                    // no byte is sent from then on; zero: whenever
	OnceOnly       bool                         // a side effect that the receiver doesn't deduplicate
	AnswerKeys     []string                     // the project's of this moment: an answer that none of them signed is uncertain
	MaxAnswer      int                          // bytes of the answer's body; 0: as many as a step's
}

// Certainty says what is known of a call that ended.
type Certainty int

const (
	// Returned means that a complete answer came, whatever its status. A 2xx body
	// was readable JSON or empty.
	Returned Certainty = iota
	// NotSent means that not one byte of the request left this machine.
	NotSent
	// Unknown means that something may have been received; whether it took effect
	// is open.
	Unknown
)

func (c Certainty) String() string { return [...]string{"Returned", "NotSent", "Unknown"}[c] }

// Outcome is the result of a call.
type Outcome struct {
	Certainty Certainty
	// Response is what is known of the answer; nil when no status line came.
	Response *countersign.Response
	// Body is the JSON of a 2xx answer; null when it was empty, absent for
	// every other outcome.
	Body countersign.Value
	// OfAnother says of a 409 that it speaks of another request with the call's key, or can't be
	// read to its end: it is no refusal.
	OfAnother bool
	// AnsweredBy is whose word the answer is, nil where nobody signed or the call names no keys.
	AnsweredBy *countersign.AnsweredBy
	// Unsigned says of an Unknown outcome that an answer came, whole, whose signature is missing
	// or doesn't hold. Body is then what a 2xx said, as evidence.
	Unsigned bool
	// Cause says, in words safe to show, why a call was NotSent or is Unknown.
	Cause string
}
