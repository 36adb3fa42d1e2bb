package records

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Spending is what steps have used of the budgets of a capability or an agent: a queue of
// entries, and for each budget a tally of the newest of them. It is kept by tenant. Each step
// reads and writes this record alone: the newest entries stand in it until they fill a part.
type Spending struct {
	Next    int64     `json:"next"`  // the number of the next entry
	First   int64     `json:"first"` // the oldest part that is kept
	LastAt  time.Time `json:"lastAt,omitzero"`
	Tallies Tallies   `json:"tallies"`
	// Open are those after the last whole part, each a Spent as it is written: a step adds
	// one, and copies the others.
	Open []countersign.Value `json:"open,omitempty"`
	// Back are the times at which the clock turned out to have been ahead, in their order, both
	// of numbers and times.
	Back []ClockBack `json:"back,omitempty"`
}

// ClockBack says that the entries before a number were sent at this time at the latest, whatever
// the clock said then.
type ClockBack struct {
	Before int64     `json:"before"`
	At     time.Time `json:"at"`
}

// Tallies are those of a record, each with another key, sorted by it. They are written as an
// object.
type Tallies []Tally

// Tally counts the entries from Tail on: those within a budget's window when it was moved
// last.
type Tally struct {
	Key    string    `json:"-"` // what the budget measures
	Tail   int64     `json:"tail"`
	At     time.Time `json:"at,omitzero"` // of the entry Tail, if there is one
	Count  int64     `json:"count"`
	Sum    string    `json:"sum"` // a fraction
	Beyond int64     `json:"beyond,omitempty"`
}

// SpentPart is some entries of a Spending, in their order. It changes only where one is void.
type SpentPart struct {
	Entries []Spent `json:"entries"`
}

// SpentPerPart is how many entries a part holds.
const SpentPerPart = 8

// Spent is one step, counted at its last intent to send.
type Spent struct {
	At      time.Time         `json:"at"`
	Step    string            `json:"step"`              // run/step
	Amounts map[string]string `json:"amounts,omitempty"` // by input: a number, or SpentBeyond
	Void    bool              `json:"void,omitempty"`    // the step was sent again, and counts there, or never left
	Digest  string            `json:"digest,omitempty"`  // of its request, where a SentRequest of an earlier release names the step
}

// SentKey is what a step that budgets let out without an approval is found by: who is asked
// to approve the same request finds it. Steps with approvals are found by these. It orders
// the steps of one digest by time. It has half of the digest, since each step writes it three
// times: a reader compares the step's own.
func SentKey(digest string, at time.Time) string {
	return half(digest) + fmt.Sprintf("/%016x", at.UnixMicro())
}

func half(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 32)]
}

// SentSince are the SentKeys between which those since a time stand.
func SentSince(digest string, at time.Time) (first, last string) {
	return SentKey(digest, at), half(digest) + "0" // '0' follows '/'
}

// SentAt is the time of a SentKey.
func SentAt(key string) time.Time {
	micros, _ := strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 16, 64)
	return time.UnixMicro(micros).UTC()
}

// SentRequest is what earlier releases wrote in place of a step's SentKey: it names the step.
// It is kept by tenant, as long as the step's entry, whose Digest says that there is one.
type SentRequest struct {
	RunID  string    `json:"runId"`
	StepID string    `json:"stepId"`
	At     time.Time `json:"at"`
}

// SentRequests share a table with what else is known of a tenant.
var SentRequests = store.Collection[SentRequest]{Table: store.Meta}

// SentRequestID orders the steps of one digest by time.
func SentRequestID(digest string, at time.Time, step string) string {
	return fmt.Sprintf("sent/%s/%020d/%s", digest, at.UnixMicro(), step)
}

// SentRequestsSince are the ids between which those since a time stand.
func SentRequestsSince(digest string, at time.Time) (first, last string) {
	return fmt.Sprintf("sent/%s/%020d", digest, at.UnixMicro()), "sent/" + digest + "0" // '0' follows '/'
}

// SpentLife is how long an entry is kept: longer than any window, and as long as the same
// request is looked for.
const SpentLife = 90 * 24 * time.Hour

// SpentBeyond is the amount of what can't be added.
const SpentBeyond = "beyond"

// SpentParts share a table with what else is known of a tenant, Spendings too.
var SpentParts = store.Collection[SpentPart]{Table: store.Meta}

// SpendingOfCapability is the id of what a capability's steps have used. "/" is no
// character of a project's id.
func SpendingOfCapability(projectID, capability string) string {
	return "spent/capability/" + projectID + "/" + capability
}

// SpendingOfAgent is the id of what an agent's steps have used.
func SpendingOfAgent(agentID string) string { return "spent/agent/" + agentID }

// SpentPartID is the id of a part. A capability's name may hold any character, so the part
// stands before it.
func SpentPartID(spending string, part int64) string {
	return fmt.Sprintf("spentpart/%012d/%s", part, spending)
}
