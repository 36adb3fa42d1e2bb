package countersign

import "time"

// What an approval rule answers, by severity.
const (
	RuleAllow = "ALLOW"
	RuleAsk   = "ASK"
	RuleDeny  = "DENY"
)

// WouldBeDenied is what a rehearsed step says that a rule denies; one that would be asked
// for or let out says RuleAsk or RuleAllow.
const WouldBeDenied = "DENIED"

// ApprovalRule decides, by what will be sent, whether a request of a capability is let out,
// asked for or denied. Of the rules that hold the severest wins; where none holds, the
// capability's approval decides.
type ApprovalRule struct {
	When      Condition `json:"when" doc:"over the inputs as they will be sent; variableId is an input, a dotted path leads deeper"`
	Then      string    `json:"then" enum:"ALLOW,ASK,DENY"`
	Approvals int64     `json:"approvals,omitempty" minimum:"1" maximum:"5" doc:"how many different deciders must approve; default 1"`
	Groups    []string  `json:"groups,omitempty" null:"refused" nullable:"false" maxItems:"10" doc:"every decider is a member of one of them, and each has at least one decider"`
	Reason    string    `json:"reason" doc:"why, for those who are asked or denied; never blank"`

	Escalate *Escalate `json:"escalate,omitempty" doc:"who may decide in place of the groups when nobody has for a while"`
}

// Escalate names groups whose members may decide in place of a rule's groups once an
// approval has waited for a while. An approval that nobody decides expires all the same.
type Escalate struct {
	After  string   `json:"after" doc:"a Go duration, 1s to 720h, since the approval was asked for"`
	Groups []string `json:"groups" nullable:"false" minItems:"1" maxItems:"10"`
}

// Bounds of how long an approval waits before it escalates.
const (
	MinEscalateAfter = time.Second
	MaxEscalateAfter = 720 * time.Hour
)

// Wait is how long an approval waits, 0 for what can't be read.
func (e Escalate) Wait() time.Duration {
	d, err := time.ParseDuration(e.After)
	if err != nil {
		return 0
	}
	return d
}

// Escalation says from when members of some groups may decide an approval in place of
// others.
type Escalation struct {
	At     time.Time `json:"at"`
	Groups []string  `json:"groups" nullable:"false" doc:"whose members may decide from then on"`
	For    []string  `json:"for" nullable:"false" doc:"the approval's groups for which they decide"`
}

// Group names users who decide approvals together.
type Group struct {
	ID        string    `json:"id"`
	Revision  int64     `json:"revision" doc:"1 on create, one more on each update"`
	Name      string    `json:"name"`
	Members   []string  `json:"members" nullable:"false" doc:"e-mail addresses of users of the tenant"`
	Claim     string    `json:"claim,omitempty" doc:"name=value of a claim of the identity provider; whoever signed in with it last is a member too"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// GroupWrite is the body of PUT /groups/{id}. The server's fields are accepted and ignored.
type GroupWrite struct {
	Name             string   `json:"name" minLength:"1"`
	Members          []string `json:"members" nullable:"false" maxItems:"200" doc:"e-mail addresses of users of the tenant"`
	Claim            string   `json:"claim,omitempty" doc:"name=value of a claim of the identity provider, such as groups=finance"`
	ExpectedRevision int64    `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 creates; else the current revision"`

	ID        Value `json:"id,omitzero" doc:"ignored"`
	Revision  Value `json:"revision,omitzero" doc:"ignored"`
	CreatedAt Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt Value `json:"updatedAt,omitzero" doc:"ignored"`
}

// How a decision may come.
const (
	DoorConsole = "console"
	DoorAPI     = "api"
	DoorMCP     = "mcp" // chat services are named by themselves
)

// GivenDecision is one decision on an approval.
type GivenDecision struct {
	Decision ApprovalStatus `json:"decision" enum:"APPROVED,REJECTED"`
	By       string         `json:"by"`
	ByName   string         `json:"byName,omitempty" doc:"a token's name, a user's or an agent's"`
	ByMakers []string       `json:"byMakers,omitempty" nullable:"false" doc:"who made the token that decided, and who made that one, nearest first"`
	Groups   []string       `json:"groups,omitempty" nullable:"false" doc:"the approval's groups that it was given for"`
	Reason   string         `json:"reason"`
	Via      string         `json:"via,omitempty" since:"3" doc:"how it came: console, api, slack, mcp or, by later releases, others; absent in receipts, for what the service decided itself and in records of older releases"`
	At       time.Time      `json:"at"`

	OnBehalfOf []string `json:"onBehalfOf,omitempty" nullable:"false" doc:"users who were away and in whose place it was given: their delegate decided as themself"`
	Escalated  []string `json:"escalated,omitempty" nullable:"false" doc:"groups that it was given as a member of, since the approval's own had not decided in time"`

	Assertion *Assertion `json:"assertion,omitempty" doc:"the passkey's answer over this decision; left out with the digest for who must not see all of the request"`

	StateDigest string `json:"stateDigest,omitempty" since:"3" doc:"of the state that it was given on; one on another state than the approval's doesn't count. Left out with the approval's"`

	Left bool `json:"left,omitempty" doc:"its decider may not decide it any more: removed, without the role, the project or the groups, or with a token that has ended; or it was given on another state; it came before enough had approved, so it doesn't count"`
}
