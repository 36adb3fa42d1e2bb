package access

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Operation names one thing that the API can be asked to do.
type Operation string

// The operations (contract 1). An operation without a rule is refused.
const (
	ReadSession     Operation = "session.read"
	ReadEvents      Operation = "events.read"
	ReadMetrics     Operation = "metrics.read"
	ReadModels      Operation = "models.read"
	WriteModel      Operation = "models.write"
	SuspendModel    Operation = "models.suspend"
	ResumeModel     Operation = "models.resume"
	RetireModel     Operation = "models.retire"
	RestoreModel    Operation = "models.restore"
	CompilePlan     Operation = "plans.compile"
	ReadProjects    Operation = "projects.read"
	ReadBudgets     Operation = "budgets.read"
	WhatIf          Operation = "projects.what_if"
	WriteProject    Operation = "projects.write"
	CheckHealth     Operation = "projects.health_check"
	ProveReceiver   Operation = "projects.conformance"
	WriteAnswerKeys Operation = "projects.answer_keys"
	ToggleProject   Operation = "projects.toggle"
	RetireProject   Operation = "projects.retire"
	RestoreProject  Operation = "projects.restore"
	StartProjectRun Operation = "projects.run"
	ReadPlans       Operation = "plans.read"
	CreatePlan      Operation = "plans.create"
	ReadRuns        Operation = "runs.read"
	ReadRehearsal   Operation = "runs.rehearsal"
	Search          Operation = "search.read"
	ReadReceipt     Operation = "runs.receipt"
	StartRun        Operation = "runs.start"
	CancelRun       Operation = "runs.cancel"
	ReconcileRun    Operation = "runs.reconcile"
	ProbeRun        Operation = "runs.probe"
	SettleRun       Operation = "runs.settle"
	HoldRun         Operation = "runs.hold"
	RedactRun       Operation = "runs.redact"
	ReadApprovals   Operation = "approvals.read"
	DecideApproval  Operation = "approvals.decide"
	LookAgain       Operation = "approvals.look"
	SyncAgents      Operation = "agents.sync"
	ListAgents      Operation = "agents.list"
	ReadAgents      Operation = "agents.read"
	AdmitAgent      Operation = "agents.admit"
	SuspendAgent    Operation = "agents.suspend"
	RetireAgent     Operation = "agents.retire"
	RestoreAgent    Operation = "agents.restore"
	WriteIdentities Operation = "agents.identities"
	SendHeartbeat   Operation = "agents.heartbeat"
	StartAgentRun   Operation = "agents.run"
	ReadTeams       Operation = "teams.read"
	WriteTeam       Operation = "teams.write"
	SuspendTeam     Operation = "teams.suspend"
	ResumeTeam      Operation = "teams.resume"
	RetireTeam      Operation = "teams.retire"
	RestoreTeam     Operation = "teams.restore"
	StartTeamRun    Operation = "teams.run"
	ReadContract    Operation = "contract.read"
	ReadTenants     Operation = "tenants.read"
	WriteTenant     Operation = "tenants.write"
	ReadUsers       Operation = "users.read"
	WriteUser       Operation = "users.write"
	DeleteUser      Operation = "users.delete"
	CreateLink      Operation = "sign_in_links.create"
	AddPasskey      Operation = "passkeys.create"
	RemovePasskey   Operation = "passkeys.delete"
	ReadTokens      Operation = "tokens.read"
	CreateToken     Operation = "tokens.create"
	RevokeToken     Operation = "tokens.revoke"
	ConfirmToken    Operation = "tokens.confirm"
	RenewToken      Operation = "tokens.renew"
	ReadWebhooks    Operation = "webhooks.read"
	WriteWebhook    Operation = "webhooks.write"
	DeleteWebhook   Operation = "webhooks.delete"
	ReadCredentials Operation = "credentials.read"
	FreeCredential  Operation = "credentials.free"
	ReadAudit       Operation = "audit.read"
	ReadStop        Operation = "tenants.stopped"
	StopTenant      Operation = "tenants.stop"
	GoTenant        Operation = "tenants.go"
	ReadSettings    Operation = "settings.read"
	WriteSettings   Operation = "settings.write"
	ReadGroups      Operation = "groups.read"
	WriteGroup      Operation = "groups.write"
	DeleteGroup     Operation = "groups.delete"
	ValidateProject Operation = "projects.validate"

	ReadDelegations  Operation = "delegations.read"
	WriteDelegation  Operation = "delegations.write"
	DeleteDelegation Operation = "delegations.delete"

	ReadChanges    Operation = "changes.read"
	DecideChange   Operation = "changes.decide"
	MakeChange     Operation = "changes.make"
	WithdrawChange Operation = "changes.withdraw"

	// Signing in and out are recorded; whoever has the code, the link or the
	// session may, so no rule says who.
	SignIn  Operation = "sessions.create"
	SignOut Operation = "sessions.end"
	// Who is invited answers for themselves.
	AcceptInvitation  Operation = "users.accept"
	DeclineInvitation Operation = "users.decline"
	// A user confirms and removes their own accounts at chat services.
	ConfirmChat Operation = "users.confirm_chat"
	RemoveChat  Operation = "users.remove_chat"
	// BindCredential is recorded where a registration binds a credential variable to its
	// tenant; nobody asks for it by itself.
	BindCredential Operation = "credentials.bind"
	// ProposeChange is recorded where an operation is proposed instead of made, LapseChange where
	// nobody made it in time, or what it was proposed on has moved.
	ProposeChange Operation = "changes.propose"
	LapseChange   Operation = "changes.lapse"
)

