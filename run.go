package countersign

import (
	"slices"
	"strings"
	"time"
)

// RunStatus is the state of a run (specification 3.1).
type RunStatus string

// The run statuses.
const (
	RunReady            RunStatus = "READY"
	RunRunning          RunStatus = "RUNNING"
	RunWaitingApproval  RunStatus = "WAITING_APPROVAL"
	RunRecoveryRequired RunStatus = "RECOVERY_REQUIRED"
	RunCompleted        RunStatus = "COMPLETED"
	RunFailed           RunStatus = "FAILED"
	RunCancelled        RunStatus = "CANCELLED"
)

// RunStatuses lists every status in the order of a run's life.
var RunStatuses = []RunStatus{RunReady, RunRunning, RunWaitingApproval, RunRecoveryRequired, RunCompleted, RunFailed, RunCancelled}

// IsTerminal reports a status that never changes again.
func (s RunStatus) IsTerminal() bool {
	return s == RunCompleted || s == RunFailed || s == RunCancelled
}

// IsActive reports a status that holds one of the slots.
func (s RunStatus) IsActive() bool { return s == RunReady || s == RunRunning }

// StepStatus is the state of one step of a run (contract 6).
type StepStatus string

// The step statuses.
const (
	StepPending          StepStatus = "PENDING"
	StepWaitingApproval  StepStatus = "WAITING_APPROVAL"
	StepRunning          StepStatus = "RUNNING"
	StepCompleted        StepStatus = "COMPLETED"
	StepSimulated        StepStatus = "SIMULATED"
	StepFailed           StepStatus = "FAILED"
	StepRecoveryRequired StepStatus = "RECOVERY_REQUIRED"
	StepAbandoned        StepStatus = "ABANDONED"
	StepCancelled        StepStatus = "CANCELLED"
	StepSkipped          StepStatus = "SKIPPED"
)

// Verification statuses of a step.
const (
	VerificationPassed       = "PASSED"
	VerificationFailed       = "FAILED"
	VerificationNotRequested = "NOT_REQUESTED"
	VerificationSimulated    = "SIMULATED"
)

// Kinds of WaitingFor.
const (
	WaitApproval  = "approval"
	WaitReconcile = "reconcile"
	WaitSlot      = "slot"
	WaitStop      = "stop"
)

// WaitKinds are all of them; there may be more.
var WaitKinds = []string{WaitApproval, WaitReconcile, WaitSlot, WaitStop}

// Run is one execution of a plan (specification 2.10, contract 6). Its steps
// are listed from the start.
type Run struct {
	ID              string      `json:"id"`
	PlanID          string      `json:"planId"`
	Status          RunStatus   `json:"status" enum:"READY,RUNNING,WAITING_APPROVAL,RECOVERY_REQUIRED,COMPLETED,FAILED,CANCELLED"`
	Mode            string      `json:"mode" enum:"DRY_RUN,LIVE"`
	Revision        int64       `json:"revision" doc:"rises with every change of the run"`
	WaitingFor      *WaitingFor `json:"waitingFor,omitempty"`
	CancelRequested bool        `json:"cancelRequested"`
	UnverifiedSteps int         `json:"unverifiedSteps" doc:"completed steps that nothing was asked of"`
	MayHaveHappened bool        `json:"mayHaveHappened,omitempty" doc:"a side effect of it may have taken effect, whatever its status says: see that of its steps"`
	PlanDigest      string      `json:"planDigest,omitempty" doc:"absent for who must not see all of the plan"`
	AgentID         string      `json:"agentId,omitempty"`
	TeamID          string      `json:"teamId,omitempty"`
	ApprovalID      string      `json:"approvalId,omitempty" doc:"the latest approval asked for"`
	RestoredAt      time.Time   `json:"restoredAt,omitzero" since:"3" doc:"when the store was restored, or reopened after it was copied, while the run was unfinished: it may have been sent by the store that this one replaces"`
	OpenAlike       []string    `json:"openAlike,omitempty" nullable:"false" since:"3" doc:"up to 10 runs with the same capability and the same inputs or title whose outcome nobody knew when it was started, or a step of it began"`
	Error           string      `json:"error,omitempty" doc:"code: message"`
	RequestedBy     string      `json:"requestedBy"`
	RequestedByName string      `json:"requestedByName,omitempty" doc:"a token's name, a user's or an agent's"`
	Identity        *Identity   `json:"identity,omitempty" since:"3" doc:"by which an agent asked that signs in at an identity provider"`
	OnBehalfOf      *OnBehalfOf `json:"onBehalfOf,omitempty" since:"3" doc:"for whom that agent asked, by its issuer's word; counts as who asked"`
	IdempotencyKey  string      `json:"idempotencyKey"`
	Reason          string      `json:"reason,omitempty" doc:"why it was started, in the words of who started it"`
	AgentWords      *AgentWords `json:"agentWords,omitempty" doc:"what the agent said of its call over MCP; nobody has checked it"`
	CreatedAt       time.Time   `json:"createdAt"`
	UpdatedAt       time.Time   `json:"updatedAt"`
	CompletedAt     time.Time   `json:"completedAt,omitzero"`
	Hold            *RunHold    `json:"hold,omitempty" since:"3" doc:"it is neither redacted nor archived until this is ended"`
	Redacted        *Redaction  `json:"redacted,omitempty" since:"3" doc:"what it held was removed: values read •••, or are absent"`
	PlanSnapshot    *Plan       `json:"planSnapshot,omitempty"`
	Steps           []StepRun   `json:"steps" nullable:"false"`
}

