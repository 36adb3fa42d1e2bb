package countersign

import (
	"slices"
	"time"
)

// Settlement says where a project's receiver answers what became of a key, and who decides by
// that (contract 12.6).
type Settlement struct {
	Path string `json:"path" minLength:"2" pattern:"^/" doc:"on the registered origin: GET {path}/{key} tells, POST {path}/{key}/withdraw withdraws a key that was never seen; no capability has a path at or below it"`
	Mode string `json:"mode,omitempty" enum:"PROPOSE,AUTOMATIC" doc:"PROPOSE (default): a reviewer confirms what the receiver says; AUTOMATIC: the service goes by it, and withdraws what was never seen"`
}

// Modes of a settlement.
const (
	SettlePropose   = "PROPOSE"
	SettleAutomatic = "AUTOMATIC"
)

// Automatic reports a settlement by which the service itself decides.
func (s *Settlement) Automatic() bool { return s != nil && s.Mode == SettleAutomatic }

// MaxAnswerKeys is how many answer keys a project may have: one, or two while it changes.
const MaxAnswerKeys = 2

// AnswerKeysWrite is the body of PUT /projects/{id}/answer-keys.
type AnswerKeysWrite struct {
	AnswerKeys []string `json:"answerKeys" nullable:"false" doc:"the Ed25519 public keys by which the receiver signs: none, one, or two while it changes; ed25519: and 64 hex digits each"`
}

// AnsweredBy says whose word an answer is.
type AnsweredBy struct {
	KeyID string    `json:"keyId" doc:"SHA-256 of the answer key's 32 bytes, lowercase hex"`
	At    time.Time `json:"at" doc:"when the receiver signed it, by its own clock"`
}

// AnswerEvidence is what the signature of an answer is checked by, beside the request, the status
// and what the record says.
type AnswerEvidence struct {
	Timestamp  string `json:"timestamp" doc:"the X-Runtime-Timestamp that the request was sent with"`
	Signature  string `json:"signature" doc:"the X-Runtime-Answer that came with the answer"`
	BodyBase64 string `json:"bodyBase64" doc:"the answer's raw body"`
}

// What a receiver says became of a key.
const (
	KeyDone       = "DONE"
	KeyInProgress = "IN_PROGRESS"
	KeyUnknown    = "UNKNOWN"
	KeyUnseen     = "UNSEEN"
	KeyWithdrawn  = "WITHDRAWN"
)

// SettlementRecord is an answer of the receiver to a question about a step's key.
type SettlementRecord struct {
	N          int64     `json:"n" doc:"the number of the question; no two of a step share one"`
	State      string    `json:"state,omitempty" doc:"what it counts as: DONE, IN_PROGRESS, UNKNOWN, UNSEEN or WITHDRAWN; absent where the answer was no statement"`
	Said       string    `json:"said,omitempty" doc:"the state that the receiver named, where it counts as UNKNOWN: its memory may have forgotten the key"`
	At         time.Time `json:"at" doc:"when the answer came"`
	Since      time.Time `json:"since,omitzero" doc:"from when on the receiver has forgotten nothing, as it says"`
	StatusCode int64     `json:"statusCode,omitempty" doc:"of DONE: that of the kept answer"`
	Output     Value     `json:"output,omitzero" doc:"of DONE: the body of the kept answer"`
	Text       string    `json:"text,omitempty" doc:"of DONE: the body of a kept answer that isn't JSON, its first 4 KiB"`
	Valid      bool      `json:"valid" doc:"it was signed with an answer key of the project; what isn't decides nothing"`
	KeyID      string    `json:"keyId,omitempty"`
	Signature  string    `json:"signature,omitempty" doc:"lowercase hex"`
	Error      string    `json:"error,omitempty" doc:"why it is no valid statement"`

	Withdrawing bool            `json:"withdrawing,omitempty" doc:"true: the question asked to withdraw the key"`
	Target      string          `json:"target,omitempty" doc:"path and query of the question"`
	Signed      *AnswerEvidence `json:"signed,omitempty"`
}

// Decides reports a statement that settles a step.
func (r *SettlementRecord) Decides() bool {
	return r.Valid && (r.State == KeyDone || r.State == KeyWithdrawn)
}

// SettledBy says by whose word a step was settled.
type SettledBy struct {
	KeyID string    `json:"keyId"`
	At    time.Time `json:"at"`
}

// Actions of a settling.
const (
	SettleConfirm  = "CONFIRM"
	SettleWithdraw = "WITHDRAW"
)

// Settle is the body of POST /runs/{id}/settle.
type Settle struct {
	StepID string `json:"stepId"`
	N      int64  `json:"n" minimum:"1" doc:"the statement that it rests on, of the step's settlements"`
	Action string `json:"action" enum:"CONFIRM,WITHDRAW" doc:"CONFIRM: the step ends by what the statement says (DONE or WITHDRAWN). WITHDRAW: a key that the receiver never saw (UNSEEN) is withdrawn, and the step ends by that"`
	Reason string `json:"reason" doc:"never blank"`
}

// WithoutProofs is a step without what only a verifier reads: what signatures are checked by.
func (s *StepRun) WithoutProofs() *StepRun {
	out := *s
	out.Settlements = slices.Clone(s.Settlements)
	for i := range out.Settlements {
		out.Settlements[i].Signed = nil
	}
	return &out
}
