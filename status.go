package countersign

import "maps"

// statuses is the one table from code to HTTP status (contract 2).
var statuses = map[Code]int{
	CodeInvalidJSON: 400, CodeInvalidRequest: 400, CodeIdempotencyKeyRequired: 400,
	CodeOriginNotAllowed: 400, CodeCredentialNotAllowed: 400, CodeExpectationRequired: 400,
	CodeUnauthenticated: 401,
	CodeRoleRequired:    403, CodeProjectScope: 403, CodeSelfApproval: 403, CodeCSRF: 403,
	CodeAssertionRequired: 403, CodeAssertionInvalid: 403,
	CodeNotFound:         404,
	CodeMethodNotAllowed: 405,
	CodeRevisionConflict: 409, CodeIdempotencyConflict: 409, CodeSequenceConflict: 409,
	CodeManifestConflict: 409, CodeStateConflict: 409, CodeModelInvalid: 409,
	CodeProjectInUse: 409, CodeProjectDisabled: 409, CodePlanInvalid: 409,
	CodeHealthCheckRequired: 409, CodeAgentNotAdmitted: 409, CodeApprovalExpired: 409,
	CodeExpectationNotMet: 409, CodeDrift: 409, CodeQuotaExceeded: 409, CodeChangeProposed: 409,
	CodePayloadTooLarge: 413,
	CodeInternal:        500,
	CodeCapacity:        503, CodeUnavailable: 503,
}

// Status is the HTTP status that a code travels with, 0 for a code that only a
// step or run carries.
func (c Code) Status() int { return statuses[c] }

// Audited reports a code of which the audit log keeps each refused write (contract 9): every 403 and 409.
func (c Code) Audited() bool {
	return c.Status() == 403 || c.Status() == 409
}

// Statuses returns the status of every code that an answer may have.
func Statuses() map[Code]int { return maps.Clone(statuses) }