// AgentWords are what an agent says of a call over MCP besides its inputs (contract 11).
type AgentWords struct {
	Task   string `json:"task,omitempty" doc:"what the call belongs to; the same inputs for another task are another run"`
	Reason string `json:"reason,omitempty" doc:"why the agent asks, in its own words"`
	Again  string `json:"again,omitempty" doc:"why a call that was made within a day is made again"`
}

// WaitingFor says why a run stands still: doing Operation with Role moves it.
// A slot comes by itself; then both are empty. A run that waits for the end of a stop
// holds no slot, whatever its status.
type WaitingFor struct {
	Kind       string    `json:"kind" doc:"there may be more kinds"`
	Since      time.Time `json:"since"`
	Role       string    `json:"role"`
	Operation  string    `json:"operation" doc:"method and path below the version prefix"`
	StepID     string    `json:"stepId"`
	ApprovalID string    `json:"approvalId,omitempty"`
	ExpiresAt  time.Time `json:"expiresAt,omitzero"`

	EscalatesAt time.Time `json:"escalatesAt,omitzero" doc:"from when members of other groups may decide, too"`

	RestoredAt time.Time `json:"restoredAt,omitzero" since:"3" doc:"the run's"`

	NotBefore time.Time `json:"notBefore,omitzero" doc:"until then an answer may still come, and no resolution is taken"`
}

// StepRun is the record of one step inside a run (contract 6).
type StepRun struct {
	ID               string             `json:"id"`
	Name             string             `json:"name"`
	ProjectID        string             `json:"projectId"`
	Capability       string             `json:"capability"`
	ActionID         string             `json:"actionId,omitempty"`
	AgentID          string             `json:"agentId,omitempty"`
	DependsOn        []string           `json:"dependsOn" nullable:"false"`
	Status           StepStatus         `json:"status" enum:"PENDING,WAITING_APPROVAL,RUNNING,COMPLETED,SIMULATED,FAILED,RECOVERY_REQUIRED,ABANDONED,CANCELLED,SKIPPED"`
	Attempt          int                `json:"attempt" doc:"how often it was sent"`
	SideEffect       bool               `json:"sideEffect"`
	ApprovalRequired bool               `json:"approvalRequired" doc:"until the inputs are known, as the capability's approval says; then as its rules do too"`
	WouldBe          string             `json:"wouldBe,omitempty" enum:"ALLOW,ASK,DENIED" doc:"of a rehearsed step: what the gate would say of these inputs"`
	Input            map[string]Value   `json:"input" nullable:"false" doc:"resolved; an input still bound shows {\"$from\": \"step.field\"}"`
	IdempotencyKey   string             `json:"idempotencyKey"`
	RequestDigest    StepDigest         `json:"requestDigest,omitzero" nullable:"true" doc:"null until the request is made, and in a rehearsal where anything is bound; absent for who must not see all of the request"`
	ApprovalID       string             `json:"approvalId,omitempty"`
	Request          *Request           `json:"request,omitempty" doc:"from WAITING_APPROVAL on; no credentials, ever"`
	Response         *Response          `json:"response,omitempty"`
	Output           Value              `json:"output,omitzero" doc:"the selected output"`
	Verification     *Verification      `json:"verification,omitempty"`
	Reconciliation   *Reconciliation    `json:"reconciliation,omitempty"`
	Late             *LateAnswer        `json:"late,omitempty" doc:"an answer that came after nobody waited for it any more; it decides nothing"`
	Probes           []ProbeRecord      `json:"probes,omitempty" nullable:"false"`
	Error            *StepError         `json:"error,omitempty"`
	AnsweredBy       *AnsweredBy        `json:"answeredBy,omitempty" since:"3" doc:"the answer was signed by the receiver, with this key"`
	Settlements      []SettlementRecord `json:"settlements,omitempty" nullable:"false" since:"3" doc:"what the receiver said became of the step's key, each time that it said something new"`
	Questions        int64              `json:"questions,omitempty" since:"3" doc:"how often the receiver was asked what became of the key"`
	AskedFrom        time.Time          `json:"askedFrom,omitzero" since:"3" doc:"when it was asked for the first time"`
	NextAt           time.Time          `json:"nextAt,omitzero" since:"3" doc:"when it is asked next; absent: not by itself"`
	SettledBy        *SettledBy         `json:"settledBy,omitempty" since:"3" doc:"the step ended by the receiver's own word, signed with this key"`
	WouldCheck       *WouldCheck        `json:"wouldCheck,omitempty" since:"3" doc:"of a rehearsed step with a precondition: what would be looked at"`
	Looks            []Look             `json:"looks,omitempty" nullable:"false" since:"3" doc:"the reads for its precondition, oldest first"`
	Looking          int64              `json:"looking,omitempty" since:"3" doc:"the number of the look that is under way"`
	AskedAgain       int64              `json:"askedAgain,omitempty" since:"3" doc:"how many new approvals of the present attempt were asked for since the state had changed"`
	StateDigest      string             `json:"stateDigest,omitempty" since:"3" doc:"of the state that was read before it was sent; absent for who must not see all of it"`
	MayHaveHappened  bool               `json:"mayHaveHappened,omitempty" doc:"a side effect that may have taken effect though it isn't COMPLETED: it was answered 2xx, not as expected, or a person confirmed that a sending had not been executed, which may still arrive, or the store was restored and the one that it replaces may have sent it"`
	StartedAt        time.Time          `json:"startedAt,omitzero" doc:"when the latest attempt was committed"`
	CompletedAt      time.Time          `json:"completedAt,omitzero"`
}

