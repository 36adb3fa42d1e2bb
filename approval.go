package countersign

import "time"

// ApprovalStatus is the state of an approval. It is PENDING until enough have approved or
// one has rejected it, and then stays so.
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
	ID              string           `json:"id"`
	RunID           string           `json:"runId"`
	StepID          string           `json:"stepId"`
	Status          ApprovalStatus   `json:"status" enum:"PENDING,APPROVED,REJECTED"`
	PlanID          string           `json:"planId"`
	ProjectID       string           `json:"projectId"`
	Capability      string           `json:"capability"`
	Attempt         int              `json:"attempt" doc:"which attempt of the step it lets out"`
	Title           string           `json:"title,omitempty" doc:"the capability's title, filled from what will be sent"`
	InputSnapshot   map[string]Value `json:"inputSnapshot" nullable:"false"`
	Request         Request          `json:"request"`
	RequestDigest   string           `json:"requestDigest,omitempty" doc:"absent for who must not see all of the request"`
	StateDigest     string           `json:"stateDigest,omitempty" since:"3" doc:"of state: SHA-256 of the canonical form of its capability and fields; absent for who must not see all of it"`
	State           *State           `json:"state,omitempty" since:"3" doc:"where the capability has a precondition: what was read before it was asked for, or when a reviewer looked again. It is read once more before anything is sent"`
	Changed         []StateChange    `json:"changed,omitempty" nullable:"false" since:"3" doc:"what of the state is no longer as it was in the approval before"`
	AskedAgain      int64            `json:"askedAgain,omitempty" since:"3" doc:"1 or 2: how many times it was asked for anew in this attempt since the state had changed; after the second the step fails instead"`
	PreviousID      string           `json:"previousApprovalId,omitempty" since:"3" doc:"the approval that it takes the place of"`
	Superseded      bool             `json:"superseded,omitempty" since:"3" doc:"true: another one was asked for in its place; it lets nothing out any more, whatever the state is later"`
	Expectation     Value            `json:"expectation,omitzero" doc:"what will judge the answer: an Expectation, or an array of several that must all hold"`
	Sources         []InputSource    `json:"sources,omitempty" nullable:"false" doc:"where inputs come from that an earlier step answered"`
	Same            []SameRequest    `json:"same,omitempty" nullable:"false" doc:"up to 10 other LIVE runs of the last 90 days with the same request, newest first; lists leave it out"`
	RunReason       string           `json:"runReason,omitempty" doc:"why the run was started, in the words of who started it"`
	AgentWords      *AgentWords      `json:"agentWords,omitempty" doc:"what the agent said of its call over MCP; nobody has checked it"`
	RequestedBy     string           `json:"requestedBy" doc:"who asked for the run"`
	RequestedByName string           `json:"requestedByName,omitempty" doc:"a token's name, a user's or an agent's"`
	Identity        *Identity        `json:"identity,omitempty" since:"3" doc:"the run's"`
	OnBehalfOf      *OnBehalfOf      `json:"onBehalfOf,omitempty" since:"3" doc:"the run's: for whom the agent asked"`
	BehindUnknown   bool             `json:"behindUnknown,omitempty" since:"3" doc:"no user that this service knows is the person for whom the agent asked, so that it can't say who that is"`
	RequestedAt     time.Time        `json:"requestedAt"`
	ExpiresAt       time.Time        `json:"expiresAt"`
	RestoredAt      time.Time        `json:"restoredAt,omitzero" since:"3" doc:"the run's: the request may have been sent by the store that this one replaces"`
	OpenAlike       []string         `json:"openAlike,omitempty" nullable:"false" since:"3" doc:"up to 10 runs with the same capability and the same inputs or title whose outcome nobody knows: this one could do it twice"`
	AskedAgainAfter string           `json:"askedAgainAfter,omitempty" since:"3" doc:"of a call over MCP: the latest approval of the same capability, with the same inputs or title, that a person rejected within 24 hours before"`
	DecidedAt       time.Time        `json:"decidedAt,omitzero"`
	DecidedBy       string           `json:"decidedBy,omitempty"`
	DecidedByName   string           `json:"decidedByName,omitempty" doc:"a token's name, a user's or an agent's"`
	DecisionReason  string           `json:"decisionReason,omitempty"`
	SuggestedInput  map[string]Value `json:"suggestedInput,omitzero" nullable:"false" doc:"what who rejected it would approve instead, as inputs of the capability; a run with them is a new run with its own approval"`

	Usual           *Usual           `json:"usual,omitempty" since:"3" doc:"what is usually approved of this capability; absent where there is too little, or it is hidden from you; lists leave it out"`
	RequesterRecord *RequesterRecord `json:"requesterRecord,omitempty" since:"3" doc:"what became of earlier runs of the agent, or of the token that asked; absent where there is too little; lists leave it out"`
	SuggestedFrom   *SuggestedFrom   `json:"suggestedFrom,omitempty" since:"3" doc:"the latest rejection with a suggestion of these very inputs, of the 90 days before; lists leave it out"`

	Decisions       []GivenDecision `json:"decisions,omitempty" nullable:"false" doc:"oldest first; decidedBy is who gave the last"`
	ApprovalsNeeded int64           `json:"approvalsNeeded,omitempty" doc:"how many different deciders must approve; absent in records of older releases, which needed one"`
	Groups          []string        `json:"groups,omitempty" nullable:"false" doc:"every decider is a member of one of them, and each has at least one decider"`
	Escalations     []Escalation    `json:"escalations,omitempty" nullable:"false" doc:"who may decide in place of the groups, and from when"`
	Reasons         []string        `json:"reasons,omitempty" nullable:"false" doc:"of the rules and budgets that ask, or that the same call is open"`

	DecisionAssertion string `json:"decisionAssertion,omitempty" enum:"PASSKEY" doc:"each approval of it must be signed with a passkey: the tenant asked for that when it was asked for"`

	RequestedByMakers []string `json:"requestedByMakers,omitempty" nullable:"false" doc:"who made the token that asked, or the sign-in link of the session that did, and who made that one, nearest first, up to a user or the bootstrap token"`
	DecidedByMakers   []string `json:"decidedByMakers,omitempty" nullable:"false" doc:"the same of who decided"`
	SharedMaker       bool     `json:"sharedMaker,omitempty" doc:"both go back to one maker: one person may have moved both"`

	RedactedAt time.Time `json:"redactedAt,omitzero" since:"3" doc:"when what its run held was removed"`
}

