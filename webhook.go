package countersign

import "time"

// WebhookTimeout is how long a webhook has for its answer.
const WebhookTimeout = 10 * time.Second

// The events that a webhook can be told of.
const (
	EventApprovalRequested   = "approval.requested"
	EventApprovalLapsing     = "approval.lapsing"
	EventRunRecoveryRequired = "run.recovery_required"
	EventRunEnded            = "run.ended"
	EventStopped             = "live.stopped"
	EventGoing               = "live.going"
	EventAuditRewound        = "audit_rewound"
	EventTokenLapsing        = "token.lapsing"
	EventChangeProposed      = "change.proposed"
	EventChangeApproved      = "change.approved"
	EventChangeEnded         = "change.ended"
)

// Event is an event in words.
type Event struct{ Name, Title, Note string }

// Events are all of them, as forms offer them.
var Events = []Event{
	{EventApprovalRequested, "Approval requested", "A LIVE step waits for a decision."},
	{EventApprovalLapsing, "Approval expires soon", "Nobody has decided, and the time is almost over."},
	{EventRunRecoveryRequired, "Recovery required", "Nobody knows whether a step took effect."},
	{EventRunEnded, "Run ended", "It completed, failed or was cancelled. Rehearsals are included."},
	{EventStopped, "LIVE steps stopped", "An administrator stopped all LIVE steps."},
	{EventGoing, "LIVE steps resumed", "An administrator lifted the stop."},
	{EventAuditRewound, "Audit log rewound", "The audit log is not what a witness has cosigned: it was cut off, or told anew."},
	{EventTokenLapsing, "Token ends soon", "Within two weeks, or a quarter of its life if that is shorter, something needs another token."},
	{EventChangeProposed, "Change proposed", "What weakens a gate waits for other administrators."},
	{EventChangeApproved, "Change approved", "A token or a link is approved, and its proposer can make it."},
	{EventChangeEnded, "Change ended", "It was made, rejected or withdrawn, or it lapsed."},
}

// WebhookEvents are the names of all of them.
var WebhookEvents = namesOf(Events)

func namesOf(events []Event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.Name
	}
	return names
}

// Webhook is where a tenant is told that something happened, and how that went. What
// it is told is a hint to go and look, never the truth itself.
type Webhook struct {
	ID         string   `json:"id"`
	Revision   int64    `json:"revision" doc:"1 on create, one more on each update"`
	URL        string   `json:"url"`
	Events     []string `json:"events" nullable:"false" enum:"approval.requested,approval.lapsing,run.recovery_required,run.ended,live.stopped,live.going,audit_rewound,token.lapsing,change.proposed,change.approved,change.ended"`
	SecretEnv  string   `json:"secretEnv" doc:"the server's variable that holds the signing secret"`
	ProjectIDs []string `json:"projectIds,omitempty" nullable:"false" doc:"absent: all projects of the tenant"`
	Enabled    bool     `json:"enabled"`

	Pending         int       `json:"pending" doc:"notifications that are tried, at most 64 at once; later ones wait in the audit log"`
	Dropped         int64     `json:"dropped" doc:"notifications given up after their last try"`
	LastSuccessAt   time.Time `json:"lastSuccessAt,omitzero"`
	LastErrorAt     time.Time `json:"lastErrorAt,omitzero"`
	LastError       string    `json:"lastError,omitempty"`
	CreatedAt       time.Time `json:"createdAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	SecretIsMissing bool      `json:"secretIsMissing,omitempty" doc:"the variable isn't set, so nothing can be sent"`
}

// WebhookWrite is the body of PUT /webhooks/{id}. The server's fields are accepted
// and ignored.
type WebhookWrite struct {
	URL              string   `json:"url" minLength:"1" doc:"its origin must be on the server's list SVC_PLATFORM_NOTIFY_ORIGINS"`
	Events           []string `json:"events" minItems:"1" nullable:"false" enum:"approval.requested,approval.lapsing,run.recovery_required,run.ended,live.stopped,live.going,audit_rewound,token.lapsing,change.proposed,change.approved,change.ended"`
	SecretEnv        string   `json:"secretEnv" minLength:"1" doc:"a variable on the server's list of signing or credential variables"`
	ProjectIDs       []string `json:"projectIds,omitempty" null:"refused" minItems:"1" maxItems:"200" nullable:"false" doc:"absent: all projects of the tenant"`
	Enabled          *bool    `json:"enabled,omitempty" nullable:"false" doc:"default true"`
	ExpectedRevision int64    `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 creates; else the current revision"`

	ID              Value `json:"id,omitzero" doc:"ignored"`
	Revision        Value `json:"revision,omitzero" doc:"ignored"`
	Pending         Value `json:"pending,omitzero" doc:"ignored"`
	Dropped         Value `json:"dropped,omitzero" doc:"ignored"`
	LastSuccessAt   Value `json:"lastSuccessAt,omitzero" doc:"ignored"`
	LastErrorAt     Value `json:"lastErrorAt,omitzero" doc:"ignored"`
	LastError       Value `json:"lastError,omitzero" doc:"ignored"`
	CreatedAt       Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt       Value `json:"updatedAt,omitzero" doc:"ignored"`
	SecretIsMissing Value `json:"secretIsMissing,omitzero" doc:"ignored"`
}

// Notification is the body of what a webhook is sent: ids, states and a link, and
// nothing of what was asked or answered.
type Notification struct {
	Type      string           `json:"type"`
	Timestamp time.Time        `json:"timestamp"` // when it happened
	Data      NotificationData `json:"data"`
}

// NotificationData says what to look at.
type NotificationData struct {
	TenantID        string `json:"tenantId"`
	RunID           string `json:"runId,omitempty"`
	PlanID          string `json:"planId,omitempty"`
	Status          string `json:"status"`                    // the run's, when it happened; STOPPED or GOING of the tenant, audit_rewound of its log, LAPSING of a token; the change's
	MayHaveHappened bool   `json:"mayHaveHappened,omitempty"` // it FAILED at a side effect that was answered, not as expected
	Mode            string `json:"mode,omitempty"`
	StepID          string `json:"stepId,omitempty"`
	ApprovalID      string `json:"approvalId,omitempty"`
	ProjectID       string `json:"projectId,omitempty"` // the step's
	Link            string `json:"link"`                // to the console

	Witness string `json:"witness,omitempty"` // the name of that which has cosigned what the audit log is not any more
	TokenID string `json:"tokenId,omitempty"` // of a token that ends soon

	ChangeID string `json:"changeId,omitempty"` // of what is proposed
}
