package countersign

import "time"

// ApprovalStatus is the state of an approval; it is decided once.
type ApprovalStatus string

// The approval statuses, which are also the two decisions.
const (
	ApprovalPending  ApprovalStatus = "PENDING"
	ApprovalApproved ApprovalStatus = "APPROVED"
	ApprovalRejected ApprovalStatus = "REJECTED"
)

// Approval asks a person to let one request out (specification 2.12, contract
// 6). Request is what will be sent, byte for byte, and RequestDigest its digest,
// computed anew just before the connection is opened.
type Approval struct {
	ID             string           `json:"id"`
	RunID          string           `json:"runId"`
	StepID         string           `json:"stepId"`
	Status         ApprovalStatus   `json:"status" enum:"PENDING,APPROVED,REJECTED"`
	PlanID         string           `json:"planId"`
	ProjectID      string           `json:"projectId"`
	Capability     string           `json:"capability"`
	Attempt        int              `json:"attempt" doc:"which attempt of the step it lets out"`
	InputSnapshot  map[string]Value `json:"inputSnapshot" nullable:"false"`
	Request        Request          `json:"request"`
	RequestDigest  string           `json:"requestDigest,omitempty" doc:"absent for who must not see all of the request"`
	RequestedBy    string           `json:"requestedBy" doc:"who asked for the run"`
	RequestedAt    time.Time        `json:"requestedAt"`
	ExpiresAt      time.Time        `json:"expiresAt"`
	DecidedAt      time.Time        `json:"decidedAt,omitzero"`
	DecidedBy      string           `json:"decidedBy,omitempty"`
	DecisionReason string           `json:"decisionReason,omitempty"`

	RequestedByMakers []string `json:"requestedByMakers,omitempty" nullable:"false" doc:"who made the token that asked, and who made that one, nearest first, up to a user or the bootstrap token"`
	DecidedByMakers   []string `json:"decidedByMakers,omitempty" nullable:"false" doc:"the same of who decided"`
	SharedMaker       bool     `json:"sharedMaker,omitempty" doc:"both go back to one maker: one person may have moved both"`
}

// Decision is the body of POST /approvals/{id}/decision.
type Decision struct {
	Decision ApprovalStatus `json:"decision" enum:"APPROVED,REJECTED"`
	Reason   string         `json:"reason" doc:"never blank"`
}
