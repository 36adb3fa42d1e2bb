package countersign

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Code is the stable word in the `error` field of an answer (specification 7).
// Callers branch on it.
type Code string

// The codes of every refusal, grouped by the status they travel with.
const (
	CodeInvalidJSON            Code = "invalid_json"             // 400
	CodeInvalidRequest         Code = "invalid_request"          // 400
	CodeIdempotencyKeyRequired Code = "idempotency_key_required" // 400
	CodeOriginNotAllowed       Code = "origin_not_allowed"       // 400
	CodeCredentialNotAllowed   Code = "credential_not_allowed"   // 400
	CodeExpectationRequired    Code = "expectation_required"     // 400

	CodeUnauthenticated Code = "unauthenticated" // 401

	CodeRoleRequired Code = "role_required" // 403
	CodeProjectScope Code = "project_scope" // 403
	CodeSelfApproval Code = "self_approval" // 403
	CodeCSRF         Code = "csrf"          // 403

	CodeAssertionRequired Code = "assertion_required" // 403
	CodeAssertionInvalid  Code = "assertion_invalid"  // 403

	CodeNotFound         Code = "not_found"          // 404
	CodeMethodNotAllowed Code = "method_not_allowed" // 405

	CodeRevisionConflict    Code = "revision_conflict"     // 409
	CodeIdempotencyConflict Code = "idempotency_conflict"  // 409
	CodeSequenceConflict    Code = "sequence_conflict"     // 409
	CodeManifestConflict    Code = "manifest_conflict"     // 409
	CodeStateConflict       Code = "state_conflict"        // 409
	CodeModelInvalid        Code = "model_invalid"         // 409
	CodeProjectInUse        Code = "project_in_use"        // 409
	CodeProjectDisabled     Code = "project_disabled"      // 409
	CodePlanInvalid         Code = "plan_invalid"          // 409
	CodeHealthCheckRequired Code = "health_check_required" // 409
	CodeAgentNotAdmitted    Code = "agent_not_admitted"    // 409
	CodeApprovalExpired     Code = "approval_expired"      // 409
	CodeExpectationNotMet   Code = "expectation_not_met"   // 409
	CodeDrift               Code = "drift"                 // 409
	CodeQuotaExceeded       Code = "quota_exceeded"        // 409
	CodeChangeProposed      Code = "change_proposed"       // 409

	CodePayloadTooLarge Code = "payload_too_large" // 413
	CodeInternal        Code = "internal"          // 500
	CodeCapacity        Code = "capacity"          // 503
	CodeUnavailable     Code = "unavailable"       // 503
)

// The codes that only a step or run carries (`error.code` of a step,
// `code: message` in run.error). Drift, project_disabled, approval_expired and
// expectation_not_met are shared with the API's codes above.
const (
	CodeReceiverRefused  Code = "receiver_refused"
	CodeOutputMissing    Code = "output_missing"
	CodeNotSent          Code = "not_sent"
	CodeOutcomeUnknown   Code = "outcome_unknown"
	CodeApprovalRejected Code = "approval_rejected"
	CodeDeniedByRule     Code = "denied_by_rule"
	CodeDeniedByBudget   Code = "denied_by_budget"
	CodeCancelled        Code = "cancelled"
	CodeAbandoned        Code = "abandoned"
	CodeSetAside         Code = "set_aside"
	CodeAnswerUnsigned   Code = "answer_unsigned"
	CodeWithdrawn        Code = "withdrawn"
	CodeNotExecuted      Code = "not_executed"

	CodePreconditionFailed  Code = "precondition_failed"
	CodePreconditionUnknown Code = "precondition_unknown"
)

// RunReasons are the codes for which a run fails or is cancelled.
var RunReasons = []Code{
	CodeReceiverRefused, CodeOutputMissing, CodeExpectationNotMet, CodeNotSent, CodeOutcomeUnknown, CodeApprovalRejected, CodeApprovalExpired,
	CodeDeniedByRule, CodeDeniedByBudget, CodeDrift, CodeProjectDisabled, CodeCancelled, CodeAbandoned, CodeSetAside,
	CodeAnswerUnsigned, CodeWithdrawn, CodeNotExecuted, CodePreconditionFailed, CodePreconditionUnknown,
}

// Error is a refusal that the caller may see: its code is stable and its
// message says what is wrong, where, and what would be right. Anything that is
// not an Error is internal and is never shown.
type Error struct {
	Code    Code
	Message string

	// Problems are what the message says, each with its place: of a refusal for what is wrong with a request. Answers hold
	// the message alone.
	Problems []Problem
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is makes errors.Is(err, &Error{Code: c}) true for every error of that code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Message == "" || t.Message == e.Message)
}

// Errorf makes a refusal with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Refusal is an error that names these problems, each with its place.
func Refusal(code Code, problems ...Problem) *Error {
	return &Error{Code: code, Message: JoinProblems(problems), Problems: problems}
}

// RefusedAt is an error for one member of a request; path is where.
func RefusedAt(code Code, path, format string, args ...any) *Error {
	return Refusal(code, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Invalid is an error for one member that doesn't fit.
func Invalid(path, format string, args ...any) *Error {
	return Refusal(CodeInvalidRequest, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Each are the problems that the error names. Those of an error that was made of a text are read from it.
func (e *Error) Each() []Problem {
	if e.Problems != nil {
		return e.Problems
	}
	return ReadProblems(e.Message)
}

// ErrorCode returns the code of err, CodeInternal for an error without one and
// "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// Problem is one thing wrong with a document: where (a JSON path such as
// `steps[2].input.amount`, "" for the whole), a stable code, and words that say
// what would be right.
type Problem struct {
	Path    string `json:"path" doc:"JSON path into the document; empty for the whole"`
	Code    string `json:"code" doc:"stable word for this kind of problem"`
	Message string `json:"message" doc:"what is wrong and what would be right"`
	Witness Value  `json:"witness,omitzero" doc:"inputs that show it"`
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// JoinProblems writes all problems in one line, joined by "; ". Beyond a
// hundred it says only how many more there are.
func JoinProblems(ps []Problem) string {
	var b strings.Builder
	for i, p := range ps {
		if i == MaxProblems {
			fmt.Fprintf(&b, "; and %d more", len(ps)-MaxProblems)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.String())
	}
	return b.String()
}

var atPath = regexp.MustCompile(`^([^\s:]+): (.*)$`)

// ReadProblems reads what JoinProblems has written, where only that is at hand: of a plan's reasons, or a refusal that came
// as text. Text without a path belongs to the problem before it.
func ReadProblems(text string) (ps []Problem) {
	for part := range strings.SplitSeq(text, "; ") {
		found := atPath.FindStringSubmatch(part)
		switch {
		case found != nil:
			ps = append(ps, Problem{Path: found[1], Message: found[2]})
		case len(ps) > 0:
			ps[len(ps)-1].Message += "; " + part
		default:
			ps = append(ps, Problem{Message: part})
		}
	}
	return ps
}
