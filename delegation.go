package countersign

import "time"

// MaxDelegation is how long a delegation lasts at most.
const MaxDelegation = 90 * 24 * time.Hour

// Delegation lets another user decide approvals in place of one who is away: for the groups
// of who is away, while these could decide themselves. The delegate decides as themself and
// needs a role and projects of their own; delegations don't add up to chains.
type Delegation struct {
	User          string    `json:"user" doc:"who is away: the e-mail address of a user of the tenant"`
	Delegate      string    `json:"delegate" doc:"who decides instead: the e-mail address of a user of the tenant"`
	From          time.Time `json:"from"`
	Until         time.Time `json:"until"`
	Reason        string    `json:"reason"`
	CreatedBy     string    `json:"createdBy"`
	CreatedByName string    `json:"createdByName,omitempty" since:"3" doc:"a token's name, or a user's"`
	CreatedAt     time.Time `json:"createdAt"`
}

// Holds reports a delegation that is in force.
func (d Delegation) Holds(now time.Time) bool { return !now.Before(d.From) && now.Before(d.Until) }

// DelegationWrite is the body of PUT /delegations/{email}. The server's fields are accepted
// and ignored.
type DelegationWrite struct {
	Delegate string    `json:"delegate" doc:"who decides instead: the e-mail address of a user of the tenant with the role APPROVER"`
	From     time.Time `json:"from,omitzero" doc:"default: now"`
	Until    time.Time `json:"until" doc:"after from, by 90 days at most"`
	Reason   string    `json:"reason" doc:"never blank"`

	User      Value `json:"user,omitzero" doc:"ignored"`
	CreatedBy Value `json:"createdBy,omitzero" doc:"ignored"`
	CreatedAt Value `json:"createdAt,omitzero" doc:"ignored"`
}