// rule says who may: any of the roles (none named: every principal with a role),
// realm administrators only, and whether a principal with limits is kept out.
type rule struct {
	roles       []countersign.Role
	realm       bool
	wholeTenant bool
	everyMode   bool // who is limited to a mode is kept out
	write       bool

	reading countersign.Reading // what a reading token has that reaches it; "" where none does
	readers bool                // for each reading token, and for nobody else
}

var (
	admin    = []countersign.Role{countersign.RoleAdmin}
	operator = []countersign.Role{countersign.RoleOperator}
	approver = []countersign.Role{countersign.RoleApprover}
)

var rules = map[Operation]rule{
	ReadSession:     {},
	ReadEvents:      {},
	ReadMetrics:     {roles: admin, wholeTenant: true, reading: countersign.ReadsMetrics},
	ReadModels:      {},
	WriteModel:      {roles: operator, write: true},
	SuspendModel:    {roles: admin, write: true},
	ResumeModel:     {roles: admin, write: true},
	RetireModel:     {roles: admin, write: true},
	RestoreModel:    {roles: admin, write: true},
	CompilePlan:     {roles: operator, write: true},
	ReadProjects:    {},
	ReadBudgets:     {},
	WhatIf:          {},
	WriteProject:    {roles: admin, write: true},
	CheckHealth:     {roles: admin, write: true},
	ProveReceiver:   {roles: admin, write: true},
	WriteAnswerKeys: {roles: admin, write: true},
	ToggleProject:   {roles: admin, write: true},
	RetireProject:   {roles: admin, write: true},
	RestoreProject:  {roles: admin, write: true},
	StartProjectRun: {roles: operator, write: true},
	ReadPlans:       {},
	CreatePlan:      {roles: operator, write: true},
	ReadRuns:        {},
	ReadRehearsal:   {},
	Search:          {},
	ReadReceipt:     {},
	StartRun:        {roles: operator, write: true},
	CancelRun:       {roles: operator, write: true},
	ReconcileRun:    {roles: approver, write: true},
	ProbeRun:        {roles: approver, write: true},
	SettleRun:       {roles: approver, write: true},
	HoldRun:         {roles: admin, write: true},
	RedactRun:       {roles: admin, write: true},
	ReadApprovals:   {},
	DecideApproval:  {roles: approver, write: true},
	LookAgain:       {roles: approver, write: true},
	SyncAgents:      {roles: operator, write: true},
	ListAgents:      {},
	ReadAgents:      {},
	AdmitAgent:      {roles: admin, write: true},
	SuspendAgent:    {roles: admin, write: true},
	RetireAgent:     {roles: admin, write: true},
	RestoreAgent:    {roles: admin, write: true},
	WriteIdentities: {roles: admin, write: true},
	SendHeartbeat:   {roles: operator}, // neither it nor its refusal is audited (contract 9)
	StartAgentRun:   {roles: operator, write: true},
	ReadTeams:       {},
	WriteTeam:       {roles: operator, write: true},
	SuspendTeam:     {roles: admin, write: true},
	ResumeTeam:      {roles: admin, write: true},
	RetireTeam:      {roles: admin, write: true},
	RestoreTeam:     {roles: admin, write: true},
	StartTeamRun:    {roles: operator, write: true},
	ReadContract:    {},
	ReadTenants:     {realm: true, wholeTenant: true},
	WriteTenant:     {realm: true, wholeTenant: true, write: true},
	ReadUsers:       {roles: admin, wholeTenant: true},
	WriteUser:       {roles: admin, wholeTenant: true, everyMode: true, write: true}, // a user has every mode
	DeleteUser:      {roles: admin, wholeTenant: true, write: true},
	CreateLink:      {realm: true, wholeTenant: true, everyMode: true, write: true}, // its session has every mode
	AddPasskey:      {write: true},                                                  // one's own, in a browser's session
	RemovePasskey:   {write: true},
	ReadTokens:      {roles: admin, wholeTenant: true},
	CreateToken:     {roles: admin, wholeTenant: true, write: true},
	RevokeToken:     {roles: admin, wholeTenant: true, write: true},
	ConfirmToken:    {write: true}, // whose the token is, decides
	RenewToken:      {readers: true, write: true},
	ReadWebhooks:    {roles: admin, wholeTenant: true},
	WriteWebhook:    {roles: admin, wholeTenant: true, write: true},
	DeleteWebhook:   {roles: admin, wholeTenant: true, write: true},
	ReadCredentials: {realm: true, wholeTenant: true},
	FreeCredential:  {realm: true, wholeTenant: true, write: true},
	ReadAudit:       {roles: admin, wholeTenant: true, reading: countersign.ReadsAudit},
	ReadStop:        {},
	StopTenant:      {roles: admin, wholeTenant: true, write: true},
	GoTenant:        {roles: admin, wholeTenant: true, write: true},
	ReadSettings:    {},
	WriteSettings:   {roles: admin, wholeTenant: true, write: true},
	ReadGroups:      {},
	WriteGroup:      {roles: admin, wholeTenant: true, write: true},
	DeleteGroup:     {roles: admin, wholeTenant: true, write: true},
	ValidateProject: {},

	ReadDelegations:  {},
	WriteDelegation:  {write: true}, // who is away, or an ADMIN
	DeleteDelegation: {write: true},

	ReadChanges:    {roles: admin},
	DecideChange:   {roles: admin, write: true},
	MakeChange:     {write: true}, // its proposer
	WithdrawChange: {write: true},
}

