package httpapi

import (
	"reflect"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

var (
	runStatusParam      = param{name: "status", doc: "only runs of this status", enum: words(countersign.RunStatuses)}
	planStatusParam     = param{name: "status", doc: "only plans of this status", enum: []string{countersign.PlanReady, countersign.PlanInvalid}}
	approvalStatusParam = param{name: "status", doc: "only approvals of this status", enum: words(countersign.ApprovalStatuses)}
	approvalParams      = []param{
		approvalStatusParam, {name: "runId", doc: "only approvals of this run", kind: idParam}, {name: "projectId", doc: "only approvals of this project", kind: idParam},
		{name: "agentId", doc: "only approvals of this agent's steps", kind: idParam}, {name: "requestedBy", doc: "only approvals of runs that this principal asked for: user:… or token:…"},
		{name: "group", doc: "only approvals that this group decides", kind: idParam}, {name: "q", doc: "only approvals that have this text anywhere in what you are shown of them, in whatever case"},
		{name: "order", doc: "oldest, expires (the one that expires first) or amount (the largest number first that a title, rule or budget names; refused where that is hidden from you); default the newest first", enum: []string{orderOldest, control.OrderExpires, control.OrderAmount}},
	}
	agentStatusParam = param{name: "status", doc: "only agents of this registry status", enum: []string{string(countersign.AgentPending), string(countersign.AgentAdmitted)}}
	runParams        = []param{
		runStatusParam, {name: "planId", doc: "only runs of this plan", kind: idParam}, {name: "agentId", doc: "only runs of this agent's own", kind: idParam},
		{name: "q", doc: "only runs that have this text or number in a step's inputs or answers: all of it, or from 3 characters on the beginning; a sensitive value by all of it only; the newest 1,000, and those of the last seconds may be missing"},
		{name: "reason", doc: "only runs that ended with this error code, such as receiver_refused; the newest 1,000", kind: openListParam, enum: words(countersign.RunReasons)},
		{name: "capability", doc: "only runs that call this capability: name or projectId/name; the newest 1,000"},
		{name: "since", doc: "only runs started then or later", kind: timeParam}, {name: "until", doc: "only runs started before", kind: timeParam},
	}
	retiredParam = param{name: "retired", doc: "true shows what is retired too", kind: boolParam}
	tenantParam  = param{name: "tenantId", doc: "another tenant; realm administrators only"}
	auditParams  = []param{
		{name: "subject", doc: "kind/id"}, {name: "actor", doc: "user:…, token:… or system"}, {name: "action", doc: "such as runs.start"},
		{name: "since", doc: "not before this time", kind: timeParam}, realmParam,
	}
	realmParam = param{name: "realm", doc: "true for the realm's log; realm administrators only", kind: boolParam}
)

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

func (a *API) routes() []route {
	return []route{
		{method: "GET", path: "/health", id: "health", tag: "service", summary: "Is the service well?", status: 200, answer: typeOf[control.Health](), handle: a.health},
		{method: "GET", path: "/openapi.json", id: "openapi", tag: "service", summary: "This document", status: 200, handle: a.openapi},
		{method: "GET", path: "/session", op: access.ReadSession, id: "session", tag: "access", summary: "Who asks, and what a session or token may do", status: 200, answer: typeOf[countersign.Session](), handle: a.session},
		{method: "GET", path: "/metrics", op: access.ReadMetrics, id: "metrics", tag: "service", summary: "Figures, as JSON or in Prometheus's exposition", status: 200, stream: a.metrics},
		{method: "GET", path: "/events", op: access.ReadEvents, id: "events", tag: "service", summary: "Follow what waits for you, and what changes, by server-sent events", status: 200, stream: a.desk},
		{method: "GET", path: "/integrations/contract", op: access.ReadContract, id: "integrationContract", tag: "service", summary: "Signing, headers, limits and codes, machine-readable", status: 200, handle: a.contract},

		{method: "GET", path: "/models", op: access.ReadModels, id: "listModels", tag: "models", summary: "List models", query: listQuery(retiredParam), status: 200, answer: typeOf[countersign.Page[countersign.Model]](), handle: list(a.control.Models)},
		{method: "GET", path: "/models/{id}", op: access.ReadModels, id: "getModel", tag: "models", summary: "Read a model", status: 200, answer: typeOf[countersign.Model](), handle: byID(a.control.Model)},
		{method: "PUT", path: "/models/{id}", op: access.WriteModel, id: "putModel", tag: "models", summary: "Create or update a model", body: typeOf[countersign.ModelWrite](), status: 200, answer: typeOf[countersign.Model](), handle: withBody(a.control.PutModel)},
		{method: "POST", path: "/models/{id}/validate", op: access.ReadModels, id: "validateModel", tag: "models", summary: "What is wrong with a model's meaning", status: 200, answer: typeOf[countersign.Validation](), handle: byID(a.control.ValidateModel)},
		{method: "POST", path: "/models/{id}/simulate", op: access.ReadModels, id: "simulateModel", tag: "models", summary: "Run a scenario on paper", body: typeOf[countersign.SimulationRequest](), status: 200, answer: typeOf[countersign.Simulation](), handle: withBody(a.control.Simulate)},
		{method: "POST", path: "/models/{id}/compile-plan", op: access.CompilePlan, id: "compilePlan", tag: "plans", summary: "Compile a scenario's actions into a plan", body: typeOf[countersign.CompileRequest](), status: 201, answer: typeOf[countersign.Plan](), handle: withBody(a.control.CompilePlan)},
		{method: "POST", path: "/models/{id}/suspend", op: access.SuspendModel, id: "suspendModel", tag: "models", summary: "Suspend a model: no earlier plan of it takes a further step", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Model](), handle: withReason(a.control.SuspendModel)},
		{method: "POST", path: "/models/{id}/resume", op: access.ResumeModel, id: "resumeModel", tag: "models", summary: "Let plans be made of a model again", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Model](), handle: withReason(a.control.ResumeModel)},
		{method: "POST", path: "/models/{id}/retire", op: access.RetireModel, id: "retireModel", tag: "models", summary: "Retire a model: hidden from lists, and nothing new is made of it", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Model](), handle: withReason(a.control.RetireModel)},
		{method: "POST", path: "/models/{id}/restore", op: access.RestoreModel, id: "restoreModel", tag: "models", summary: "Bring a retired model back", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Model](), handle: withReason(a.control.RestoreModel)},

		{method: "GET", path: "/projects", op: access.ReadProjects, id: "listProjects", tag: "projects", summary: "List projects", query: listQuery(retiredParam), status: 200, answer: typeOf[countersign.Page[countersign.Project]](), handle: a.listProjects},
		{method: "GET", path: "/projects/{id}", op: access.ReadProjects, id: "getProject", tag: "projects", summary: "Read a project", status: 200, answer: typeOf[countersign.Project](), handle: byID(a.control.Project)},
		{method: "PUT", path: "/projects/{id}", op: access.WriteProject, id: "putProject", tag: "projects", summary: "Register or edit a project", body: typeOf[countersign.ProjectWrite](), status: 200, answer: typeOf[countersign.Project](), handle: withBody(a.control.PutProject)},
		{method: "POST", path: "/projects/{id}/health-check", op: access.CheckHealth, id: "checkProjectHealth", tag: "projects", summary: "Ask the health path", status: 200, answer: typeOf[countersign.HealthCheck](), handle: byID(a.control.CheckHealth)},
		{method: "POST", path: "/projects/{id}/conformance", op: access.ProveReceiver, id: "recordConformance", tag: "projects", summary: "Record what a check of a capability's receiver found", body: typeOf[countersign.ConformanceWrite](), status: 200, answer: typeOf[countersign.Project](), handle: withBody(a.control.RecordConformance)},
		{method: "PUT", path: "/projects/{id}/answer-keys", op: access.WriteAnswerKeys, id: "putAnswerKeys", tag: "projects", summary: "Change the keys by which a project's receiver signs its answers, also under unfinished runs", body: typeOf[countersign.AnswerKeysWrite](), status: 200, answer: typeOf[countersign.Project](), handle: withBody(a.control.PutAnswerKeys)},
		{method: "POST", path: "/projects/{id}/enable", op: access.ToggleProject, id: "enableProject", tag: "projects", summary: "Let LIVE runs use a project", body: typeOf[countersign.Toggle](), status: 200, answer: typeOf[countersign.Project](), handle: withBody(a.control.EnableProject)},
		{method: "POST", path: "/projects/{id}/disable", op: access.ToggleProject, id: "disableProject", tag: "projects", summary: "Keep LIVE runs from a project", body: typeOf[countersign.Toggle](), status: 200, answer: typeOf[countersign.Project](), handle: withBody(a.control.DisableProject)},
		{method: "POST", path: "/projects/{id}/retire", op: access.RetireProject, id: "retireProject", tag: "projects", summary: "Retire a project that no unfinished run uses, and disable it: hidden from lists, and nothing new is made of it", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Project](), handle: withReason(a.control.RetireProject)},
		{method: "POST", path: "/projects/{id}/restore", op: access.RestoreProject, id: "restoreProject", tag: "projects", summary: "Bring a retired project back", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Project](), handle: withReason(a.control.RestoreProject)},
		{method: "POST", path: "/projects/{id}/runs", op: access.StartProjectRun, id: "startProjectRun", tag: "projects", summary: "Run one capability of a project, without a model", needsKey: true, body: typeOf[countersign.ProjectRunStart](), status: 202, answer: typeOf[countersign.Run](), handle: a.startProjectRun},

		{method: "POST", path: "/projects/{id}/validate", op: access.ValidateProject, id: "validateProject", tag: "projects", summary: "Contradictions and gaps of a project's approval rules, each with inputs that show it", status: 200, answer: typeOf[countersign.Validation](), handle: byID(a.control.ValidateProject)},

		{method: "POST", path: "/projects/{id}/what-if", op: access.WhatIf, id: "whatIf", tag: "projects", summary: "What another approval, other rules or other budgets, or a proposed change, would have done with past runs; changes nothing", body: typeOf[countersign.WhatIfRequest](), status: 200, answer: typeOf[countersign.WhatIf](), handle: withBody(a.control.WhatIf)},
		{method: "GET", path: "/budgets", op: access.ReadBudgets, id: "budgets", tag: "projects", summary: "What is used of the budgets of a project's capabilities, or of an agent", query: []param{{name: "projectId", doc: "of this project's capabilities; this or agentId", kind: idParam}, {name: "agentId", doc: "of this agent", kind: idParam}}, status: 200, answer: typeOf[countersign.BudgetUses](), handle: a.budgets},

		{method: "GET", path: "/groups", op: access.ReadGroups, id: "listGroups", tag: "groups", summary: "List the groups of users whom approval rules name", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.Group]](), handle: list(a.control.Groups)},
		{method: "GET", path: "/groups/{id}", op: access.ReadGroups, id: "getGroup", tag: "groups", summary: "Read a group with its members", status: 200, answer: typeOf[countersign.Group](), handle: byID(a.control.Group)},
		{method: "PUT", path: "/groups/{id}", op: access.WriteGroup, id: "putGroup", tag: "groups", summary: "Create or update a group", body: typeOf[countersign.GroupWrite](), status: 200, answer: typeOf[countersign.Group](), handle: withBody(a.control.PutGroup)},
		{method: "DELETE", path: "/groups/{id}", op: access.DeleteGroup, id: "deleteGroup", tag: "groups", summary: "Delete a group that no rule names", status: 200, answer: typeOf[countersign.Group](), handle: byID(a.control.DeleteGroup)},

		{method: "GET", path: "/delegations", op: access.ReadDelegations, id: "listDelegations", tag: "groups", summary: "List who decides in whose place, and until when", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.Delegation]](), handle: list(a.control.Delegations)},
		{method: "PUT", path: "/delegations/{email}", op: access.WriteDelegation, id: "putDelegation", tag: "groups", summary: "Let another user decide in place of one who is away", body: typeOf[countersign.DelegationWrite](), status: 200, answer: typeOf[countersign.Delegation](), handle: a.putDelegation},
		{method: "DELETE", path: "/delegations/{email}", op: access.DeleteDelegation, id: "endDelegation", tag: "groups", summary: "End a delegation", status: 200, answer: typeOf[countersign.Delegation](), handle: a.endDelegation},

		{method: "POST", path: "/plans", op: access.CreatePlan, id: "createPlan", tag: "plans", summary: "Store a plan", body: typeOf[countersign.PlanWrite](), status: 201, answer: typeOf[countersign.Plan](), handle: a.createPlan},
		{method: "GET", path: "/plans", op: access.ReadPlans, id: "listPlans", tag: "plans", summary: "List plans", query: listQuery(planStatusParam, param{name: "modelId", doc: "only plans of this model", kind: idParam}), status: 200, answer: typeOf[countersign.Page[countersign.Plan]](), handle: a.listPlans},
		{method: "GET", path: "/plans/{id}", op: access.ReadPlans, id: "getPlan", tag: "plans", summary: "Read a plan with its snapshots", status: 200, answer: typeOf[countersign.Plan](), handle: byID(a.control.Plan)},
		{method: "GET", path: "/plans/{id}/drift", op: access.ReadPlans, id: "planDrift", tag: "plans", summary: "What changed since the plan was made", status: 200, answer: typeOf[countersign.Drift](), handle: byID(a.control.Drift)},

		{method: "POST", path: "/runs", op: access.StartRun, id: "startRun", tag: "runs", summary: "Start a plan's run", needsKey: true, body: typeOf[countersign.RunStart](), status: 202, answer: typeOf[countersign.Run](), handle: a.startRun},
		{method: "GET", path: "/runs", op: access.ReadRuns, id: "listRuns", tag: "runs", summary: "List runs", query: listQuery(runParams...), status: 200, answer: typeOf[countersign.Page[countersign.Run]](), handle: a.listRuns},
		{method: "GET", path: "/runs/{id}", op: access.ReadRuns, id: "getRun", tag: "runs", summary: "Read a run with its steps and verification", status: 200, answer: typeOf[countersign.Run](), handle: byID(a.control.Run)},
		{method: "GET", path: "/runs/{id}/events", op: access.ReadRuns, id: "runEvents", tag: "runs", summary: "Follow a run by server-sent events", status: 200, stream: a.events},
		{method: "GET", path: "/runs/{id}/rehearsal", op: access.ReadRehearsal, id: "runRehearsal", tag: "runs", summary: "Does a LIVE run send what was rehearsed?", status: 200, answer: typeOf[countersign.Rehearsal](), handle: byID(a.control.Rehearsal)},
		{method: "GET", path: "/runs/{id}/receipt", op: access.ReadReceipt, id: "runReceipt", tag: "runs", summary: "The signed receipt of an ended run, which anybody can verify offline", status: 200, handle: a.runReceipt},
		{method: "POST", path: "/runs/{id}/cancel", op: access.CancelRun, id: "cancelRun", tag: "runs", summary: "Cancel a run", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Run](), handle: withReason(a.control.CancelRun)},
		{method: "POST", path: "/runs/{id}/reconcile", op: access.ReconcileRun, id: "reconcileRun", tag: "runs", summary: "Say, with evidence, what became of an uncertain step", body: typeOf[countersign.Reconcile](), status: 200, answer: typeOf[countersign.Run](), handle: withBody(a.control.ReconcileRun)},
		{method: "POST", path: "/runs/{id}/probe", op: access.ProbeRun, id: "probeRun", tag: "runs", summary: "Send the uncertain step's probe and keep its answer", body: typeOf[countersign.ProbeStart](), status: 200, answer: typeOf[countersign.Run](), handle: a.probeRun},
		{method: "POST", path: "/runs/{id}/settle", op: access.SettleRun, id: "settleRun", tag: "runs", summary: "End an uncertain step by what its receiver has signed, or have the receiver withdraw a key that it never saw", body: typeOf[countersign.Settle](), status: 200, answer: typeOf[countersign.Run](), handle: withBody(a.control.SettleRun)},
		{method: "PUT", path: "/runs/{id}/hold", op: access.HoldRun, id: "holdRun", tag: "runs", summary: "Keep a run from being redacted and archived, or end that", body: typeOf[countersign.HoldWrite](), status: 200, answer: typeOf[countersign.Run](), handle: withBody(a.control.HoldRun)},
		{method: "POST", path: "/runs/{id}/redact", op: access.RedactRun, id: "redactRun", tag: "runs", summary: "Remove what an ended run holds: ids, principals, times, statuses, codes, names, decisions and digests stay", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Run](), handle: withReason(a.control.RedactRun)},

		{method: "GET", path: "/search", op: access.Search, id: "search", tag: "runs", summary: "Find runs by a text or number in their inputs and answers or by the key of their start, and tokens by their name", query: []param{{name: "q", doc: "what you have in hand"}}, status: 200, answer: typeOf[countersign.SearchResult](), handle: a.search},

		{method: "GET", path: "/approvals", op: access.ReadApprovals, id: "listApprovals", tag: "approvals", summary: "List approvals", query: listQuery(approvalParams...), status: 200, answer: typeOf[countersign.Page[countersign.Approval]](), handle: a.listApprovals},
		{method: "GET", path: "/approvals/{id}", op: access.ReadApprovals, id: "getApproval", tag: "approvals", summary: "Read an approval: exactly what would be sent", status: 200, answer: typeOf[countersign.Approval](), handle: byID(a.control.Approval)},
		{method: "POST", path: "/approvals/{id}/decision", op: access.DecideApproval, id: "decideApproval", tag: "approvals", summary: "Approve or reject, with a reason", body: typeOf[countersign.Decision](), status: 200, answer: typeOf[countersign.Approval](), handle: withBody(a.control.Decide)},
		{method: "POST", path: "/approvals/{id}/look", op: access.LookAgain, id: "lookAgain", tag: "approvals", summary: "Read the state that the approval is asked for against again; decides nothing", status: 200, answer: typeOf[countersign.Approval](), handle: byID(a.control.LookAgain)},

		{method: "POST", path: "/systems/{id}/agents/sync", op: access.SyncAgents, id: "syncAgents", idName: "projectId", tag: "agents", summary: "Bring a system's agents to what its manifest says, all or nothing", body: typeOf[countersign.Manifest](), status: 200, answer: typeOf[syncedAgents](), handle: a.syncAgents},
		{method: "GET", path: "/agents", op: access.ListAgents, id: "listAgents", tag: "agents", summary: "List agents", query: listQuery(agentStatusParam, param{name: "projectId", doc: "only agents of this system", kind: idParam}, retiredParam), status: 200, answer: typeOf[countersign.Page[countersign.Agent]](), handle: a.listAgents},
		{method: "GET", path: "/agents/{id}", op: access.ReadAgents, id: "getAgent", tag: "agents", summary: "Read an agent with its instances", status: 200, answer: typeOf[countersign.AgentWithInstances](), handle: byID(a.control.Agent)},
		{method: "POST", path: "/agents/{id}/admit", op: access.AdmitAgent, id: "admitAgent", tag: "agents", summary: "Let an agent run", body: typeOf[countersign.Admission](), status: 200, answer: typeOf[countersign.Agent](), handle: withBody(a.control.AdmitAgent)},
		{method: "POST", path: "/agents/{id}/suspend", op: access.SuspendAgent, id: "suspendAgent", tag: "agents", summary: "Suspend an agent: no run of it takes a further step", body: typeOf[countersign.Admission](), status: 200, answer: typeOf[countersign.Agent](), handle: withBody(a.control.SuspendAgent)},
		{method: "PUT", path: "/agents/{id}/identities", op: access.WriteIdentities, id: "putAgentIdentities", tag: "agents", summary: "Say by which tokens of identity providers a caller is the agent", body: typeOf[countersign.IdentitiesWrite](), status: 200, answer: typeOf[countersign.Agent](), handle: withBody(a.control.PutIdentities)},
		{method: "POST", path: "/agents/{id}/retire", op: access.RetireAgent, id: "retireAgent", tag: "agents", summary: "Retire an agent: hidden from lists, and nothing new is made of it", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Agent](), handle: withReason(a.control.RetireAgent)},
		{method: "POST", path: "/agents/{id}/restore", op: access.RestoreAgent, id: "restoreAgent", tag: "agents", summary: "Bring a retired agent back", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Agent](), handle: withReason(a.control.RestoreAgent)},
		{method: "POST", path: "/agents/{id}/heartbeat", op: access.SendHeartbeat, id: "heartbeat", idName: "ftaAgentId", tag: "agents", summary: "Say that an instance lives", body: typeOf[countersign.Heartbeat](), status: 200, answer: typeOf[countersign.HeartbeatAck](), handle: withBody(a.control.Heartbeat)},
		{method: "POST", path: "/agents/{id}/runs", op: access.StartAgentRun, id: "startAgentRun", tag: "agents", summary: "Run one capability by an agent", needsKey: true, body: typeOf[countersign.AgentRunStart](), status: 202, answer: typeOf[countersign.Run](), handle: a.startAgentRun},

		{method: "GET", path: "/teams", op: access.ReadTeams, id: "listTeams", tag: "teams", summary: "List teams", query: listQuery(retiredParam), status: 200, answer: typeOf[countersign.Page[countersign.Team]](), handle: a.listTeams},
		{method: "GET", path: "/teams/{id}", op: access.ReadTeams, id: "getTeam", tag: "teams", summary: "Read a team", status: 200, answer: typeOf[countersign.Team](), handle: byID(a.control.Team)},
		{method: "PUT", path: "/teams/{id}", op: access.WriteTeam, id: "putTeam", tag: "teams", summary: "Create or update a team of at least two admitted agents", body: typeOf[countersign.TeamWrite](), status: 200, answer: typeOf[countersign.Team](), handle: withBody(a.control.PutTeam)},
		{method: "POST", path: "/teams/{id}/suspend", op: access.SuspendTeam, id: "suspendTeam", tag: "teams", summary: "Suspend a team: no run of it takes a further step", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Team](), handle: withReason(a.control.SuspendTeam)},
		{method: "POST", path: "/teams/{id}/resume", op: access.ResumeTeam, id: "resumeTeam", tag: "teams", summary: "Let a team run again", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Team](), handle: withReason(a.control.ResumeTeam)},
		{method: "POST", path: "/teams/{id}/retire", op: access.RetireTeam, id: "retireTeam", tag: "teams", summary: "Retire a team: hidden from lists, and nothing new is made of it", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Team](), handle: withReason(a.control.RetireTeam)},
		{method: "POST", path: "/teams/{id}/restore", op: access.RestoreTeam, id: "restoreTeam", tag: "teams", summary: "Bring a retired team back", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Team](), handle: withReason(a.control.RestoreTeam)},
		{method: "POST", path: "/teams/{id}/runs", op: access.StartTeamRun, id: "startTeamRun", tag: "teams", summary: "Run a team's steps, one after the other", needsKey: true, body: typeOf[countersign.TeamRunStart](), status: 202, answer: typeOf[countersign.Run](), handle: a.startTeamRun},

		{method: "GET", path: "/settings", op: access.ReadSettings, id: "getSettings", tag: "service", summary: "Read what the tenant's administrators have set", status: 200, answer: typeOf[countersign.TenantSettings](), handle: a.settings},
		{method: "PUT", path: "/settings", op: access.WriteSettings, id: "putSettings", tag: "service", summary: "Change the tenant's settings, such as whether each approval is signed with a passkey", body: typeOf[countersign.TenantSettingsWrite](), status: 200, answer: typeOf[countersign.TenantSettings](), handle: a.putSettings},
		{method: "GET", path: "/changes", op: access.ReadChanges, id: "listChanges", tag: "changes", summary: "List changes that weaken and that several administrators decide, newest first", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.ProposedChange]](), handle: list(a.control.Changes)},
		{method: "GET", path: "/changes/{id}", op: access.ReadChanges, id: "getChange", tag: "changes", summary: "Read a proposed change: what it weakens, and who has decided", status: 200, answer: typeOf[countersign.ProposedChange](), handle: byID(a.control.Change)},
		{method: "POST", path: "/changes/{id}/decision", op: access.DecideChange, id: "decideChange", tag: "changes", summary: "Approve or reject a proposed change, with a reason; the last approval makes it", body: typeOf[countersign.ChangeDecision](), status: 200, answer: typeOf[countersign.ProposedChange](), handle: withBody(a.control.DecideChange)},
		{method: "POST", path: "/changes/{id}/make", op: access.MakeChange, id: "makeChange", tag: "changes", summary: "Make, as its proposer and once, an approved change that answers a secret: the answer is that of POST /tokens or of the sign-in link", status: 201, handle: a.makeChange},
		{method: "POST", path: "/changes/{id}/withdraw", op: access.WithdrawChange, id: "withdrawChange", tag: "changes", summary: "Take a proposed change back, as its proposer", body: typeOf[countersign.ChangeWithdrawal](), bodyOptional: true, status: 200, answer: typeOf[countersign.ProposedChange](), handle: withBody(a.control.WithdrawChange)},
		{method: "GET", path: "/stop", op: access.ReadStop, id: "stopState", tag: "service", summary: "May LIVE steps begin?", status: 200, answer: typeOf[countersign.StopState](), handle: a.stopState},
		{method: "POST", path: "/stop", op: access.StopTenant, id: "stop", tag: "service", summary: "Let no LIVE step begin: runs wait until POST /go", body: typeOf[countersign.StopWrite](), status: 200, answer: typeOf[countersign.StopState](), handle: a.stopTenant},
		{method: "POST", path: "/go", op: access.GoTenant, id: "go", tag: "service", summary: "Lift a stop: the runs that it held go on by themselves", body: typeOf[countersign.StopWrite](), status: 200, answer: typeOf[countersign.StopState](), handle: a.goOn},

		{method: "GET", path: "/tenants", op: access.ReadTenants, id: "listTenants", tag: "access", summary: "List tenants", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.Tenant]](), handle: list(a.control.Tenants)},
		{method: "PUT", path: "/tenants/{id}", op: access.WriteTenant, id: "putTenant", tag: "access", summary: "Create or rename a tenant", body: typeOf[countersign.TenantWrite](), status: 200, answer: typeOf[countersign.Tenant](), handle: withBody(a.control.PutTenant)},
		{method: "GET", path: "/users", op: access.ReadUsers, id: "listUsers", tag: "access", summary: "List users", query: listQuery(tenantParam), status: 200, answer: typeOf[countersign.Page[countersign.User]](), handle: a.listUsers},
		{method: "PUT", path: "/users/{email}", op: access.WriteUser, id: "putUser", tag: "access", summary: "Make somebody a user, or change what they have", body: typeOf[countersign.UserWrite](), status: 200, answer: typeOf[countersign.User](), handle: a.putUser},
		{method: "DELETE", path: "/users/{email}", op: access.DeleteUser, id: "deleteUser", tag: "access", summary: "End somebody's membership", query: []param{tenantParam}, status: 200, answer: typeOf[countersign.User](), handle: a.deleteUser},
		{method: "POST", path: "/users/{email}/sign-in-link", op: access.CreateLink, id: "createSignInLink", tag: "access", summary: "Make a link that signs a user in once; it is shown once and takes the place of an earlier one", body: typeOf[countersign.SignInLinkWrite](), status: 201, answer: typeOf[countersign.SignInLink](), handle: a.createSignInLink},
		{method: "GET", path: "/tokens", op: access.ReadTokens, id: "listTokens", tag: "access", summary: "List tokens", query: listQuery(tenantParam), status: 200, answer: typeOf[countersign.Page[countersign.Token]](), handle: a.listTokens},
		{method: "POST", path: "/tokens", op: access.CreateToken, id: "createToken", tag: "access", summary: "Make a token; it is shown once", body: typeOf[countersign.TokenWrite](), status: 201, answer: typeOf[countersign.NewToken](), handle: a.createToken},
		{method: "POST", path: "/tokens/renew", op: access.RenewToken, id: "renewToken", tag: "access", summary: "Make a reading token anew, as the one that asks: for 90 days, once; that one is good for 24 hours more", status: 201, answer: typeOf[countersign.NewToken](), handle: a.renewToken},
		{method: "DELETE", path: "/tokens/{id}", op: access.RevokeToken, id: "revokeToken", tag: "access", summary: "Revoke a token at once", query: []param{tenantParam}, status: 200, answer: typeOf[countersign.Token](), handle: a.revokeToken},
		{method: "POST", path: "/tokens/{id}/confirm", op: access.ConfirmToken, id: "confirmToken", tag: "access", summary: "Say, as the user whom a token names, that it is yours", status: 200, answer: typeOf[countersign.Token](), handle: byID(a.control.ConfirmToken)},

		{method: "GET", path: "/credentials", op: access.ReadCredentials, id: "listCredentials", tag: "access", summary: "List the credential variables with the tenant that each belongs to, never a value", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.Credential]](), handle: list(a.control.Credentials)},
		{method: "DELETE", path: "/credentials/{name}", op: access.FreeCredential, id: "freeCredential", tag: "access", summary: "Free a credential variable: calls with it are not sent until a tenant registers it anew, which it then belongs to", body: typeOf[countersign.Reason](), status: 200, answer: typeOf[countersign.Credential](), handle: a.freeCredential},

		{method: "GET", path: "/webhooks", op: access.ReadWebhooks, id: "listWebhooks", tag: "webhooks", summary: "List where the tenant is told of events", query: paging, status: 200, answer: typeOf[countersign.Page[countersign.Webhook]](), handle: list(a.control.Webhooks)},
		{method: "GET", path: "/webhooks/{id}", op: access.ReadWebhooks, id: "getWebhook", tag: "webhooks", summary: "Read a webhook and how its deliveries go", status: 200, answer: typeOf[countersign.Webhook](), handle: byID(a.control.Webhook)},
		{method: "PUT", path: "/webhooks/{id}", op: access.WriteWebhook, id: "putWebhook", tag: "webhooks", summary: "Create or update a webhook", body: typeOf[countersign.WebhookWrite](), status: 200, answer: typeOf[countersign.Webhook](), handle: withBody(a.control.PutWebhook)},
		{method: "DELETE", path: "/webhooks/{id}", op: access.DeleteWebhook, id: "deleteWebhook", tag: "webhooks", summary: "Delete a webhook", status: 200, answer: typeOf[countersign.Webhook](), handle: byID(a.control.DeleteWebhook)},

		{method: "GET", path: "/audit", op: access.ReadAudit, id: "listAudit", tag: "audit", summary: "List audit records", query: listQuery(auditParams...), status: 200, answer: typeOf[countersign.Page[countersign.AuditRecord]](), handle: a.listAudit},
		{method: "GET", path: "/audit/export", op: access.ReadAudit, id: "exportAudit", tag: "audit", summary: "Stream audit records as lines of JSON, oldest first; the last line says what they are of", query: append(slices.Clone(auditParams), param{name: "after", doc: "only records behind this sequence number, so that a collector goes on where it stopped", kind: afterParam}), status: 200, stream: a.exportAudit},
		{method: "GET", path: "/audit/checkpoint", op: access.ReadAudit, id: "auditCheckpoint", tag: "audit", summary: "The newest head of the log that witnesses have cosigned", query: []param{realmParam}, status: 200, answer: typeOf[countersign.AuditCheckpoint](), handle: a.auditCheckpoint},
		{method: "GET", path: "/audit/verify", op: access.ReadAudit, id: "verifyAudit", tag: "audit", summary: "Compute the log anew from its records", query: []param{realmParam}, status: 200, answer: typeOf[countersign.AuditVerification](), handle: a.verifyAudit},
	}
}

func (a *API) health(c *call) (any, error) { return a.control.Health(c.ctx) }

func (a *API) openapi(*call) (any, error) {
	doc, err := a.document()
	return written{doc}, err
}
