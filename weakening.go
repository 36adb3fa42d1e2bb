package countersign

import "time"

// Weakening says that changes which let out what is held back today are made by several
// administrators (PUT /settings).
type Weakening struct {
	Approvals int64    `json:"approvals" minimum:"1" maximum:"3" doc:"how many administrators, besides who proposes, must approve"`
	Groups    []string `json:"groups,omitempty" null:"refused" minItems:"1" maxItems:"20" nullable:"false" doc:"every decider is a member of one of them, and each has at least one decider; absent: any administrator"`
}

// ChangeStatus is where a proposed change stands.
type ChangeStatus string

// The statuses of proposed changes.
const (
	ChangeProposed  ChangeStatus = "PROPOSED"
	ChangeApproved  ChangeStatus = "APPROVED"
	ChangeMade      ChangeStatus = "MADE"
	ChangeRejected  ChangeStatus = "REJECTED"
	ChangeWithdrawn ChangeStatus = "WITHDRAWN"
	ChangeLapsed    ChangeStatus = "LAPSED"
)

// ChangeStatuses are all of them.
var ChangeStatuses = []ChangeStatus{ChangeProposed, ChangeApproved, ChangeMade, ChangeRejected, ChangeWithdrawn, ChangeLapsed}

var changeWords = map[ChangeStatus]string{
	ChangeProposed: "waits for a decision", ChangeApproved: "approved, its proposer makes it", ChangeMade: "made",
	ChangeRejected: "rejected", ChangeWithdrawn: "withdrawn by its proposer", ChangeLapsed: "lapsed",
}

// Words say a status to people.
func (s ChangeStatus) Words() string { return changeWords[s] }

// Open reports a change that somebody may still act on.
func (s ChangeStatus) Open() bool { return s == ChangeProposed || s == ChangeApproved }

// Bounds of proposed changes.
const (
	MaxOpenChanges       = 20  // of a principal
	MaxTenantOpenChanges = 200 // of a tenant
	ChangeLife           = 24 * time.Hour
)

// ProposedChange is a change that weakens, and that several administrators decide.
type ProposedChange struct {
	ID              string             `json:"id"`
	Title           string             `json:"title" doc:"what it does, in words"`
	Operation       string             `json:"operation" doc:"as the audit log names it, such as projects.write"`
	Subject         string             `json:"subject" doc:"kind/id of what it changes"`
	Revision        int64              `json:"revision" doc:"of the subject, on which it was proposed; 0 for what is new or has none"`
	Digest          string             `json:"digest" doc:"SHA-256 of the operation, the subject, what is asked for and what stands: what a passkey signs"`
	Reason          string             `json:"reason,omitempty" doc:"the proposer's, where the operation takes one"`
	Diff            []ChangeDifference `json:"diff" nullable:"false" doc:"what weakens first"`
	ProposedBy      string             `json:"proposedBy"`
	ProposedByName  string             `json:"proposedByName,omitempty"`
	ProposedAt      time.Time          `json:"proposedAt"`
	ExpiresAt       time.Time          `json:"expiresAt" doc:"it lapses then; once approved, what its proposer has not made by then"`
	ApprovalsNeeded int64              `json:"approvalsNeeded"`
	Groups          []string           `json:"groups,omitempty" nullable:"false" doc:"every decider is a member of one of them, and each has at least one decider"`
	Decisions       []ChangeDecided    `json:"decisions" nullable:"false" doc:"oldest first"`
	Status          ChangeStatus       `json:"status"`
	EndedAt         time.Time          `json:"endedAt,omitzero"`
	EndedReason     string             `json:"endedReason,omitempty" doc:"why it lapsed or was withdrawn"`
}

// ChangeDifference is one place in which a change differs from what stands.
type ChangeDifference struct {
	Path    string `json:"path"`
	Was     Value  `json:"was,omitzero"`
	Now     Value  `json:"now,omitzero"`
	Weakens bool   `json:"weakens"`
	Text    string `json:"text" doc:"in words"`
}

// ChangeDecided is a decision that was given.
type ChangeDecided struct {
	Decision  ApprovalStatus `json:"decision" enum:"APPROVED,REJECTED"`
	By        string         `json:"by"`
	ByName    string         `json:"byName,omitempty"`
	Reason    string         `json:"reason"`
	At        time.Time      `json:"at"`
	Assertion *Assertion     `json:"assertion,omitempty"`
}

// ChangeDecision is the body of POST /changes/{id}/decision.
type ChangeDecision struct {
	Decision  ApprovalStatus `json:"decision" enum:"APPROVED,REJECTED"`
	Reason    string         `json:"reason" doc:"never blank"`
	Assertion *SignedAnswer  `json:"assertion,omitempty" doc:"a passkey's answer over this decision; where the tenant asks for one, APPROVED needs it"`
}

// ChangeWithdrawal is the body of POST /changes/{id}/withdraw, which may be left out.
type ChangeWithdrawal struct {
	Reason string `json:"reason,omitempty"`
}