// rehearsals are all the writes of a token that is limited to DRY_RUN (contract 12.7). One that
// isn't named here is refused, since most of what is written decides what LIVE runs may do. A
// plan or run is then asked for its mode, a model or project whether it is new.
var rehearsals = map[Operation]bool{
	CompilePlan: true, CreatePlan: true,
	StartProjectRun: true, StartRun: true, StartAgentRun: true, StartTeamRun: true, CancelRun: true,
	WriteModel: true, WriteProject: true,
}

// Rehearses reports a principal that is limited to DRY_RUN.
func (p Principal) Rehearses() bool { return Mode(p, countersign.ModeLive) != nil }

// Replace is nil when the principal may change what exists, instead of making it.
func Replace(p Principal) error {
	if !p.Rehearses() {
		return nil
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this token is limited to DRY_RUN: it makes a model or project that doesn't exist yet, and changes none")
}

// Allow reports whether the principal may ask for the operation at all: nil, or
// an Error with role_required or project_scope. Whether it reaches a particular
// resource is InScope's question.
func Allow(p Principal, op Operation) error {
	r, known := rules[op]
	switch {
	case !known:
		return countersign.Errorf(countersign.CodeRoleRequired, "nobody may ask for %s", op)
	case p.ReadsOnly():
		return reads(p, r)
	case p.ForAgents() && !agentOperations[op]:
		return beyond(p, "it starts and reads its agents' own runs, cancels those that it started and sends heartbeats; anything else needs another token")
	case r.readers:
		return countersign.Errorf(countersign.CodeRoleRequired, "only a reading token renews itself; make another one of any other kind")
	case r.write && Proven(p, op) != nil:
		return Proven(p, op)
	case r.realm && !p.Realm:
		return countersign.Errorf(countersign.CodeRoleRequired, "this needs a realm administrator")
	case len(p.Roles) == 0 && !r.realm:
		return countersign.Errorf(countersign.CodeRoleRequired, "you have no role in this tenant")
	case len(r.roles) > 0 && !p.hasAny(r.roles):
		return countersign.Errorf(countersign.CodeRoleRequired, "this needs the role %s; you have %s", join(r.roles), join(p.Roles))
	case r.wholeTenant && p.Limited():
		return countersign.Errorf(countersign.CodeProjectScope, "this covers the whole tenant; you are limited to projects")
	case r.write && p.Rehearses() && !rehearsals[op]:
		return countersign.Errorf(countersign.CodeRoleRequired, "this token is limited to DRY_RUN: it reads, validates, simulates, compiles, makes DRY_RUN plans and runs, and sends heartbeats; anything else needs another token")
	case r.everyMode && Mode(p, countersign.ModeDryRun) != nil, r.everyMode && Mode(p, countersign.ModeLive) != nil:
		return countersign.Errorf(countersign.CodeRoleRequired, "a user has both modes, and this token is limited to %s: it adds, changes, invites and signs in none", strings.Join(p.Modes, " and "))
	}
	return nil
}

// IsWrite reports an operation whose refusal is recorded in the audit log.
func IsWrite(op Operation) bool { return rules[op].write || ownMatters[op] }

// ownMatters are what a user answers or does about themself: no rule says who may, and a
// session that doesn't prove who it is may not.
var ownMatters = map[Operation]bool{AcceptInvitation: true, DeclineInvitation: true, ConfirmChat: true, RemoveChat: true}

// RolesFor names the roles that may ask for the operation; empty means any.
func RolesFor(op Operation) (roles []countersign.Role, realm bool) {
	return rules[op].roles, rules[op].realm
}

// InScope is nil when every project is within the principal's scope, else
// project_scope.
func InScope(p Principal, projects ...string) error {
	if p.Covers(projects...) {
		return nil
	}
	return countersign.Errorf(countersign.CodeProjectScope, "this is outside the projects you may see")
}

// OverRealm is nil when the principal may change or remove a realm administrator.
func OverRealm(p Principal) error {
	if p.Realm {
		return nil
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this is a realm administrator, or a token of one; only a realm administrator changes or removes it")
}

// Mode is nil when the principal may start runs of this mode, and do what belongs to
// them: decide, probe and reconcile; and for LIVE check a project's health.
func Mode(p Principal, mode string) error {
	if p.Modes == nil || slices.Contains(p.Modes, mode) {
		return nil
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this token is limited to %s", strings.Join(p.Modes, " and "))
}

func join(roles []countersign.Role) string {
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