// Needed is how many different deciders must approve.
func (a *Approval) Needed() int { return max(1, int(a.ApprovalsNeeded)) }

// InputSource says which step's answer an input was bound from.
type InputSource struct {
	Input    string `json:"input"`
	StepID   string `json:"stepId"`
	Field    string `json:"field"`
	Verified bool   `json:"verified" doc:"the step's answer was judged, and was what was expected"`
}

// SameRequest is a step of another run with the same request.
type SameRequest struct {
	RunID  string     `json:"runId"`
	StepID string     `json:"stepId"`
	Status StepStatus `json:"status" enum:"PENDING,WAITING_APPROVAL,RUNNING,COMPLETED,SIMULATED,FAILED,RECOVERY_REQUIRED,ABANDONED,CANCELLED,SKIPPED"`
	At     time.Time  `json:"at" doc:"when its approval was asked for, or without one when it was sent"`
}

// MaxTitle is how many characters a filled title has at most.
const MaxTitle = 200

// Decision is the body of POST /approvals/{id}/decision.
type Decision struct {
	Decision ApprovalStatus `json:"decision" enum:"APPROVED,REJECTED"`
	Reason   string         `json:"reason" doc:"never blank"`

	SuggestedInput map[string]Value `json:"suggestedInput,omitzero" nullable:"false" doc:"with REJECTED only: the inputs that would be approved, which must fit the capability"`
	RequestDigest  string           `json:"requestDigest,omitempty" since:"3" doc:"of the request that whoever decides has seen: must be the approval's"`
	StateDigest    string           `json:"stateDigest,omitempty" since:"3" doc:"of the state that whoever decides has seen: must be the approval's"`
	Assertion      *SignedAnswer    `json:"assertion,omitempty" doc:"a passkey's answer over this decision; where the approval or the tenant asks for one, APPROVED needs it"`
}
