// Package records says what is kept in the store and how: the collections, the
// stored forms that are not part of the public vocabulary, and the ids and
// scope strings that documents are found by.
package records

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// RevisionID is the id of an immutable revision. "@" is no id character, so it
// never meets another id.
func RevisionID(id string, revision int64) string {
	return id + "@" + strconv.FormatInt(revision, 10)
}

// ConformanceID is the id of what is known of the receivers of a project's
// revision. It stands beside the revision, so that the head stays small and an
// edit leaves it behind; "/" follows no revision.
func ConformanceID(id string, revision int64) string {
	return RevisionID(id, revision) + "/conformance"
}

// StepID is the id of a step's record; it sorts in plan order.
func StepID(runID string, index int) string {
	n := strconv.Itoa(index)
	return runID + "/" + strings.Repeat("0", 3-len(n)) + n
}

// StepIDs are the bounds of the ids of a run's steps.
func StepIDs(runID string) (first, last string) { return StepID(runID, 0), StepID(runID, 999) }

// ModelHead is the present state of a model: small, so that asking for it before
// each step costs little. Its document stands in the revision that wrote it.
type ModelHead struct {
	ID               string    `json:"id"`
	Revision         int64     `json:"revision"`
	DocumentRevision int64     `json:"documentRevision"` // whose document is the present one
	Suspended        bool      `json:"suspended"`
	Retired          bool      `json:"retired,omitempty"`
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt"`
	ChangedBy        string    `json:"changedBy,omitempty"` // the principal that made this revision; "" in stores of 0.1
}

// ModelRevision is an immutable revision of a model. A suspension makes a
// revision without a document of its own: it refers to the one before.
type ModelRevision struct {
	Head     ModelHead               `json:"head"`
	Document *countersign.AgentModel `json:"document,omitempty"`
}

// ModelText is a ModelRevision whose document stays text: a list needs little of it,
// and reading a mebibyte of it as a model costs tens of milliseconds.
type ModelText struct {
	Head     ModelHead         `json:"head"`
	Document countersign.Value `json:"document,omitzero"`
}

