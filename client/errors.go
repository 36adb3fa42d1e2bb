package client

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/countersign/countersign"
)

// One error for every code of a refusal (contract 2), for errors.Is.
var (
	ErrInvalidJSON            = refusal(countersign.CodeInvalidJSON)
	ErrInvalidRequest         = refusal(countersign.CodeInvalidRequest)
	ErrIdempotencyKeyRequired = refusal(countersign.CodeIdempotencyKeyRequired)
	ErrOriginNotAllowed       = refusal(countersign.CodeOriginNotAllowed)
	ErrCredentialNotAllowed   = refusal(countersign.CodeCredentialNotAllowed)
	ErrExpectationRequired    = refusal(countersign.CodeExpectationRequired)
	ErrUnauthenticated        = refusal(countersign.CodeUnauthenticated)
	ErrRoleRequired           = refusal(countersign.CodeRoleRequired)
	ErrProjectScope           = refusal(countersign.CodeProjectScope)
	ErrSelfApproval           = refusal(countersign.CodeSelfApproval)
	ErrAssertionRequired      = refusal(countersign.CodeAssertionRequired)
	ErrAssertionInvalid       = refusal(countersign.CodeAssertionInvalid)
	ErrCSRF                   = refusal(countersign.CodeCSRF)
	ErrNotFound               = refusal(countersign.CodeNotFound)
	ErrMethodNotAllowed       = refusal(countersign.CodeMethodNotAllowed)
	ErrRevisionConflict       = refusal(countersign.CodeRevisionConflict)
	ErrIdempotencyConflict    = refusal(countersign.CodeIdempotencyConflict)
	ErrSequenceConflict       = refusal(countersign.CodeSequenceConflict)
	ErrManifestConflict       = refusal(countersign.CodeManifestConflict)
	ErrStateConflict          = refusal(countersign.CodeStateConflict)
	ErrModelInvalid           = refusal(countersign.CodeModelInvalid)
	ErrProjectInUse           = refusal(countersign.CodeProjectInUse)
	ErrProjectDisabled        = refusal(countersign.CodeProjectDisabled)
	ErrPlanInvalid            = refusal(countersign.CodePlanInvalid)
	ErrHealthCheckRequired    = refusal(countersign.CodeHealthCheckRequired)
	ErrAgentNotAdmitted       = refusal(countersign.CodeAgentNotAdmitted)
	ErrApprovalExpired        = refusal(countersign.CodeApprovalExpired)
	ErrExpectationNotMet      = refusal(countersign.CodeExpectationNotMet)
	ErrDrift                  = refusal(countersign.CodeDrift)
	ErrQuotaExceeded          = refusal(countersign.CodeQuotaExceeded)
	ErrChangeProposed         = refusal(countersign.CodeChangeProposed)
	ErrPayloadTooLarge        = refusal(countersign.CodePayloadTooLarge)
	ErrInternal               = refusal(countersign.CodeInternal)
	ErrCapacity               = refusal(countersign.CodeCapacity)
	ErrUnavailable            = refusal(countersign.CodeUnavailable)
)

func refusal(code countersign.Code) error { return &countersign.Error{Code: code} }

// Error is a refusal of the service. It wraps a [countersign.Error] with the same code.
type Error struct {
	Status         int // HTTP status
	Code           countersign.Code
	Message        string
	RequestID      string // quote it when you ask the operator
	IdempotencyKey string // the key of a run start
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the error as a [countersign.Error].
func (e *Error) Unwrap() error { return &countersign.Error{Code: e.Code, Message: e.Message} }

// ConnectionError says that no complete answer came, so it is not known whether the request was
// carried out. After a run start, repeat it with IdempotencyKey to find out.
type ConnectionError struct {
	Method, Path   string
	IdempotencyKey string
	Err            error
}

func (e *ConnectionError) Error() string { return fmt.Sprintf("%s %s: %v", e.Method, e.Path, e.Err) }
func (e *ConnectionError) Unwrap() error { return e.Err }

// refusalOf reads the Error body of an answer (specification 2.1). An answer without one does not
// come from the service, but for example from a proxy.
func refusalOf(q Request, a *Response) error {
	var body struct {
		Error     countersign.Code `json:"error"`
		Message   string           `json:"message"`
		RequestID string           `json:"requestId"`
	}
	if json.Unmarshal(a.Body, &body) != nil || body.Error == "" {
		return &ConnectionError{Method: q.Method, Path: q.Path, IdempotencyKey: q.IdempotencyKey,
			Err: fmt.Errorf("status %d %s without the service's Error body; is this its address?", a.Status, http.StatusText(a.Status))}
	}
	return &Error{Status: a.Status, Code: body.Error, Message: body.Message, RequestID: body.RequestID, IdempotencyKey: q.IdempotencyKey}
}