// Request is what is sent, byte for byte and without credentials: URL carries
// the query, Body is the exact JSON (null when there is no body).
type Request struct {
	Method string `json:"method"`
	URL    string `json:"url" doc:"absolute, with the query as it stands on the wire"`
	Query  Value  `json:"query" doc:"the query fields by name, in the order sent"`
	Body   Value  `json:"body" doc:"the exact JSON that is sent; null without a body"`

	Headers Value `json:"headers,omitzero" doc:"the project's headers, and the user of BASIC, by name; those that each call has aren't listed"`
}

// Response is what came back. The body of a 2xx answer that can be read is the output; of any
// other its beginning is kept as evidence.
type Response struct {
	StatusCode int             `json:"statusCode" doc:"0 when no status line came"`
	Bytes      ByteCount       `json:"bytes,omitzero" doc:"absent, with bodySha256, for who must not see all of the body"`
	DurationMs int64           `json:"durationMs"`
	BodySHA256 BodyDigest      `json:"bodySha256,omitzero"`
	Body       string          `json:"body,omitempty" doc:"of an answer that is no 2xx, or that can't be read: its first 4 KiB as text, credentials masked"`
	Signed     *AnswerEvidence `json:"signed,omitempty" since:"3" doc:"of an answer that the receiver signed: what shows it"`
	RetryAfter string          `json:"retryAfter,omitempty" since:"3" doc:"of an answer that is no 2xx: its Retry-After, seconds or a date of HTTP, as it was sent"`
}

// Verification is the judgement of a step's output, apart from the HTTP status
// (specification 1).
type Verification struct {
	Status     string `json:"status" enum:"PASSED,FAILED,NOT_REQUESTED,SIMULATED"`
	Field      string `json:"field,omitempty"`
	Expected   Value  `json:"expected,omitzero"`
	Actual     Value  `json:"actual,omitzero" doc:"absent when the output has no such field"`
	StatusCode int64  `json:"statusCode,omitempty" doc:"the HTTP status that was judged; absent after a reconcile"`

	Checks []ExpectationCheck `json:"checks,omitempty" nullable:"false" doc:"where the capability and the step both expect something: the judgement by each, the capability's first. The fields beside it are those of the one that isn't met, else the step's own"`
}

// ExpectationCheck is the judgement by one of several expectations.
type ExpectationCheck struct {
	Status   string `json:"status" enum:"PASSED,FAILED,SIMULATED"`
	Field    string `json:"field"`
	Expected Value  `json:"expected"`
	Actual   Value  `json:"actual,omitzero" doc:"absent when the output has no such field"`
}

