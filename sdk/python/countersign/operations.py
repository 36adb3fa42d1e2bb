"""Generated from the service's OpenAPI document by scripts/generate.py. Not for editing."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from . import types as t
from .calls import Call, key_of
from .listing import AsyncListing, Listing


class Operations(ABC):
    """A method for each operation, for blocking callers."""

    @abstractmethod
    def _send(self, call: Call) -> Any: ...

    @abstractmethod
    def _bytes(self, call: Call) -> bytes: ...

    @abstractmethod
    def _stream(self, call: Call) -> Iterator[bytes]: ...

    @abstractmethod
    def _events(self, call: Call) -> Iterator[Any]: ...

    @abstractmethod
    def _desk(self, call: Call) -> Iterator[Any]: ...

    def admit_agent(self, id: str, body: t.Admission) -> t.Agent:
        """Let an agent run."""
        return self._send(Call("POST", ("agents", id, "admit"), body=body))

    def agent(self, id: str) -> t.AgentWithInstances:
        """Read an agent with its instances."""
        return self._send(Call("GET", ("agents", id)))

    def agents(self, *, limit: int | None = None, offset: int | None = None, status: Literal["PENDING", "ADMITTED"] | None = None, project_id: str | None = None, retired: bool | None = None) -> Listing[t.ListedAgent]:
        """List agents."""
        return Listing(lambda query: self._send(Call("GET", ("agents",), query=query)), {"limit": limit, "offset": offset, "status": status, "projectId": project_id, "retired": retired})

    def approval(self, id: str) -> t.Approval:
        """Read an approval: exactly what would be sent."""
        return self._send(Call("GET", ("approvals", id)))

    def approvals(self, *, limit: int | None = None, offset: int | None = None, status: Literal["PENDING", "APPROVED", "REJECTED"] | None = None, run_id: str | None = None, project_id: str | None = None, agent_id: str | None = None, requested_by: str | None = None, group: str | None = None, q: str | None = None, order: Literal["oldest", "expires", "amount"] | None = None) -> Listing[t.ListedApproval]:
        """List approvals."""
        return Listing(lambda query: self._send(Call("GET", ("approvals",), query=query)), {"limit": limit, "offset": offset, "status": status, "runId": run_id, "projectId": project_id, "agentId": agent_id, "requestedBy": requested_by, "group": group, "q": q, "order": order})

    def audit(self, *, limit: int | None = None, offset: int | None = None, subject: str | None = None, actor: str | None = None, action: str | None = None, since: str | None = None, realm: bool | None = None) -> Listing[t.ListedAuditRecord]:
        """List audit records."""
        return Listing(lambda query: self._send(Call("GET", ("audit",), query=query)), {"limit": limit, "offset": offset, "subject": subject, "actor": actor, "action": action, "since": since, "realm": realm})

    def audit_checkpoint(self, *, realm: bool | None = None) -> t.AuditCheckpoint:
        """The newest head of the log that witnesses have cosigned."""
        return self._send(Call("GET", ("audit", "checkpoint"), query={"realm": realm}))

    def budgets(self, *, project_id: str | None = None, agent_id: str | None = None) -> t.BudgetUses:
        """What is used of the budgets of a project's capabilities, or of an agent."""
        return self._send(Call("GET", ("budgets",), query={"projectId": project_id, "agentId": agent_id}))

    def cancel_run(self, id: str, body: t.Reason) -> t.Run:
        """Cancel a run."""
        return self._send(Call("POST", ("runs", id, "cancel"), body=body))

    def change(self, id: str) -> t.ProposedChange:
        """Read a proposed change: what it weakens, and who has decided."""
        return self._send(Call("GET", ("changes", id)))

    def changes(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedProposedChange]:
        """List changes that weaken and that several administrators decide, newest first."""
        return Listing(lambda query: self._send(Call("GET", ("changes",), query=query)), {"limit": limit, "offset": offset})

    def check_project_health(self, id: str) -> t.HealthCheck:
        """Ask the health path."""
        return self._send(Call("POST", ("projects", id, "health-check")))

    def compile_plan(self, id: str, body: t.CompileRequest) -> t.Plan:
        """Compile a scenario's actions into a plan."""
        return self._send(Call("POST", ("models", id, "compile-plan"), body=body))

    def confirm_token(self, id: str) -> t.Token:
        """Say, as the user whom a token names, that it is yours."""
        return self._send(Call("POST", ("tokens", id, "confirm")))

    def create_plan(self, body: t.PlanWrite) -> t.Plan:
        """Store a plan."""
        return self._send(Call("POST", ("plans",), body=body))

    def create_sign_in_link(self, email: str, body: t.SignInLinkWrite) -> t.SignInLink:
        """Make a link that signs a user in once; it is shown once and takes the place of an earlier one."""
        return self._send(Call("POST", ("users", email, "sign-in-link"), body=body))

    def create_token(self, body: t.TokenWrite) -> t.NewToken:
        """Make a token; it is shown once."""
        return self._send(Call("POST", ("tokens",), body=body))

    def credentials(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedCredential]:
        """List the credential variables with the tenant that each belongs to, never a value."""
        return Listing(lambda query: self._send(Call("GET", ("credentials",), query=query)), {"limit": limit, "offset": offset})

    def decide_approval(self, id: str, body: t.Decision) -> t.Approval:
        """Approve or reject, with a reason."""
        return self._send(Call("POST", ("approvals", id, "decision"), body=body))

    def decide_change(self, id: str, body: t.ChangeDecision) -> t.ProposedChange:
        """Approve or reject a proposed change, with a reason; the last approval makes it."""
        return self._send(Call("POST", ("changes", id, "decision"), body=body))

    def delegations(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedDelegation]:
        """List who decides in whose place, and until when."""
        return Listing(lambda query: self._send(Call("GET", ("delegations",), query=query)), {"limit": limit, "offset": offset})

    def delete_group(self, id: str) -> t.Group:
        """Delete a group that no rule names."""
        return self._send(Call("DELETE", ("groups", id)))

    def delete_user(self, email: str, *, tenant_id: str | None = None) -> t.User:
        """End somebody's membership."""
        return self._send(Call("DELETE", ("users", email), query={"tenantId": tenant_id}))

    def delete_webhook(self, id: str) -> t.Webhook:
        """Delete a webhook."""
        return self._send(Call("DELETE", ("webhooks", id)))

    def disable_project(self, id: str, body: t.Toggle) -> t.Project:
        """Keep LIVE runs from a project."""
        return self._send(Call("POST", ("projects", id, "disable"), body=body))

    def enable_project(self, id: str, body: t.Toggle) -> t.Project:
        """Let LIVE runs use a project."""
        return self._send(Call("POST", ("projects", id, "enable"), body=body))

    def end_delegation(self, email: str) -> t.Delegation:
        """End a delegation."""
        return self._send(Call("DELETE", ("delegations", email)))

    def events(self) -> Iterator[t.DeskEvent]:
        """Follow what waits for you, and what changes, by server-sent events."""
        return self._desk(Call("GET", ("events",), accept="text/event-stream"))

    def export_audit(self, *, subject: str | None = None, actor: str | None = None, action: str | None = None, since: str | None = None, realm: bool | None = None, after: int | None = None) -> Iterator[bytes]:
        """Stream audit records as lines of JSON, oldest first; the last line says what they are of."""
        return self._stream(Call("GET", ("audit", "export"), query={"subject": subject, "actor": actor, "action": action, "since": since, "realm": realm, "after": after}, accept="application/x-ndjson"))

    def free_credential(self, name: str, body: t.Reason) -> t.Credential:
        """Free a credential variable: calls with it are not sent until a tenant registers it anew, which it then belongs to."""
        return self._send(Call("DELETE", ("credentials", name), body=body))

    def go(self, body: t.StopWrite) -> t.StopState:
        """Lift a stop: the runs that it held go on by themselves."""
        return self._send(Call("POST", ("go",), body=body))

    def group(self, id: str) -> t.Group:
        """Read a group with its members."""
        return self._send(Call("GET", ("groups", id)))

    def groups(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedGroup]:
        """List the groups of users whom approval rules name."""
        return Listing(lambda query: self._send(Call("GET", ("groups",), query=query)), {"limit": limit, "offset": offset})

    def health(self) -> t.Health:
        """Is the service well?."""
        return self._send(Call("GET", ("health",)))

    def heartbeat(self, id: str, body: t.Heartbeat) -> t.HeartbeatAck:
        """Say that an instance lives."""
        return self._send(Call("POST", ("agents", id, "heartbeat"), body=body))

    def hold_run(self, id: str, body: t.HoldWrite) -> t.Run:
        """Keep a run from being redacted and archived, or end that."""
        return self._send(Call("PUT", ("runs", id, "hold"), body=body))

    def integration_contract(self) -> dict[str, Any]:
        """Signing, headers, limits and codes, machine-readable."""
        return self._send(Call("GET", ("integrations", "contract")))

    def look_again(self, id: str) -> t.Approval:
        """Read the state that the approval is asked for against again; decides nothing."""
        return self._send(Call("POST", ("approvals", id, "look")))

    def make_change(self, id: str) -> dict[str, Any]:
        """Make, as its proposer and once, an approved change that answers a secret: the answer is that of POST /tokens or of the sign-in link."""
        return self._send(Call("POST", ("changes", id, "make")))

    def metrics(self) -> dict[str, Any]:
        """Figures, as JSON or in Prometheus's exposition."""
        return self._send(Call("GET", ("metrics",)))

    def model(self, id: str) -> t.Model:
        """Read a model."""
        return self._send(Call("GET", ("models", id)))

    def models(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> Listing[t.ListedModel]:
        """List models."""
        return Listing(lambda query: self._send(Call("GET", ("models",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    def openapi(self) -> dict[str, Any]:
        """This document."""
        return self._send(Call("GET", ("openapi.json",)))

    def plan(self, id: str) -> t.Plan:
        """Read a plan with its snapshots."""
        return self._send(Call("GET", ("plans", id)))

    def plan_drift(self, id: str) -> t.Drift:
        """What changed since the plan was made."""
        return self._send(Call("GET", ("plans", id, "drift")))

    def plans(self, *, limit: int | None = None, offset: int | None = None, status: Literal["READY", "INVALID"] | None = None, model_id: str | None = None) -> Listing[t.ListedPlan]:
        """List plans."""
        return Listing(lambda query: self._send(Call("GET", ("plans",), query=query)), {"limit": limit, "offset": offset, "status": status, "modelId": model_id})

    def probe_run(self, id: str, body: t.ProbeStart) -> t.Run:
        """Send the uncertain step's probe and keep its answer."""
        return self._send(Call("POST", ("runs", id, "probe"), body=body, timeout=75.0))

    def project(self, id: str) -> t.Project:
        """Read a project."""
        return self._send(Call("GET", ("projects", id)))

    def projects(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> Listing[t.ListedProject]:
        """List projects."""
        return Listing(lambda query: self._send(Call("GET", ("projects",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    def reconcile_run(self, id: str, body: t.Reconcile) -> t.Run:
        """Say, with evidence, what became of an uncertain step."""
        return self._send(Call("POST", ("runs", id, "reconcile"), body=body))

    def record_conformance(self, id: str, body: t.ConformanceWrite) -> t.Project:
        """Record what a check of a capability's receiver found."""
        return self._send(Call("POST", ("projects", id, "conformance"), body=body))

    def redact_run(self, id: str, body: t.Reason) -> t.Run:
        """Remove what an ended run holds: ids, principals, times, statuses, codes, names, decisions and digests stay."""
        return self._send(Call("POST", ("runs", id, "redact"), body=body))

    def renew_token(self) -> t.NewToken:
        """Make a reading token anew, as the one that asks: for 90 days, once; that one is good for 24 hours more."""
        return self._send(Call("POST", ("tokens", "renew")))

    def restore_agent(self, id: str, body: t.Reason) -> t.Agent:
        """Bring a retired agent back."""
        return self._send(Call("POST", ("agents", id, "restore"), body=body))

    def restore_model(self, id: str, body: t.Reason) -> t.Model:
        """Bring a retired model back."""
        return self._send(Call("POST", ("models", id, "restore"), body=body))

    def restore_project(self, id: str, body: t.Reason) -> t.Project:
        """Bring a retired project back."""
        return self._send(Call("POST", ("projects", id, "restore"), body=body))

    def restore_team(self, id: str, body: t.Reason) -> t.Team:
        """Bring a retired team back."""
        return self._send(Call("POST", ("teams", id, "restore"), body=body))

    def resume_model(self, id: str, body: t.Reason) -> t.Model:
        """Let plans be made of a model again."""
        return self._send(Call("POST", ("models", id, "resume"), body=body))

    def resume_team(self, id: str, body: t.Reason) -> t.Team:
        """Let a team run again."""
        return self._send(Call("POST", ("teams", id, "resume"), body=body))

    def retire_agent(self, id: str, body: t.Reason) -> t.Agent:
        """Retire an agent: hidden from lists, and nothing new is made of it."""
        return self._send(Call("POST", ("agents", id, "retire"), body=body))

    def retire_model(self, id: str, body: t.Reason) -> t.Model:
        """Retire a model: hidden from lists, and nothing new is made of it."""
        return self._send(Call("POST", ("models", id, "retire"), body=body))

    def retire_project(self, id: str, body: t.Reason) -> t.Project:
        """Retire a project that no unfinished run uses, and disable it: hidden from lists, and nothing new is made of it."""
        return self._send(Call("POST", ("projects", id, "retire"), body=body))

    def retire_team(self, id: str, body: t.Reason) -> t.Team:
        """Retire a team: hidden from lists, and nothing new is made of it."""
        return self._send(Call("POST", ("teams", id, "retire"), body=body))

    def revoke_token(self, id: str, *, tenant_id: str | None = None) -> t.Token:
        """Revoke a token at once."""
        return self._send(Call("DELETE", ("tokens", id), query={"tenantId": tenant_id}))

    def run(self, id: str) -> t.Run:
        """Read a run with its steps and verification."""
        return self._send(Call("GET", ("runs", id)))

    def run_events(self, id: str, *, last_event_id: str | None = None) -> Iterator[t.ListedRun]:
        """Follow a run by server-sent events."""
        return self._events(Call("GET", ("runs", id, "events"), headers={} if last_event_id is None else {"Last-Event-ID": last_event_id}, accept="text/event-stream"))

    def run_receipt(self, id: str) -> bytes:
        """The signed receipt of an ended run, which anybody can verify offline."""
        return self._bytes(Call("GET", ("runs", id, "receipt")))

    def run_rehearsal(self, id: str) -> t.Rehearsal:
        """Does a LIVE run send what was rehearsed?."""
        return self._send(Call("GET", ("runs", id, "rehearsal")))

    def runs(self, *, limit: int | None = None, offset: int | None = None, status: Literal["READY", "RUNNING", "WAITING_APPROVAL", "RECOVERY_REQUIRED", "COMPLETED", "FAILED", "CANCELLED"] | None = None, plan_id: str | None = None, agent_id: str | None = None, q: str | None = None, reason: Literal["receiver_refused", "output_missing", "expectation_not_met", "not_sent", "outcome_unknown", "approval_rejected", "approval_expired", "denied_by_rule", "denied_by_budget", "drift", "project_disabled", "cancelled", "abandoned", "set_aside", "answer_unsigned", "withdrawn", "not_executed", "precondition_failed", "precondition_unknown"] | str | None = None, capability: str | None = None, since: str | None = None, until: str | None = None) -> Listing[t.ListedRun]:
        """List runs."""
        return Listing(lambda query: self._send(Call("GET", ("runs",), query=query)), {"limit": limit, "offset": offset, "status": status, "planId": plan_id, "agentId": agent_id, "q": q, "reason": reason, "capability": capability, "since": since, "until": until})

    def save_agent_identities(self, id: str, body: t.IdentitiesWrite) -> t.Agent:
        """Say by which tokens of identity providers a caller is the agent."""
        return self._send(Call("PUT", ("agents", id, "identities"), body=body))

    def save_answer_keys(self, id: str, body: t.AnswerKeysWrite) -> t.Project:
        """Change the keys by which a project's receiver signs its answers, also under unfinished runs."""
        return self._send(Call("PUT", ("projects", id, "answer-keys"), body=body))

    def save_delegation(self, email: str, body: t.DelegationWrite) -> t.Delegation:
        """Let another user decide in place of one who is away."""
        return self._send(Call("PUT", ("delegations", email), body=body))

    def save_group(self, id: str, body: t.GroupWrite) -> t.Group:
        """Create or update a group."""
        return self._send(Call("PUT", ("groups", id), body=body))

    def save_model(self, id: str, body: t.ModelWrite) -> t.Model:
        """Create or update a model."""
        return self._send(Call("PUT", ("models", id), body=body))

    def save_project(self, id: str, body: t.ProjectWrite) -> t.Project:
        """Register or edit a project."""
        return self._send(Call("PUT", ("projects", id), body=body))

    def save_settings(self, body: t.TenantSettingsWrite) -> t.TenantSettings:
        """Change the tenant's settings, such as whether each approval is signed with a passkey."""
        return self._send(Call("PUT", ("settings",), body=body))

    def save_team(self, id: str, body: t.TeamWrite) -> t.Team:
        """Create or update a team of at least two admitted agents."""
        return self._send(Call("PUT", ("teams", id), body=body))

    def save_tenant(self, id: str, body: t.TenantWrite) -> t.Tenant:
        """Create or rename a tenant."""
        return self._send(Call("PUT", ("tenants", id), body=body))

    def save_user(self, email: str, body: t.UserWrite) -> t.User:
        """Make somebody a user, or change what they have."""
        return self._send(Call("PUT", ("users", email), body=body))

    def save_webhook(self, id: str, body: t.WebhookWrite) -> t.Webhook:
        """Create or update a webhook."""
        return self._send(Call("PUT", ("webhooks", id), body=body))

    def search(self, *, q: str | None = None) -> t.SearchResult:
        """Find runs by a text or number in their inputs and answers or by the key of their start, and tokens by their name."""
        return self._send(Call("GET", ("search",), query={"q": q}))

    def session(self) -> t.Session:
        """Who asks, and what a session or token may do."""
        return self._send(Call("GET", ("session",)))

    def settings(self) -> t.TenantSettings:
        """Read what the tenant's administrators have set."""
        return self._send(Call("GET", ("settings",)))

    def settle_run(self, id: str, body: t.Settle) -> t.Run:
        """End an uncertain step by what its receiver has signed, or have the receiver withdraw a key that it never saw."""
        return self._send(Call("POST", ("runs", id, "settle"), body=body, timeout=75.0))

    def simulate_model(self, id: str, body: t.SimulationRequest) -> t.Simulation:
        """Run a scenario on paper."""
        return self._send(Call("POST", ("models", id, "simulate"), body=body))

    def start_agent_run(self, id: str, body: t.AgentRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run one capability by an agent."""
        return self._send(Call("POST", ("agents", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    def start_project_run(self, id: str, body: t.ProjectRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run one capability of a project, without a model."""
        return self._send(Call("POST", ("projects", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    def start_run(self, body: t.RunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Start a plan's run."""
        return self._send(Call("POST", ("runs",), body=body, idempotency_key=key_of(idempotency_key)))

    def start_team_run(self, id: str, body: t.TeamRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run a team's steps, one after the other."""
        return self._send(Call("POST", ("teams", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    def stop(self, body: t.StopWrite) -> t.StopState:
        """Let no LIVE step begin: runs wait until POST /go."""
        return self._send(Call("POST", ("stop",), body=body))

    def stop_state(self) -> t.StopState:
        """May LIVE steps begin?."""
        return self._send(Call("GET", ("stop",)))

    def suspend_agent(self, id: str, body: t.Admission) -> t.Agent:
        """Suspend an agent: no run of it takes a further step."""
        return self._send(Call("POST", ("agents", id, "suspend"), body=body))

    def suspend_model(self, id: str, body: t.Reason) -> t.Model:
        """Suspend a model: no earlier plan of it takes a further step."""
        return self._send(Call("POST", ("models", id, "suspend"), body=body))

    def suspend_team(self, id: str, body: t.Reason) -> t.Team:
        """Suspend a team: no run of it takes a further step."""
        return self._send(Call("POST", ("teams", id, "suspend"), body=body))

    def sync_agents(self, id: str, body: t.Manifest) -> t.SyncedAgents:
        """Bring a system's agents to what its manifest says, all or nothing."""
        return self._send(Call("POST", ("systems", id, "agents", "sync"), body=body))

    def team(self, id: str) -> t.Team:
        """Read a team."""
        return self._send(Call("GET", ("teams", id)))

    def teams(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> Listing[t.ListedTeam]:
        """List teams."""
        return Listing(lambda query: self._send(Call("GET", ("teams",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    def tenants(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedTenant]:
        """List tenants."""
        return Listing(lambda query: self._send(Call("GET", ("tenants",), query=query)), {"limit": limit, "offset": offset})

    def tokens(self, *, limit: int | None = None, offset: int | None = None, tenant_id: str | None = None) -> Listing[t.ListedToken]:
        """List tokens."""
        return Listing(lambda query: self._send(Call("GET", ("tokens",), query=query)), {"limit": limit, "offset": offset, "tenantId": tenant_id})

    def users(self, *, limit: int | None = None, offset: int | None = None, tenant_id: str | None = None) -> Listing[t.ListedUser]:
        """List users."""
        return Listing(lambda query: self._send(Call("GET", ("users",), query=query)), {"limit": limit, "offset": offset, "tenantId": tenant_id})

    def validate_model(self, id: str) -> t.Validation:
        """What is wrong with a model's meaning."""
        return self._send(Call("POST", ("models", id, "validate")))

    def validate_project(self, id: str) -> t.Validation:
        """Contradictions and gaps of a project's approval rules, each with inputs that show it."""
        return self._send(Call("POST", ("projects", id, "validate")))

    def verify_audit(self, *, realm: bool | None = None) -> t.AuditVerification:
        """Compute the log anew from its records."""
        return self._send(Call("GET", ("audit", "verify"), query={"realm": realm}))

    def webhook(self, id: str) -> t.Webhook:
        """Read a webhook and how its deliveries go."""
        return self._send(Call("GET", ("webhooks", id)))

    def webhooks(self, *, limit: int | None = None, offset: int | None = None) -> Listing[t.ListedWebhook]:
        """List where the tenant is told of events."""
        return Listing(lambda query: self._send(Call("GET", ("webhooks",), query=query)), {"limit": limit, "offset": offset})

    def what_if(self, id: str, body: t.WhatIfRequest) -> t.WhatIf:
        """What another approval, other rules or other budgets, or a proposed change, would have done with past runs; changes nothing."""
        return self._send(Call("POST", ("projects", id, "what-if"), body=body))

    def withdraw_change(self, id: str, body: t.ChangeWithdrawal) -> t.ProposedChange:
        """Take a proposed change back, as its proposer."""
        return self._send(Call("POST", ("changes", id, "withdraw"), body=body))


class AsyncOperations(ABC):
    """A method for each operation, for asyncio."""

    @abstractmethod
    async def _send(self, call: Call) -> Any: ...

    @abstractmethod
    async def _bytes(self, call: Call) -> bytes: ...

    @abstractmethod
    def _stream(self, call: Call) -> AsyncIterator[bytes]: ...

    @abstractmethod
    def _events(self, call: Call) -> AsyncIterator[Any]: ...

    @abstractmethod
    def _desk(self, call: Call) -> AsyncIterator[Any]: ...

    async def admit_agent(self, id: str, body: t.Admission) -> t.Agent:
        """Let an agent run."""
        return await self._send(Call("POST", ("agents", id, "admit"), body=body))

    async def agent(self, id: str) -> t.AgentWithInstances:
        """Read an agent with its instances."""
        return await self._send(Call("GET", ("agents", id)))

    def agents(self, *, limit: int | None = None, offset: int | None = None, status: Literal["PENDING", "ADMITTED"] | None = None, project_id: str | None = None, retired: bool | None = None) -> AsyncListing[t.ListedAgent]:
        """List agents."""
        return AsyncListing(lambda query: self._send(Call("GET", ("agents",), query=query)), {"limit": limit, "offset": offset, "status": status, "projectId": project_id, "retired": retired})

    async def approval(self, id: str) -> t.Approval:
        """Read an approval: exactly what would be sent."""
        return await self._send(Call("GET", ("approvals", id)))

    def approvals(self, *, limit: int | None = None, offset: int | None = None, status: Literal["PENDING", "APPROVED", "REJECTED"] | None = None, run_id: str | None = None, project_id: str | None = None, agent_id: str | None = None, requested_by: str | None = None, group: str | None = None, q: str | None = None, order: Literal["oldest", "expires", "amount"] | None = None) -> AsyncListing[t.ListedApproval]:
        """List approvals."""
        return AsyncListing(lambda query: self._send(Call("GET", ("approvals",), query=query)), {"limit": limit, "offset": offset, "status": status, "runId": run_id, "projectId": project_id, "agentId": agent_id, "requestedBy": requested_by, "group": group, "q": q, "order": order})

    def audit(self, *, limit: int | None = None, offset: int | None = None, subject: str | None = None, actor: str | None = None, action: str | None = None, since: str | None = None, realm: bool | None = None) -> AsyncListing[t.ListedAuditRecord]:
        """List audit records."""
        return AsyncListing(lambda query: self._send(Call("GET", ("audit",), query=query)), {"limit": limit, "offset": offset, "subject": subject, "actor": actor, "action": action, "since": since, "realm": realm})

    async def audit_checkpoint(self, *, realm: bool | None = None) -> t.AuditCheckpoint:
        """The newest head of the log that witnesses have cosigned."""
        return await self._send(Call("GET", ("audit", "checkpoint"), query={"realm": realm}))

    async def budgets(self, *, project_id: str | None = None, agent_id: str | None = None) -> t.BudgetUses:
        """What is used of the budgets of a project's capabilities, or of an agent."""
        return await self._send(Call("GET", ("budgets",), query={"projectId": project_id, "agentId": agent_id}))

    async def cancel_run(self, id: str, body: t.Reason) -> t.Run:
        """Cancel a run."""
        return await self._send(Call("POST", ("runs", id, "cancel"), body=body))

    async def change(self, id: str) -> t.ProposedChange:
        """Read a proposed change: what it weakens, and who has decided."""
        return await self._send(Call("GET", ("changes", id)))

    def changes(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedProposedChange]:
        """List changes that weaken and that several administrators decide, newest first."""
        return AsyncListing(lambda query: self._send(Call("GET", ("changes",), query=query)), {"limit": limit, "offset": offset})

    async def check_project_health(self, id: str) -> t.HealthCheck:
        """Ask the health path."""
        return await self._send(Call("POST", ("projects", id, "health-check")))

    async def compile_plan(self, id: str, body: t.CompileRequest) -> t.Plan:
        """Compile a scenario's actions into a plan."""
        return await self._send(Call("POST", ("models", id, "compile-plan"), body=body))

    async def confirm_token(self, id: str) -> t.Token:
        """Say, as the user whom a token names, that it is yours."""
        return await self._send(Call("POST", ("tokens", id, "confirm")))

    async def create_plan(self, body: t.PlanWrite) -> t.Plan:
        """Store a plan."""
        return await self._send(Call("POST", ("plans",), body=body))

    async def create_sign_in_link(self, email: str, body: t.SignInLinkWrite) -> t.SignInLink:
        """Make a link that signs a user in once; it is shown once and takes the place of an earlier one."""
        return await self._send(Call("POST", ("users", email, "sign-in-link"), body=body))

    async def create_token(self, body: t.TokenWrite) -> t.NewToken:
        """Make a token; it is shown once."""
        return await self._send(Call("POST", ("tokens",), body=body))

    def credentials(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedCredential]:
        """List the credential variables with the tenant that each belongs to, never a value."""
        return AsyncListing(lambda query: self._send(Call("GET", ("credentials",), query=query)), {"limit": limit, "offset": offset})

    async def decide_approval(self, id: str, body: t.Decision) -> t.Approval:
        """Approve or reject, with a reason."""
        return await self._send(Call("POST", ("approvals", id, "decision"), body=body))

    async def decide_change(self, id: str, body: t.ChangeDecision) -> t.ProposedChange:
        """Approve or reject a proposed change, with a reason; the last approval makes it."""
        return await self._send(Call("POST", ("changes", id, "decision"), body=body))

    def delegations(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedDelegation]:
        """List who decides in whose place, and until when."""
        return AsyncListing(lambda query: self._send(Call("GET", ("delegations",), query=query)), {"limit": limit, "offset": offset})

    async def delete_group(self, id: str) -> t.Group:
        """Delete a group that no rule names."""
        return await self._send(Call("DELETE", ("groups", id)))

    async def delete_user(self, email: str, *, tenant_id: str | None = None) -> t.User:
        """End somebody's membership."""
        return await self._send(Call("DELETE", ("users", email), query={"tenantId": tenant_id}))

    async def delete_webhook(self, id: str) -> t.Webhook:
        """Delete a webhook."""
        return await self._send(Call("DELETE", ("webhooks", id)))

    async def disable_project(self, id: str, body: t.Toggle) -> t.Project:
        """Keep LIVE runs from a project."""
        return await self._send(Call("POST", ("projects", id, "disable"), body=body))

    async def enable_project(self, id: str, body: t.Toggle) -> t.Project:
        """Let LIVE runs use a project."""
        return await self._send(Call("POST", ("projects", id, "enable"), body=body))

    async def end_delegation(self, email: str) -> t.Delegation:
        """End a delegation."""
        return await self._send(Call("DELETE", ("delegations", email)))

    def events(self) -> AsyncIterator[t.DeskEvent]:
        """Follow what waits for you, and what changes, by server-sent events."""
        return self._desk(Call("GET", ("events",), accept="text/event-stream"))

    def export_audit(self, *, subject: str | None = None, actor: str | None = None, action: str | None = None, since: str | None = None, realm: bool | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """Stream audit records as lines of JSON, oldest first; the last line says what they are of."""
        return self._stream(Call("GET", ("audit", "export"), query={"subject": subject, "actor": actor, "action": action, "since": since, "realm": realm, "after": after}, accept="application/x-ndjson"))

    async def free_credential(self, name: str, body: t.Reason) -> t.Credential:
        """Free a credential variable: calls with it are not sent until a tenant registers it anew, which it then belongs to."""
        return await self._send(Call("DELETE", ("credentials", name), body=body))

    async def go(self, body: t.StopWrite) -> t.StopState:
        """Lift a stop: the runs that it held go on by themselves."""
        return await self._send(Call("POST", ("go",), body=body))

    async def group(self, id: str) -> t.Group:
        """Read a group with its members."""
        return await self._send(Call("GET", ("groups", id)))

    def groups(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedGroup]:
        """List the groups of users whom approval rules name."""
        return AsyncListing(lambda query: self._send(Call("GET", ("groups",), query=query)), {"limit": limit, "offset": offset})

    async def health(self) -> t.Health:
        """Is the service well?."""
        return await self._send(Call("GET", ("health",)))

    async def heartbeat(self, id: str, body: t.Heartbeat) -> t.HeartbeatAck:
        """Say that an instance lives."""
        return await self._send(Call("POST", ("agents", id, "heartbeat"), body=body))

    async def hold_run(self, id: str, body: t.HoldWrite) -> t.Run:
        """Keep a run from being redacted and archived, or end that."""
        return await self._send(Call("PUT", ("runs", id, "hold"), body=body))

    async def integration_contract(self) -> dict[str, Any]:
        """Signing, headers, limits and codes, machine-readable."""
        return await self._send(Call("GET", ("integrations", "contract")))

    async def look_again(self, id: str) -> t.Approval:
        """Read the state that the approval is asked for against again; decides nothing."""
        return await self._send(Call("POST", ("approvals", id, "look")))

    async def make_change(self, id: str) -> dict[str, Any]:
        """Make, as its proposer and once, an approved change that answers a secret: the answer is that of POST /tokens or of the sign-in link."""
        return await self._send(Call("POST", ("changes", id, "make")))

    async def metrics(self) -> dict[str, Any]:
        """Figures, as JSON or in Prometheus's exposition."""
        return await self._send(Call("GET", ("metrics",)))

    async def model(self, id: str) -> t.Model:
        """Read a model."""
        return await self._send(Call("GET", ("models", id)))

    def models(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> AsyncListing[t.ListedModel]:
        """List models."""
        return AsyncListing(lambda query: self._send(Call("GET", ("models",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    async def openapi(self) -> dict[str, Any]:
        """This document."""
        return await self._send(Call("GET", ("openapi.json",)))

    async def plan(self, id: str) -> t.Plan:
        """Read a plan with its snapshots."""
        return await self._send(Call("GET", ("plans", id)))

    async def plan_drift(self, id: str) -> t.Drift:
        """What changed since the plan was made."""
        return await self._send(Call("GET", ("plans", id, "drift")))

    def plans(self, *, limit: int | None = None, offset: int | None = None, status: Literal["READY", "INVALID"] | None = None, model_id: str | None = None) -> AsyncListing[t.ListedPlan]:
        """List plans."""
        return AsyncListing(lambda query: self._send(Call("GET", ("plans",), query=query)), {"limit": limit, "offset": offset, "status": status, "modelId": model_id})

    async def probe_run(self, id: str, body: t.ProbeStart) -> t.Run:
        """Send the uncertain step's probe and keep its answer."""
        return await self._send(Call("POST", ("runs", id, "probe"), body=body, timeout=75.0))

    async def project(self, id: str) -> t.Project:
        """Read a project."""
        return await self._send(Call("GET", ("projects", id)))

    def projects(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> AsyncListing[t.ListedProject]:
        """List projects."""
        return AsyncListing(lambda query: self._send(Call("GET", ("projects",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    async def reconcile_run(self, id: str, body: t.Reconcile) -> t.Run:
        """Say, with evidence, what became of an uncertain step."""
        return await self._send(Call("POST", ("runs", id, "reconcile"), body=body))

    async def record_conformance(self, id: str, body: t.ConformanceWrite) -> t.Project:
        """Record what a check of a capability's receiver found."""
        return await self._send(Call("POST", ("projects", id, "conformance"), body=body))

    async def redact_run(self, id: str, body: t.Reason) -> t.Run:
        """Remove what an ended run holds: ids, principals, times, statuses, codes, names, decisions and digests stay."""
        return await self._send(Call("POST", ("runs", id, "redact"), body=body))

    async def renew_token(self) -> t.NewToken:
        """Make a reading token anew, as the one that asks: for 90 days, once; that one is good for 24 hours more."""
        return await self._send(Call("POST", ("tokens", "renew")))

    async def restore_agent(self, id: str, body: t.Reason) -> t.Agent:
        """Bring a retired agent back."""
        return await self._send(Call("POST", ("agents", id, "restore"), body=body))

    async def restore_model(self, id: str, body: t.Reason) -> t.Model:
        """Bring a retired model back."""
        return await self._send(Call("POST", ("models", id, "restore"), body=body))

    async def restore_project(self, id: str, body: t.Reason) -> t.Project:
        """Bring a retired project back."""
        return await self._send(Call("POST", ("projects", id, "restore"), body=body))

    async def restore_team(self, id: str, body: t.Reason) -> t.Team:
        """Bring a retired team back."""
        return await self._send(Call("POST", ("teams", id, "restore"), body=body))

    async def resume_model(self, id: str, body: t.Reason) -> t.Model:
        """Let plans be made of a model again."""
        return await self._send(Call("POST", ("models", id, "resume"), body=body))

    async def resume_team(self, id: str, body: t.Reason) -> t.Team:
        """Let a team run again."""
        return await self._send(Call("POST", ("teams", id, "resume"), body=body))

    async def retire_agent(self, id: str, body: t.Reason) -> t.Agent:
        """Retire an agent: hidden from lists, and nothing new is made of it."""
        return await self._send(Call("POST", ("agents", id, "retire"), body=body))

    async def retire_model(self, id: str, body: t.Reason) -> t.Model:
        """Retire a model: hidden from lists, and nothing new is made of it."""
        return await self._send(Call("POST", ("models", id, "retire"), body=body))

    async def retire_project(self, id: str, body: t.Reason) -> t.Project:
        """Retire a project that no unfinished run uses, and disable it: hidden from lists, and nothing new is made of it."""
        return await self._send(Call("POST", ("projects", id, "retire"), body=body))

    async def retire_team(self, id: str, body: t.Reason) -> t.Team:
        """Retire a team: hidden from lists, and nothing new is made of it."""
        return await self._send(Call("POST", ("teams", id, "retire"), body=body))

    async def revoke_token(self, id: str, *, tenant_id: str | None = None) -> t.Token:
        """Revoke a token at once."""
        return await self._send(Call("DELETE", ("tokens", id), query={"tenantId": tenant_id}))

    async def run(self, id: str) -> t.Run:
        """Read a run with its steps and verification."""
        return await self._send(Call("GET", ("runs", id)))

    def run_events(self, id: str, *, last_event_id: str | None = None) -> AsyncIterator[t.ListedRun]:
        """Follow a run by server-sent events."""
        return self._events(Call("GET", ("runs", id, "events"), headers={} if last_event_id is None else {"Last-Event-ID": last_event_id}, accept="text/event-stream"))

    async def run_receipt(self, id: str) -> bytes:
        """The signed receipt of an ended run, which anybody can verify offline."""
        return await self._bytes(Call("GET", ("runs", id, "receipt")))

    async def run_rehearsal(self, id: str) -> t.Rehearsal:
        """Does a LIVE run send what was rehearsed?."""
        return await self._send(Call("GET", ("runs", id, "rehearsal")))

    def runs(self, *, limit: int | None = None, offset: int | None = None, status: Literal["READY", "RUNNING", "WAITING_APPROVAL", "RECOVERY_REQUIRED", "COMPLETED", "FAILED", "CANCELLED"] | None = None, plan_id: str | None = None, agent_id: str | None = None, q: str | None = None, reason: Literal["receiver_refused", "output_missing", "expectation_not_met", "not_sent", "outcome_unknown", "approval_rejected", "approval_expired", "denied_by_rule", "denied_by_budget", "drift", "project_disabled", "cancelled", "abandoned", "set_aside", "answer_unsigned", "withdrawn", "not_executed", "precondition_failed", "precondition_unknown"] | str | None = None, capability: str | None = None, since: str | None = None, until: str | None = None) -> AsyncListing[t.ListedRun]:
        """List runs."""
        return AsyncListing(lambda query: self._send(Call("GET", ("runs",), query=query)), {"limit": limit, "offset": offset, "status": status, "planId": plan_id, "agentId": agent_id, "q": q, "reason": reason, "capability": capability, "since": since, "until": until})

    async def save_agent_identities(self, id: str, body: t.IdentitiesWrite) -> t.Agent:
        """Say by which tokens of identity providers a caller is the agent."""
        return await self._send(Call("PUT", ("agents", id, "identities"), body=body))

    async def save_answer_keys(self, id: str, body: t.AnswerKeysWrite) -> t.Project:
        """Change the keys by which a project's receiver signs its answers, also under unfinished runs."""
        return await self._send(Call("PUT", ("projects", id, "answer-keys"), body=body))

    async def save_delegation(self, email: str, body: t.DelegationWrite) -> t.Delegation:
        """Let another user decide in place of one who is away."""
        return await self._send(Call("PUT", ("delegations", email), body=body))

    async def save_group(self, id: str, body: t.GroupWrite) -> t.Group:
        """Create or update a group."""
        return await self._send(Call("PUT", ("groups", id), body=body))

    async def save_model(self, id: str, body: t.ModelWrite) -> t.Model:
        """Create or update a model."""
        return await self._send(Call("PUT", ("models", id), body=body))

    async def save_project(self, id: str, body: t.ProjectWrite) -> t.Project:
        """Register or edit a project."""
        return await self._send(Call("PUT", ("projects", id), body=body))

    async def save_settings(self, body: t.TenantSettingsWrite) -> t.TenantSettings:
        """Change the tenant's settings, such as whether each approval is signed with a passkey."""
        return await self._send(Call("PUT", ("settings",), body=body))

    async def save_team(self, id: str, body: t.TeamWrite) -> t.Team:
        """Create or update a team of at least two admitted agents."""
        return await self._send(Call("PUT", ("teams", id), body=body))

    async def save_tenant(self, id: str, body: t.TenantWrite) -> t.Tenant:
        """Create or rename a tenant."""
        return await self._send(Call("PUT", ("tenants", id), body=body))

    async def save_user(self, email: str, body: t.UserWrite) -> t.User:
        """Make somebody a user, or change what they have."""
        return await self._send(Call("PUT", ("users", email), body=body))

    async def save_webhook(self, id: str, body: t.WebhookWrite) -> t.Webhook:
        """Create or update a webhook."""
        return await self._send(Call("PUT", ("webhooks", id), body=body))

    async def search(self, *, q: str | None = None) -> t.SearchResult:
        """Find runs by a text or number in their inputs and answers or by the key of their start, and tokens by their name."""
        return await self._send(Call("GET", ("search",), query={"q": q}))

    async def session(self) -> t.Session:
        """Who asks, and what a session or token may do."""
        return await self._send(Call("GET", ("session",)))

    async def settings(self) -> t.TenantSettings:
        """Read what the tenant's administrators have set."""
        return await self._send(Call("GET", ("settings",)))

    async def settle_run(self, id: str, body: t.Settle) -> t.Run:
        """End an uncertain step by what its receiver has signed, or have the receiver withdraw a key that it never saw."""
        return await self._send(Call("POST", ("runs", id, "settle"), body=body, timeout=75.0))

    async def simulate_model(self, id: str, body: t.SimulationRequest) -> t.Simulation:
        """Run a scenario on paper."""
        return await self._send(Call("POST", ("models", id, "simulate"), body=body))

    async def start_agent_run(self, id: str, body: t.AgentRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run one capability by an agent."""
        return await self._send(Call("POST", ("agents", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    async def start_project_run(self, id: str, body: t.ProjectRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run one capability of a project, without a model."""
        return await self._send(Call("POST", ("projects", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    async def start_run(self, body: t.RunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Start a plan's run."""
        return await self._send(Call("POST", ("runs",), body=body, idempotency_key=key_of(idempotency_key)))

    async def start_team_run(self, id: str, body: t.TeamRunStart, *, idempotency_key: str | None = None) -> t.Run:
        """Run a team's steps, one after the other."""
        return await self._send(Call("POST", ("teams", id, "runs"), body=body, idempotency_key=key_of(idempotency_key)))

    async def stop(self, body: t.StopWrite) -> t.StopState:
        """Let no LIVE step begin: runs wait until POST /go."""
        return await self._send(Call("POST", ("stop",), body=body))

    async def stop_state(self) -> t.StopState:
        """May LIVE steps begin?."""
        return await self._send(Call("GET", ("stop",)))

    async def suspend_agent(self, id: str, body: t.Admission) -> t.Agent:
        """Suspend an agent: no run of it takes a further step."""
        return await self._send(Call("POST", ("agents", id, "suspend"), body=body))

    async def suspend_model(self, id: str, body: t.Reason) -> t.Model:
        """Suspend a model: no earlier plan of it takes a further step."""
        return await self._send(Call("POST", ("models", id, "suspend"), body=body))

    async def suspend_team(self, id: str, body: t.Reason) -> t.Team:
        """Suspend a team: no run of it takes a further step."""
        return await self._send(Call("POST", ("teams", id, "suspend"), body=body))

    async def sync_agents(self, id: str, body: t.Manifest) -> t.SyncedAgents:
        """Bring a system's agents to what its manifest says, all or nothing."""
        return await self._send(Call("POST", ("systems", id, "agents", "sync"), body=body))

    async def team(self, id: str) -> t.Team:
        """Read a team."""
        return await self._send(Call("GET", ("teams", id)))

    def teams(self, *, limit: int | None = None, offset: int | None = None, retired: bool | None = None) -> AsyncListing[t.ListedTeam]:
        """List teams."""
        return AsyncListing(lambda query: self._send(Call("GET", ("teams",), query=query)), {"limit": limit, "offset": offset, "retired": retired})

    def tenants(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedTenant]:
        """List tenants."""
        return AsyncListing(lambda query: self._send(Call("GET", ("tenants",), query=query)), {"limit": limit, "offset": offset})

    def tokens(self, *, limit: int | None = None, offset: int | None = None, tenant_id: str | None = None) -> AsyncListing[t.ListedToken]:
        """List tokens."""
        return AsyncListing(lambda query: self._send(Call("GET", ("tokens",), query=query)), {"limit": limit, "offset": offset, "tenantId": tenant_id})

    def users(self, *, limit: int | None = None, offset: int | None = None, tenant_id: str | None = None) -> AsyncListing[t.ListedUser]:
        """List users."""
        return AsyncListing(lambda query: self._send(Call("GET", ("users",), query=query)), {"limit": limit, "offset": offset, "tenantId": tenant_id})

    async def validate_model(self, id: str) -> t.Validation:
        """What is wrong with a model's meaning."""
        return await self._send(Call("POST", ("models", id, "validate")))

    async def validate_project(self, id: str) -> t.Validation:
        """Contradictions and gaps of a project's approval rules, each with inputs that show it."""
        return await self._send(Call("POST", ("projects", id, "validate")))

    async def verify_audit(self, *, realm: bool | None = None) -> t.AuditVerification:
        """Compute the log anew from its records."""
        return await self._send(Call("GET", ("audit", "verify"), query={"realm": realm}))

    async def webhook(self, id: str) -> t.Webhook:
        """Read a webhook and how its deliveries go."""
        return await self._send(Call("GET", ("webhooks", id)))

    def webhooks(self, *, limit: int | None = None, offset: int | None = None) -> AsyncListing[t.ListedWebhook]:
        """List where the tenant is told of events."""
        return AsyncListing(lambda query: self._send(Call("GET", ("webhooks",), query=query)), {"limit": limit, "offset": offset})

    async def what_if(self, id: str, body: t.WhatIfRequest) -> t.WhatIf:
        """What another approval, other rules or other budgets, or a proposed change, would have done with past runs; changes nothing."""
        return await self._send(Call("POST", ("projects", id, "what-if"), body=body))

    async def withdraw_change(self, id: str, body: t.ChangeWithdrawal) -> t.ProposedChange:
        """Take a proposed change back, as its proposer."""
        return await self._send(Call("POST", ("changes", id, "withdraw"), body=body))
