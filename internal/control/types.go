package control

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/agents"
	"github.com/countersign/countersign/internal/control/approvals"
	"github.com/countersign/countersign/internal/control/changes"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/evidence"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/projects"
	"github.com/countersign/countersign/internal/control/runs"
	"github.com/countersign/countersign/internal/control/signin"
	"github.com/countersign/countersign/internal/control/storewide"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/store"
)

// What callers name of the rooms.

// ProposedError is the refusal of a request that is proposed instead of made.
type ProposedError = changes.ProposedError

// Actor is a principal making one request.
type Actor = core.Actor

// Config holds the settings of the use cases and what they depend on.
type Config = core.Config

// ErrTooMany refuses an attempt beyond a limit on signing in.
var ErrTooMany = core.ErrTooMany

// Watched is a run that a client follows.
type Watched = runs.Watched

// OpenCallError is the refusal of a call because a run of the same call is open.
type OpenCallError = runs.OpenCallError

// List is the requested page of a list.
type List = core.List

// Masks reports whether sensitive fields are masked for the actor, whose only role is VIEWER then.
func Masks(a Actor) bool { return core.Masks(a) }

// Issuers judges tokens of the identity providers that the operator has listed.
type Issuers = core.Issuers

// Postbox sends a mail to one address.
type Postbox = core.Postbox

// Prober sends the two kinds of request that belong to no step: health checks and a reviewer's probes.
type Prober = core.Prober

// ChatAccount is an account at a chat service, as the service describes it at this moment.
type ChatAccount = people.ChatAccount

// ErrChatUnconfirmed says that the user whose address an account has must confirm it first.
var ErrChatUnconfirmed = people.ErrChatUnconfirmed

// First holds the secrets of a new store, shown once: a token, and the secret part of the set-up link for the first person.
type First = people.First

// OldAddress is a user whose address an earlier release stored in another form.
type OldAddress = people.OldAddress

// OldAddresses lists, over all tenants, the users whose address isn't in canonical form.
func OldAddresses(tx store.Tx) ([]OldAddress, error) { return people.OldAddresses(tx) }

// OwnChatAccount is an account with the address of a session's user.
type OwnChatAccount = people.OwnChatAccount

// OwnToken is a token that names the session's user.
type OwnToken = people.OwnToken

// CodeText is the mail with a code.
func CodeText(code, from string, at time.Time) string { return signin.CodeText(code, from, at) }

// Link is what a sign-in link says before it is used: whom it signs in, and who made it.
type Link = signin.Link

// OwnPasskey is a passkey as its user sees it.
type OwnPasskey = signin.OwnPasskey

// Question is what a browser is asked about passkeys.
type Question = signin.Question

// ProjectUse is the unfinished runs that keep a project from being edited.
type ProjectUse = projects.ProjectUse

// ProjectEdit is what an edit of a project would do.
type ProjectEdit = projects.ProjectEdit

// RunUse is an unfinished run and the action that it waits for.
type RunUse = projects.RunUse

// ErrReplicas says that replicas have a record in the store.
var ErrReplicas = storewide.ErrReplicas

// Restored counts what a restore changed, over all tenants.
type Restored = storewide.Restored

// UpgradeNotice is a notice about what a tenant has.
type UpgradeNotice = storewide.UpgradeNotice

// UpgradeNotices lists, over all tenants, what this release means otherwise than the one before.
func UpgradeNotices(tx store.Tx) ([]UpgradeNotice, error) { return storewide.UpgradeNotices(tx) }

// PlanFilter narrows a listing of plans; empty fields do not.
type PlanFilter = plans.PlanFilter

// AgentFilter narrows a list of agents; empty fields don't.
type AgentFilter = agents.AgentFilter

// AgentName is what to choose an agent by.
type AgentName = agents.AgentName

// DropEvery is the interval between searches for such instances.
const DropEvery = agents.DropEvery

// LapseEvery is the interval between looks for changes that nobody decided in time.
const LapseEvery = changes.LapseEvery

// HeardAgents is a page of agents with their liveness, and the number of all agents of each liveness.
type HeardAgents = agents.HeardAgents

// Offer is what an agent can be asked to do: the capabilities of its manifest that its project has now, in the manifest's order.
type Offer = agents.Offer

// Driver gets each run that was started or moved, and continues it.
type Driver = runs.Driver

// ListedRun is a run as lists show it, and events: without the snapshot of its plan and what runrepo.ListedStep leaves out (contract 1).
func ListedRun(r countersign.Run) countersign.Run { return runs.ListedRun(r) }

// RunCounts counts, by present status, the runs within the actor's scope that were started during an interval.
type RunCounts = runs.RunCounts

// RunFilter narrows a listing of runs; empty fields do not.
type RunFilter = runs.RunFilter

// Started is the answer of starting a run: the run, and whether an earlier start with the same key made it.
type Started = runs.Started

// ApprovalFilter narrows a list of approvals; empty fields don't.
type ApprovalFilter = approvals.ApprovalFilter

// Orders of a list of approvals, besides the newest and the oldest first.
const (
	OrderExpires = approvals.OrderExpires
	OrderAmount  = approvals.OrderAmount
)

// Deciders says who may still decide an approval that is pending: users by e-mail, and for each of its groups whether somebody whose approval counts has decided for it.
type Deciders = approvals.Deciders

// Found returns the value of a field in an answer, as a step with this outputField would read it.
func Found(answer countersign.Value, outputField string, field string) (countersign.Value, bool) {
	return approvals.Found(answer, outputField, field)
}

// Queue is the position of an approval among the pending ones, oldest first.
type Queue = approvals.Queue

// InboxQuery says which of the approvals that wait a desk lists, and in which order.
type InboxQuery = approvals.InboxQuery

// InboxRow is an approval as a desk lists it.
type InboxRow = approvals.InboxRow

// Inbox is a part of a desk's list.
type Inbox = approvals.Inbox

// DeskStream is what waits for somebody, as they follow it.
type DeskStream = approvals.DeskStream

// Signing is what a page needs to have an approval signed.
type Signing = approvals.Signing

// Waiting is a run that waits for a person, with its steps in the form of lists, but for where they were sent; and its approval without content.
type Waiting = approvals.Waiting

// WithoutContent leaves out of an approval what would be sent, and what it is made of.
func WithoutContent(a countersign.Approval) countersign.Approval { return approvals.WithoutContent(a) }

// Health is what callers without a token may know of the service.
type Health = evidence.Health

// WitnessState is how far the audit logs of a store are cosigned.
type WitnessState = evidence.WitnessState

// Witnessed is how far all audit logs are cosigned.
func Witnessed(tx store.Tx, witnesses []checkpoint.Key) (WitnessState, error) {
	return evidence.Witnessed(tx, witnesses)
}