// Reconciliation is what a person found out about an uncertain step.
type Reconciliation struct {
	Resolution string    `json:"resolution" enum:"CONFIRMED_COMPLETED,CONFIRMED_NOT_EXECUTED,ABANDON"`
	Evidence   string    `json:"evidence"`
	By         string    `json:"by"`
	ByName     string    `json:"byName,omitempty" doc:"a token's name or a user's"`
	At         time.Time `json:"at"`

	Differs []Discrepancy `json:"differs,omitempty" nullable:"false" since:"3" doc:"where the output contradicts what was sent"`
}

// Discrepancy is a member of an output that has the name of an input and another value.
type Discrepancy struct {
	Field string `json:"field"`
	Sent  Value  `json:"sent"`
	Found Value  `json:"found"`
}

// StatesOutput reports that the step's output is what a person said, and no answer.
func (r *Reconciliation) StatesOutput() bool { return r != nil && r.Resolution == ConfirmedCompleted }

// LateAnswer is an answer that arrived after nobody waited for it any more.
type LateAnswer struct {
	At       time.Time `json:"at"`
	Attempt  int       `json:"attempt,omitempty" doc:"the sending that it answers; absent in records of older releases"`
	Response *Response `json:"response,omitempty"`
	Output   Value     `json:"output,omitzero"`
	Error    string    `json:"error,omitempty"`
}

// ProbeRecord is one read that a reviewer sent to see what happened.
type ProbeRecord struct {
	N          int       `json:"n"`
	By         string    `json:"by"`
	ByName     string    `json:"byName,omitempty" doc:"a token's name or a user's"`
	At         time.Time `json:"at"`
	Capability string    `json:"capability"`
	Request    *Request  `json:"request,omitempty"`
	Response   *Response `json:"response,omitempty"`
	Output     Value     `json:"output,omitzero" doc:"the whole body: the probe's outputField is not applied"`
	Error      string    `json:"error,omitempty"`
}

// Unanswered reports a probe that was let out and whose answer isn't kept, yet or at all.
func (p *ProbeRecord) Unanswered() bool { return p.Response == nil && p.Error == "" }

// StepError says why a step failed or is uncertain.
type StepError struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// What the error of an unknown outcome quotes of the answer follows one of these. Whoever
// must not see the answer doesn't see what follows.
const (
	AnswerUnreadable = "answer_unreadable: "
	RedirectLeadsTo  = "redirects are not followed; its Location is "
)

// WithoutQuote is an error message without what it quotes of an answer.
func WithoutQuote(message string) string {
	for _, lead := range []string{AnswerUnreadable, RedirectLeadsTo} {
		if before, _, quotes := strings.Cut(message, lead); quotes {
			return before + lead + "…"
		}
	}
	return message
}

// What a step's error says of its last attempt is not said of its key: an earlier sending may
// still arrive. Whoever asks what became of a step asks these methods, and not its code.

// WasSent reports that a request of the step may have reached its receiver: an intent to send
// it is stored, and it isn't known that nothing left.
func (s *StepRun) WasSent() bool {
	onlyKept := s.Attempt == 1 && s.Error != nil && s.Error.Code == CodeNotSent
	return s.MayHaveHappened || s.Attempt > 0 && !onlyKept
}

// Withdrawn reports a step whose receiver has signed that no request of its key had any effect,
// and that none will.
func (s *StepRun) Withdrawn() bool {
	return (s.Status == StepFailed || s.Status == StepCancelled) && s.Error != nil && s.Error.Code == CodeWithdrawn && !s.MayHaveHappened
}

// HadEffect reports a side effect that took place, or of which nobody can say that it didn't.
func (s *StepRun) HadEffect() bool {
	if !s.SideEffect || !s.WasSent() || s.Withdrawn() {
		return false
	}
	refused := (s.Status == StepFailed || s.Status == StepCancelled) && s.Error != nil && s.Error.Code == CodeReceiverRefused
	return s.MayHaveHappened || !refused
}

// HadEffect reports that a side effect of the run took place, or may have.
func (r *Run) HadEffect() bool {
	return r.MayHaveHappened || slices.ContainsFunc(r.Steps, func(s StepRun) bool { return s.HadEffect() })
}

// Effects says what became of the side effects of a run that has ended.
type Effects string

// The effects of a run.
const (
	EffectsNone  Effects = "none"  // nothing took effect
	EffectsWhole Effects = "whole" // each step is COMPLETED
	EffectsOpen  Effects = "open"  // something took effect, or may have, and not all of it is known
)