// ProjectHead is the present state of a project; its content stands in its
// revision.
type ProjectHead struct {
	ID       string                   `json:"id"`
	Revision int64                    `json:"revision"`
	Enabled  bool                     `json:"enabled"`
	Retired  bool                     `json:"retired,omitempty"`
	Health   *countersign.HealthCheck `json:"health,omitempty"`
	// AnswerKeys change without a new revision. The revision's content has none.
	AnswerKeys []string  `json:"answerKeys,omitempty" since:"3"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

// ProjectConnection is the part of a project's revision that says where it is called
// and with which credential.
type ProjectConnection struct {
	BaseURL       string             `json:"baseUrl,omitempty"`
	Auth          *countersign.Auths `json:"auth,omitempty"`
	AuthSecretEnv string             `json:"authSecretEnv,omitempty"`
}

// Plan is a stored plan without its snapshots: it refers to revisions.
type Plan struct {
	countersign.Plan
	Synthetic bool `json:"synthetic,omitempty"` // made by an agent or team run

	// OpenInputs are the planning inputs that feed nothing sensitive, as far as that is
	// known.
	OpenInputs []string `json:"openInputs,omitempty"`
}

// Run is a stored run without its steps and plan snapshot.
type Run struct {
	countersign.Run
	Requester access.Requester `json:"requester"`
	Projects  []string         `json:"projects"`
	Trace     string           `json:"trace,omitempty"`  // traceparent of the request that started it
	Probes    int              `json:"probes,omitempty"` // how many have records of their own
	Taken     []int64          `json:"taken,omitempty"`  // what judging each step took at the start, see package cost

	// Of these: how large they are together, and how many each step has, by its index.
	ProbeBytes int         `json:"probeBytes,omitempty"`
	StepProbes map[int]int `json:"stepProbes,omitempty"`
}

// Approval is a stored approval.
type Approval struct {
	countersign.Approval
	Requester access.Requester `json:"requester"`
	Deciders  []Decider        `json:"deciders,omitempty"` // of its Decisions, one each
}

// Claim remembers which run an idempotency key started (contract 6). It is kept
// as long as the run and beyond its archiving.
type Claim struct {
	RunID       string `json:"runId"`
	Fingerprint string `json:"fingerprint"`

	// Earlier are the runs of calls over MCP that a repeat could find when another was started
	// under their key, the latest first.
	Earlier []string `json:"earlier,omitempty"`
}

// Runs are the runs that were started under the key and may be found, the latest first.
func (c *Claim) Runs() []string { return append([]string{c.RunID}, c.Earlier...) }

// Token is a stored token; its secret's hash is the key in TokenHashes. An agent token
// is stored without roles, which AgentIDs imply: a release that doesn't know agents then
// finds a token without any right, and so does this one once such a release has written
// the record without them.
type Token struct {
	countersign.Token
	Realm   bool     `json:"realm,omitempty"`
	Lineage []string `json:"lineage,omitempty"`
	Hash    string   `json:"hash"`
	Lapsed  bool     `json:"lapsed,omitempty"` // was seen expired: stays so, whatever the clock says

	// UserLeft says that its user was removed since it was made: that they made it
	// themselves, in an earlier membership, counts no more.
	UserLeft bool `json:"userLeft,omitempty"`

	// Of a token that ends soon: when that was recorded, whether its maker was mailed, how often
	// that was tried, and from when on it is tried again.
	EndTold   time.Time `json:"endTold,omitzero"`
	EndMailed bool      `json:"endMailed,omitempty"`
	EndMails  int       `json:"endMails,omitempty"`
	EndMailAt time.Time `json:"endMailAt,omitzero"`
}

// Shown is the token as its readers know it: that of an agent is an operator's, with
// bounds.
func (t Token) Shown() countersign.Token {
	shown := t.Token
	if shown.AgentIDs != nil {
		shown.Roles = []countersign.Role{countersign.RoleOperator}
	}
	return shown
}

// Person is the user who is known to stand behind the token, "" for nobody: who made it
// themselves or has confirmed it, since they became a user. A session that a sign-in link
// began has makers, and isn't known to be the user's.
func (t Token) Person() string {
	madeIt := t.CreatedBy == "user:"+t.UserEmail && len(t.Lineage) <= 1
	if !t.ConfirmedAt.IsZero() || madeIt && !t.UserLeft {
		return t.UserEmail
	}
	return ""
}

// TokenRef leads from a token's hash to its record.
type TokenRef struct {
	TenantID string `json:"tenantId"`
	TokenID  string `json:"tokenId"`
}

// States of an unfinished run.
const (
	Active   = "active"   // READY or RUNNING: holds a slot
	Queued   = "queued"   // may go on as soon as a slot is free
	Waiting  = "waiting"  // for an approval
	Recovery = "recovery" // for a reconcile
	Stranded = "stranded" // for a start that tries again: its records can't be read, or its turns can't be committed
)

// Unfinished is one unfinished run of any tenant. The slots are counted here,
// the queue stands here, and expiry and recovery find their runs here.
type Unfinished struct {
	TenantID   string                  `json:"tenantId"`
	RunID      string                  `json:"runId"`
	State      string                  `json:"state"`
	Since      time.Time               `json:"since"`
	Due        time.Time               `json:"due,omitzero"` // when its approval expires, or its call must have ended
	Projects   []string                `json:"projects"`
	WaitingFor *countersign.WaitingFor `json:"waitingFor,omitempty"`
	Owner      string                  `json:"owner,omitempty"` // the replica that drives an active run, or whose call may still be answered
	AskAt      time.Time               `json:"askAt,omitzero"`  // when the receiver is asked what became of the key of its uncertain step
	// Tries is how many turns were tried in a row and not committed, of a run that this is held
	// against.
	Tries int `json:"tries,omitempty"`
}

// UnfinishedID is the id of a run in the realm's list.
func UnfinishedID(tenant, runID string) string { return tenant + "/" + runID }

// waitingAtOnce is how many of the runs that wait are read at once.
const waitingAtOnce = 200

// EachWaiting hands over the runs of all tenants that wait for an approval, in the order in
// which they began to wait, or the newest first. One whose entry can't be read is handed to
// damaged.
func EachWaiting(tx store.Tx, newestFirst bool, each func(*Unfinished) error, damaged func(store.Row, error) error) error {
	q := store.Query{Where: []store.Filter{store.Equal("state", Waiting)}, Order: []store.Order{{Column: "since", Descending: newestFirst}}}
	return UnfinishedRuns.EachReadable(tx, store.Realm, q, waitingAtOnce, func(u *Unfinished) error {
		if u.WaitingFor == nil || u.WaitingFor.ApprovalID == "" {
			return nil
		}
		return each(u)
	}, damaged)
}

// ListUnfinished lists unfinished runs of all tenants. An entry that can't be read is made from
// its columns, so that no other run rests on it.
func ListUnfinished(tx store.Tx, q store.Query) (out []Unfinished, err error) {
	rows, err := tx.List(store.Unfinished, store.Realm, q)
	for _, row := range rows {
		u := Unfinished{}
		if Decode(row, &u) != nil {
			u = UnfinishedOfRow(row)
		}
		out = append(out, u)
	}
	return out, err
}

// UnfinishedOfRow is what the columns of an entry say.
func UnfinishedOfRow(row store.Row) (u Unfinished) {
	u.TenantID, u.RunID, _ = strings.Cut(row.ID, "/")
	u.State, _ = row.Keys[1].(string)
	if since, ok := row.Keys[2].(int64); ok {
		u.Since = time.UnixMicro(since).UTC()
	}
	if due, ok := row.Keys[3].(int64); ok && due > 0 {
		u.Due = time.UnixMicro(due).UTC()
	}
	return u
}

// TenantIDs are the ids of all tenants. None of their records need be readable.
func TenantIDs(tx store.Tx) (ids []string, err error) {
	rows, err := tx.List(store.Tenants, store.Realm, store.Query{})
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids, err
}

// UnfinishedOf narrows the realm's list to a tenant's runs.
func UnfinishedOf(tenant string) []store.Filter { return idRange(tenant+"/", tenant+"0") } // '0' follows '/'

// UnfinishedAfter narrows it to those that follow a run, "" for all.
func UnfinishedAfter(tenant, runID string) []store.Filter {
	if runID == "" {
		return UnfinishedOf(tenant)
	}
	return idRange(UnfinishedID(tenant, runID)+"!", tenant+"0") // "!" sorts before all that an id goes on with
}

// The collections.
var (
	Tenants            = store.Collection[countersign.Tenant]{Table: store.Tenants}
	Users              = store.Collection[User]{Table: store.Users}
	Sessions           = store.Collection[Session]{Table: store.Sessions, Keys: sessionKeys}
	SignIns            = store.Collection[SignIn]{Table: store.SignIns, Keys: signInKeys}
	SignInLinks        = store.Collection[SignInLink]{Table: store.SignIns, Keys: signInLinkKeys}
	SetupLinks         = store.Collection[SetupLink]{Table: store.Meta}
	Notices            = store.Collection[Notice]{Table: store.Meta}
	Tokens             = store.Collection[Token]{Table: store.Tokens}
	TokenHashes        = store.Collection[TokenRef]{Table: store.TokenHashes}
	Models             = store.Collection[ModelHead]{Table: store.Models, Keys: modelKeys}
	ModelTexts         = store.Collection[ModelText]{Table: store.ModelRevisions}
	ModelRevisions     = store.Collection[ModelRevision]{Table: store.ModelRevisions}
	Projects           = store.Collection[ProjectHead]{Table: store.Projects, Keys: projectKeys}
	ProjectRevisions   = store.Collection[countersign.Project]{Table: store.ProjectRevisions}
	ProjectConnections = store.Collection[ProjectConnection]{Table: store.ProjectRevisions}
	Conformances       = store.Collection[[]countersign.Conformance]{Table: store.ProjectRevisions}
	Agents             = store.Collection[AgentHead]{Table: store.Agents, Keys: agentKeys}
	AgentRevisions     = store.Collection[countersign.Agent]{Table: store.AgentRevisions}
	Instances          = store.Collection[Instance]{Table: store.Instances, Keys: instanceKeys}
	Teams              = store.Collection[TeamHead]{Table: store.Teams, Keys: teamKeys}
	TeamRevisions      = store.Collection[countersign.Team]{Table: store.TeamRevisions}
	Plans              = store.Collection[Plan]{Table: store.Plans, Keys: planKeys}
	Runs               = store.Collection[Run]{Table: store.Runs, Keys: runKeys}
	Approvals          = store.Collection[Approval]{Table: store.Approvals, Keys: approvalKeys}
	Claims             = store.Collection[Claim]{Table: store.Claims}
	UnfinishedRuns     = store.Collection[Unfinished]{Table: store.Unfinished, Keys: unfinishedKeys}
)

// Steps is the collection of one run's step records. sent is the SentKey of the one that is
// written, "" for most.
func Steps(runID string, index int, sent string) store.Collection[countersign.StepRun] {
	return store.Collection[countersign.StepRun]{Table: store.Steps, Keys: func(*countersign.StepRun) []any {
		return []any{runID, int64(index), sent}
	}}
}

func modelKeys(h *ModelHead) []any { return []any{flag(h.Retired)} }

func projectKeys(h *ProjectHead) []any { return []any{flag(h.Retired)} }

func planKeys(p *Plan) []any {
	return []any{micros(p.CreatedAt), p.Status, p.ModelID, planScope(&p.Plan)}
}

func runKeys(r *Run) []any {
	return []any{micros(r.CreatedAt), string(r.Status), r.PlanID, Scope(r.Projects), r.AgentID}
}

func approvalKeys(a *Approval) []any {
	return []any{micros(a.RequestedAt), string(a.Status), a.RunID, Scope([]string{a.ProjectID}), a.RequestDigest, a.Title}
}

func unfinishedKeys(u *Unfinished) []any {
	due := int64(0)
	if !u.Due.IsZero() {
		due = micros(u.Due)
	}
	return []any{u.TenantID, u.State, micros(u.Since), due}
}

// flag is a column that is 1 or 0.
func flag(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// NotRetired keeps what is listed unless retired records are asked for too.
var NotRetired = store.Equal("retired", int64(0))

func micros(t time.Time) int64 { return t.UnixMicro() }

// Decode reads a row's document into v.
func Decode[T any](row store.Row, v *T) error {
	if err := store.Decode(row.Doc, v); err != nil {
		return fmt.Errorf("decode %s: %w", row.ID, err)
	}
	return nil
}