// Effects is what the run's steps say. Of a run without steps, such as what is left of an
// archived one, nothing is known but what its own record says.
func (r *Run) Effects() Effects {
	switch {
	case !r.HadEffect() && r.Code() != CodeAbandoned:
		return EffectsNone
	case len(r.Steps) > 0 && !slices.ContainsFunc(r.Steps, func(s StepRun) bool { return s.Status != StepCompleted }):
		return EffectsWhole
	}
	return EffectsOpen
}

// NotAsExpected reports the code of a step that was answered 2xx and failed.
func (c Code) NotAsExpected() bool { return c == CodeExpectationNotMet || c == CodeOutputMissing }

// HappenedWords says in words what mayHaveHappened says of a run, "" where it doesn't.
func (r *Run) HappenedWords() string {
	if r.MayHaveHappened && !r.RestoredAt.IsZero() && !r.Code().NotAsExpected() {
		return sentElsewhere
	}
	return happenedWords(r.MayHaveHappened, r.Code())
}

// HappenedWords says in words what mayHaveHappened says of a step, "" where it doesn't.
func (s *StepRun) HappenedWords() string {
	code := Code("")
	if s.Error != nil {
		code = s.Error.Code
	}
	if s.MayHaveHappened && s.Attempt == 0 && !code.NotAsExpected() {
		return sentElsewhere // only a store that was replaced can have sent it
	}
	return happenedWords(s.MayHaveHappened, code)
}

const sentElsewhere = "the store was restored since; the one that it replaces may have sent it, and it may have taken effect"

// RestoredWords says in words what restoredAt says of a run, its approval, or what it waits for;
// "" where it is none.
func RestoredWords(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "the store was restored on " + at.UTC().Format("2006-01-02 15:04 UTC") + "; the one that it replaces may have sent this: look at the receiver before you decide"
}

func happenedWords(may bool, code Code) string {
	switch {
	case !may:
		return ""
	case code.NotAsExpected():
		return "answered, not as expected; it may have taken effect"
	}
	return "an earlier sending may still arrive; it may take effect"
}

// CancelledWords says in words what the error of a cancelled run says, and the reason of the
// approval that the system rejected with it: `cancelled: user:ada@example.com: ordered twice` has
// the code, who cancelled it and why. who words a principal. Any other text stays as it is.
func CancelledWords(reason string, who func(principal string) string) string {
	switch e := endingOf(reason); {
	case e.Code != CodeCancelled || e.Message == "":
		return reason
	case e.By != "":
		return "the run was cancelled by " + who(e.By) + ": " + e.Reason
	default:
		return strings.Replace(e.Message, "it was cancelled", "the run was cancelled", 1)
	}
}

// DecisionWords is the reason of a decision, in words where the system rejected an approval whose
// run was cancelled.
func DecisionWords(by, reason string, who func(principal string) string) string {
	if by != SystemPrincipal {
		return reason
	}
	return CancelledWords(reason, who)
}

// RunStart is the body of POST /runs.
type RunStart struct {
	PlanID string `json:"planId" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"why it is started: shown to approvers, and kept in the audit log"`
}

// ProjectRunStart is the body of POST /projects/{id}/runs: one call of one capability,
// without a model (contract 11).
type ProjectRunStart struct {
	Capability  string           `json:"capability"`
	Mode        string           `json:"mode,omitempty" enum:"DRY_RUN,LIVE" doc:"default DRY_RUN"`
	Inputs      map[string]Value `json:"inputs,omitzero" nullable:"false"`
	Expectation *Expectation     `json:"expectation,omitempty" doc:"judged besides the capability's; a LIVE run without either is counted in unverifiedSteps"`
	Reason      string           `json:"reason,omitempty" maxLength:"1000" doc:"as of POST /runs"`
}

// Resolutions of a reconcile (specification 2.11).
const (
	ConfirmedCompleted   = "CONFIRMED_COMPLETED"
	ConfirmedNotExecuted = "CONFIRMED_NOT_EXECUTED"
	Abandon              = "ABANDON"
)

// Reconcile is the body of POST /runs/{id}/reconcile.
type Reconcile struct {
	Resolution string           `json:"resolution" enum:"CONFIRMED_COMPLETED,CONFIRMED_NOT_EXECUTED,ABANDON"`
	Evidence   string           `json:"evidence" doc:"never blank"`
	Output     map[string]Value `json:"output,omitzero" nullable:"false" doc:"what the receiver answered or has: as its API gives it, or only the capability's outputField"`
}

// ProbeStart is the body of POST /runs/{id}/probe.
type ProbeStart struct {
	StepID string `json:"stepId"`
}
