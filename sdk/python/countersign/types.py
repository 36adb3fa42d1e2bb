"""Generated from the service's OpenAPI document by scripts/generate.py. Not for editing."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
else:
    NotRequired = Optional

Number = Union[int, Decimal]
"""Exact: a float is refused."""


class Action(TypedDict):
    description: str
    id: str
    inputs: list[str]
    memoryEffects: list[MemoryEffect]
    name: str
    simulatedResult: str


class ActionBinding(TypedDict):
    capability: str
    expectation: NotRequired[Expectation]
    input: NotRequired[dict[str, Any]]
    # input name to variable id, read before the action's own effects
    inputVariables: NotRequired[dict[str, str]]
    projectId: str


class Admission(TypedDict):
    # of admit only, at most 20; absent: the agent keeps those that it has, and an empty list takes them away
    budgets: NotRequired[list[Budget]]
    # absent: whatever the revision is
    expectedRevision: NotRequired[int]
    # never blank
    reason: str


class Agent(TypedDict):
    # given at its admission: how often its LIVE steps may call, and for how much
    budgets: NotRequired[list[Budget]]
    capabilities: list[str]
    createdAt: str
    # fixed inputs by capability name
    executorInputs: dict[str, dict[str, Any]]
    externalAgentId: str
    goal: str
    id: str
    # by which tokens of identity providers a caller is this agent
    identities: NotRequired[list[AgentIdentity]]
    # of the identities alone; absent, which is 0, at first
    identitiesRevision: NotRequired[int]
    lastHeartbeatAt: NotRequired[str]
    # the worst of the instances heard within 120 s; shown, never a gate
    liveness: Literal["UNKNOWN", "STALE", "ONLINE", "BUSY", "ERROR"]
    modelId: NotRequired[str]
    name: str
    # the system that it belongs to
    projectId: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # the registry's: rises with each synced change and each suspension
    revision: int
    role: str
    # the manifest's own revision
    sourceRevision: int
    status: Literal["PENDING", "ADMITTED"]
    suspended: bool
    updatedAt: str


class AgentIdentity(TypedDict):
    # sub, azp, client_id, act.sub, or an https:// name. Where it isn't sub, the token's sub is the person on whose behalf the agent acts
    claim: str
    # the issuer's address, as its tokens have it in iss
    issuer: str
    # absent: both
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    value: str


class AgentModel(TypedDict):
    actions: list[Action]
    agent: ModelAgent
    description: str
    id: str
    name: str
    revision: int
    scenarios: list[Scenario]
    schemaVersion: Literal["1.0.0"]
    scope: ModelScope
    states: list[ModelState]
    transitions: list[Transition]
    updatedAt: str
    variables: list[Variable]


class AgentPage(TypedDict):
    # the resources of this page
    items: list[ListedAgent]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class AgentRunStart(TypedDict):
    capability: str
    # required for LIVE, unless the capability has one; judged besides it
    expectation: NotRequired[Expectation]
    # the agent's current revision
    expectedRevision: int
    # all but the agent's fixed inputs
    inputs: NotRequired[dict[str, Any]]
    # default DRY_RUN
    mode: NotRequired[Literal["DRY_RUN", "LIVE"]]
    # as of POST /runs
    reason: NotRequired[str]


class AgentWithInstances(TypedDict):
    # given at its admission: how often its LIVE steps may call, and for how much
    budgets: NotRequired[list[Budget]]
    capabilities: list[str]
    createdAt: str
    # fixed inputs by capability name
    executorInputs: dict[str, dict[str, Any]]
    externalAgentId: str
    goal: str
    id: str
    # by which tokens of identity providers a caller is this agent
    identities: NotRequired[list[AgentIdentity]]
    # of the identities alone; absent, which is 0, at first
    identitiesRevision: NotRequired[int]
    # how many there are: those heard within 30 days
    instanceCount: int
    # those heard last, newest first, at most 1000
    instances: list[Instance]
    lastHeartbeatAt: NotRequired[str]
    # the worst of the instances heard within 120 s; shown, never a gate
    liveness: Literal["UNKNOWN", "STALE", "ONLINE", "BUSY", "ERROR"]
    modelId: NotRequired[str]
    name: str
    # the system that it belongs to
    projectId: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # the registry's: rises with each synced change and each suspension
    revision: int
    role: str
    # the manifest's own revision
    sourceRevision: int
    status: Literal["PENDING", "ADMITTED"]
    suspended: bool
    updatedAt: str


class AgentWords(TypedDict):
    # why a call that was made within a day is made again
    again: NotRequired[str]
    # why the agent asks, in its own words
    reason: NotRequired[str]
    # what the call belongs to; the same inputs for another task are another run
    task: NotRequired[str]


class AnswerEvidence(TypedDict):
    # the answer's raw body
    bodyBase64: str
    # the X-Runtime-Answer that came with the answer
    signature: str
    # the X-Runtime-Timestamp that the request was sent with
    timestamp: str


class AnswerKeysWrite(TypedDict):
    # the Ed25519 public keys by which the receiver signs: none, one, or two while it changes; ed25519: and 64 hex digits each
    answerKeys: list[str]


class AnsweredBy(TypedDict):
    # when the receiver signed it, by its own clock
    at: str
    # SHA-256 of the answer key's 32 bytes, lowercase hex
    keyId: str


class Approval(TypedDict):
    # what the agent said of its call over MCP; nobody has checked it
    agentWords: NotRequired[AgentWords]
    # how many different deciders must approve; absent in records of older releases, which needed one
    approvalsNeeded: NotRequired[int]
    # 1 or 2: how many times it was asked for anew in this attempt since the state had changed; after the second the step fails instead
    askedAgain: NotRequired[int]
    # of a call over MCP: the latest approval of the same capability, with the same inputs or title, that a person rejected within 24 hours
    # before
    askedAgainAfter: NotRequired[str]
    # which attempt of the step it lets out
    attempt: int
    # no user that this service knows is the person for whom the agent asked, so that it can't say who that is
    behindUnknown: NotRequired[bool]
    capability: str
    # what of the state is no longer as it was in the approval before
    changed: NotRequired[list[StateChange]]
    decidedAt: NotRequired[str]
    decidedBy: NotRequired[str]
    # the same of who decided
    decidedByMakers: NotRequired[list[str]]
    # a token's name, a user's or an agent's
    decidedByName: NotRequired[str]
    # each approval of it must be signed with a passkey: the tenant asked for that when it was asked for
    decisionAssertion: NotRequired[Literal["PASSKEY"]]
    decisionReason: NotRequired[str]
    # oldest first; decidedBy is who gave the last
    decisions: NotRequired[list[GivenDecision]]
    # who may decide in place of the groups, and from when
    escalations: NotRequired[list[Escalation]]
    # what will judge the answer: an Expectation, or an array of several that must all hold
    expectation: NotRequired[Any]
    expiresAt: str
    # every decider is a member of one of them, and each has at least one decider
    groups: NotRequired[list[str]]
    id: str
    # the run's
    identity: NotRequired[Identity]
    inputSnapshot: dict[str, Any]
    # the run's: for whom the agent asked
    onBehalfOf: NotRequired[OnBehalfOf]
    # up to 10 runs with the same capability and the same inputs or title whose outcome nobody knows: this one could do it twice
    openAlike: NotRequired[list[str]]
    planId: str
    # the approval that it takes the place of
    previousApprovalId: NotRequired[str]
    projectId: str
    # of the rules and budgets that ask, or that the same call is open
    reasons: NotRequired[list[str]]
    # when what its run held was removed
    redactedAt: NotRequired[str]
    request: Request
    # absent for who must not see all of the request
    requestDigest: NotRequired[str]
    requestedAt: str
    # who asked for the run
    requestedBy: str
    # who made the token that asked, or the sign-in link of the session that did, and who made that one, nearest first, up to a user or the
    # bootstrap token
    requestedByMakers: NotRequired[list[str]]
    # a token's name, a user's or an agent's
    requestedByName: NotRequired[str]
    # what became of earlier runs of the agent, or of the token that asked; absent where there is too little; lists leave it out
    requesterRecord: NotRequired[RequesterRecord]
    # the run's: the request may have been sent by the store that this one replaces
    restoredAt: NotRequired[str]
    runId: str
    # why the run was started, in the words of who started it
    runReason: NotRequired[str]
    # up to 10 other LIVE runs of the last 90 days with the same request, newest first; lists leave it out
    same: NotRequired[list[SameRequest]]
    # both go back to one maker: one person may have moved both
    sharedMaker: NotRequired[bool]
    # where inputs come from that an earlier step answered
    sources: NotRequired[list[InputSource]]
    # where the capability has a precondition: what was read before it was asked for, or when a reviewer looked again. It is read once more
    # before anything is sent
    state: NotRequired[State]
    # of state: SHA-256 of the canonical form of its capability and fields; absent for who must not see all of it
    stateDigest: NotRequired[str]
    status: Literal["PENDING", "APPROVED", "REJECTED"]
    stepId: str
    # the latest rejection with a suggestion of these very inputs, of the 90 days before; lists leave it out
    suggestedFrom: NotRequired[SuggestedFrom]
    # what who rejected it would approve instead, as inputs of the capability; a run with them is a new run with its own approval
    suggestedInput: NotRequired[dict[str, Any]]
    # true: another one was asked for in its place; it lets nothing out any more, whatever the state is later
    superseded: NotRequired[bool]
    # the capability's title, filled from what will be sent
    title: NotRequired[str]
    # what is usually approved of this capability; absent where there is too little, or it is hidden from you; lists leave it out
    usual: NotRequired[Usual]


class ApprovalPage(TypedDict):
    # the resources of this page
    items: list[ListedApproval]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class ApprovalRule(TypedDict):
    # how many different deciders must approve; default 1
    approvals: NotRequired[int]
    # who may decide in place of the groups when nobody has for a while
    escalate: NotRequired[Escalate]
    # every decider is a member of one of them, and each has at least one decider
    groups: NotRequired[list[str]]
    # why, for those who are asked or denied; never blank
    reason: str
    then: Literal["ALLOW", "ASK", "DENY"]
    # over the inputs as they will be sent; variableId is an input, a dotted path leads deeper
    when: Condition


class Assertion(TypedDict):
    authenticatorData: str
    # its bytes, not its text
    clientDataJSON: str
    credentialId: str
    # of the passkey as it was registered: SubjectPublicKeyInfo, base64url
    publicKey: str
    # sequence number of the audit record of the passkey's registration
    registration: int
    # the relying party of the passkey: the name in the service's public address
    rpId: str
    signature: str


class AuditCheckpoint(TypedDict):
    # the signed note, with the signature of the log and the cosignatures
    checkpoint: str
    cosignatures: list[AuditCosignature]
    # of the log: 0 is the first; another is another log to whoever verifies it
    epoch: int
    # RFC 6962 tree hash, lowercase hex
    head: str
    # the vkey by which the checkpoint is signed
    logKey: str
    # names the log
    origin: str
    # records that the head counts
    records: int


class AuditCosignature(TypedDict):
    at: str
    # its vkey, as the settings have it
    witness: str


class AuditExport(TypedDict):
    # only records behind this sequence number were asked for
    after: NotRequired[int]
    at: str
    # the newest head that witnesses have cosigned; absent before the first
    cosigned: NotRequired[AuditCheckpoint]
    # some records were not asked for
    filtered: bool
    # its RFC 6962 tree hash, lowercase hex
    head: str
    # lines before this one
    records: int
    # records of the whole log
    size: int
    # whose log it is; empty for the realm's
    tenantId: str


class AuditExportEnd(TypedDict):
    export: AuditExport


class AuditRecord(TypedDict):
    action: str
    actor: str
    # who made the sign-in link that the actor's session began with, nearest first: it may have been theirs
    actorMakers: NotRequired[list[str]]
    # in lists: a token's name, a user's or an agent's; no part of the sealed record
    actorName: NotRequired[str]
    after: str
    # of a project: the answer keys that it has from then on; of a step that is sent: those by one of which its answer must be signed
    answerKeys: NotRequired[list[str]]
    # of a decision that was signed with a passkey
    assertion: NotRequired[Assertion]
    at: str
    before: str
    # the system clock stood before that of the record before, by more than the record waited to be written
    clockBack: NotRequired[bool]
    # of a new epoch of the log: the last checkpoint of the one before that witnesses have cosigned
    cosigned: NotRequired[str]
    # so many refusals of this principal and operation with this code, within a minute after one that has its own record; the subject and
    # requestId are of the last, the subject kind/* where they were about several
    count: NotRequired[int]
    # of an approval that was asked for: each approval of it must be signed with a passkey
    decisionAssertion: NotRequired[Literal["PASSKEY"]]
    # request digest of what was approved or sent
    digest: NotRequired[str]
    # RFC 6962 leaf hash of the record without this field and actorName, lowercase hex
    hash: NotRequired[str]
    # by which the actor signed in, of an agent that does so at an identity provider
    identity: NotRequired[Identity]
    # for whom that agent acted, by its issuer's word
    onBehalfOf: NotRequired[OnBehalfOf]
    # done, or refused: code
    outcome: str
    # of a passkey that was registered
    passkey: NotRequired[PasskeyRegistration]
    # the reason or evidence given
    reason: NotRequired[str]
    requestId: str
    # random, so that the record can't be found out by its hash
    salt: NotRequired[str]
    # 0 for the first; the order of the log
    seq: int
    # digest of the state that was read, decided on, or sent by
    stateDigest: NotRequired[str]
    # the step of the run that it is about
    step: NotRequired[str]
    # kind/id
    subject: str
    # the chat service in which a person asked for it; absent for the API and the console
    via: NotRequired[str]
    # it lets out what was held back before: an approval lowered, a budget removed or widened, an origin or a probe changed, APPROVER
    # granted
    weakens: NotRequired[bool]


class AuditRecordPage(TypedDict):
    # the resources of this page
    items: list[ListedAuditRecord]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class AuditVerification(TypedDict):
    # the newest head that witnesses have cosigned; absent before the first
    cosigned: NotRequired[AuditCheckpoint]
    # sequence number of the first record that does not fit
    firstBroken: NotRequired[int]
    # RFC 6962 tree hash, lowercase hex
    head: str
    intact: bool
    # records that the head counts
    records: int


class Auth(TypedDict):
    credentialEnv: NotRequired[str]
    # API_KEY only
    headerName: NotRequired[str]
    type: Literal["HMAC", "BEARER", "API_KEY", "BASIC", "NONE"]
    # BASIC only; the variable holds the password
    user: NotRequired[str]


class Binding(TypedDict):
    field: str
    stepId: str


class BreakGlass(TypedDict):
    at: str
    reason: str


class Budget(TypedDict):
    # so many steps; instead of sum and most
    count: NotRequired[int]
    # with sum: the most that the values may come to, a number
    most: NotRequired[Any]
    # never blank; shown to who is asked or denied
    reason: str
    # a number input, of which the values are added exactly; one below 0 adds nothing
    sum: NotRequired[str]
    # of a step that would exceed it
    then: Literal["ASK", "DENY"]
    # a Go duration, 1s to 720h
    window: str


class BudgetUse(TypedDict):
    agentId: NotRequired[str]
    budget: Budget
    capability: NotRequired[str]
    # of a budget that is used up: when it has room again if nothing else is sent
    freeAt: NotRequired[str]
    # of used: of steps of which nobody knows whether they took effect, or that may have though they failed; of the newest 5,000 steps in
    # the window
    mayHaveHappened: NotRequired[Any]
    # so many steps, or what their values come to; absent where the budget adds what is hidden from you
    used: NotRequired[Any]


class BudgetUses(TypedDict):
    items: list[ListedBudgetUse]


class Capability(TypedDict):
    # default: ALWAYS for a side effect, NONE for a read
    approval: NotRequired[Literal["NONE", "RISK_BASED", "ALWAYS"]]
    # what decides, by the inputs, before approval does
    approvalRules: NotRequired[list[ApprovalRule]]
    # how often LIVE steps may call it, and for how much, at most 20
    budgets: NotRequired[list[Budget]]
    description: NotRequired[str]
    # what the output of every step of it must be; a step's own is judged besides
    expectation: NotRequired[Expectation]
    # true only when the receiver deduplicates durably
    idempotent: NotRequired[bool]
    # inputs not declared in it are rejected
    inputSchema: NotRequired[dict[str, InputField]]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    name: str
    # field of the response taken as the step's output
    outputField: NotRequired[str]
    # fields of the output, a dotted path for deeper ones: what forms offer where an input is bound to it; nothing is refused for them at a
    # run
    outputs: NotRequired[list[str]]
    # absolute path on the registered origin; {name} placeholders are filled from the input
    path: str
    # what is read before its approval is asked for and again before it is sent, and must be so
    precondition: NotRequired[Precondition]
    # a GET capability of this project that shows, in recovery, what happened
    probe: NotRequired[str]
    request: NotRequired[RequestMapping]
    # input and output fields masked for a VIEWER and in logs
    sensitive: NotRequired[list[str]]
    # default: every method but GET has one
    sideEffect: NotRequired[bool]
    # for the whole call; default 10000
    timeoutMs: NotRequired[int]
    # what a call does, in words, with {input} places; a dotted path leads deeper
    title: NotRequired[str]


class Change(TypedDict):
    # revision now; 0 when it is gone
    current: int
    id: str
    kind: Literal["model", "project", "agent", "team"]
    message: str
    # revision in the plan
    planned: int
    retired: NotRequired[bool]
    suspended: bool


class ChangeDecided(TypedDict):
    assertion: NotRequired[Assertion]
    at: str
    by: str
    byName: NotRequired[str]
    decision: Literal["APPROVED", "REJECTED"]
    reason: str


class ChangeDecision(TypedDict):
    # a passkey's answer over this decision; where the tenant asks for one, APPROVED needs it
    assertion: NotRequired[SignedAnswer]
    decision: Literal["APPROVED", "REJECTED"]
    # never blank
    reason: str


class ChangeDifference(TypedDict):
    # any JSON value
    now: NotRequired[Any]
    path: str
    # in words
    text: str
    # any JSON value
    was: NotRequired[Any]
    weakens: bool


class ChangeWithdrawal(TypedDict):
    reason: NotRequired[str]


class Changed(TypedDict):
    id: str
    # approval or run; there may be more kinds
    kind: str


class CompileRequest(TypedDict):
    # keyed by action id
    actionBindings: dict[str, ActionBinding]
    inputs: NotRequired[dict[str, ModelValue]]
    # default DRY_RUN
    mode: NotRequired[Literal["DRY_RUN", "LIVE"]]
    name: NotRequired[str]
    scenarioId: str


class ConditionGroup(TypedDict):
    combinator: Literal["AND", "OR"]
    conditions: list[Condition]
    kind: Literal["group"]


class Conformance(TypedDict):
    capability: str
    # when it was recorded, by the server's clock
    checkedAt: str
    # who recorded it
    checkedBy: str
    # a token's name, or a user's
    checkedByName: NotRequired[str]
    # the rules show that the receiver deduplicates
    proven: bool
    rules: list[RuleVerdict]
    target: str


class ConformanceWrite(TypedDict):
    capability: str
    # the project's present revision
    expectedRevision: int
    rules: list[RuleVerdict]
    # origin of the sandbox that was tried
    target: str


class Credential(TypedDict):
    # what the tenant's projects and webhooks use it for
    kinds: list[Literal["HMAC", "BEARER", "API_KEY", "BASIC"]]
    # of a server environment variable
    name: str
    # the only origin that it may be used at; absent: any
    origin: NotRequired[str]
    # of the tenant, that use it now
    projects: list[str]
    # when the tenant registered it first
    since: str
    # the only tenant that may use it
    tenantId: str
    # of the tenant, that are signed with it now
    webhooks: NotRequired[list[str]]


class CredentialPage(TypedDict):
    # the resources of this page
    items: list[ListedCredential]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class Decision(TypedDict):
    # a passkey's answer over this decision; where the approval or the tenant asks for one, APPROVED needs it
    assertion: NotRequired[SignedAnswer]
    decision: Literal["APPROVED", "REJECTED"]
    # never blank
    reason: str
    # of the request that whoever decides has seen: must be the approval's
    requestDigest: NotRequired[str]
    # of the state that whoever decides has seen: must be the approval's
    stateDigest: NotRequired[str]
    # with REJECTED only: the inputs that would be approved, which must fit the capability
    suggestedInput: NotRequired[dict[str, Any]]


Delegation = TypedDict(
    "Delegation",
    {
        "createdAt": "str",
        "createdBy": "str",
        # a token's name, or a user's
        "createdByName": "NotRequired[str]",
        # who decides instead: the e-mail address of a user of the tenant
        "delegate": "str",
        "from": "str",
        "reason": "str",
        "until": "str",
        # who is away: the e-mail address of a user of the tenant
        "user": "str",
    },
)


class DelegationPage(TypedDict):
    # the resources of this page
    items: list[ListedDelegation]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


DelegationWrite = TypedDict(
    "DelegationWrite",
    {
        # ignored
        "createdAt": "NotRequired[Any]",
        # ignored
        "createdBy": "NotRequired[Any]",
        # ignored
        "createdByName": "NotRequired[Any]",
        # who decides instead: the e-mail address of a user of the tenant with the role APPROVER
        "delegate": "str",
        # default: now
        "from": "NotRequired[str]",
        # never blank
        "reason": "str",
        # after from, by 90 days at most
        "until": "str",
        # ignored
        "user": "NotRequired[Any]",
    },
)


class DeskEvent(TypedDict):
    changed: NotRequired[Changed]
    waiting: NotRequired[WaitingCounts]


class Difference(TypedDict):
    # such as input.amount, method, url or body
    path: str
    # null: it wasn't there
    rehearsed: Any
    # null: it isn't there
    sent: Any


class Discrepancy(TypedDict):
    field: str
    # any JSON value
    found: Any
    # any JSON value
    sent: Any


class Drift(TypedDict):
    changes: list[Change]
    current: bool


class Error(TypedDict):
    # stable code
    error: Literal["agent_not_admitted", "approval_expired", "assertion_invalid", "assertion_required", "capacity", "change_proposed", "credential_not_allowed", "csrf", "drift", "expectation_not_met", "expectation_required", "health_check_required", "idempotency_conflict", "idempotency_key_required", "internal", "invalid_json", "invalid_request", "manifest_conflict", "method_not_allowed", "model_invalid", "not_found", "origin_not_allowed", "payload_too_large", "plan_invalid", "project_disabled", "project_in_use", "project_scope", "quota_exceeded", "revision_conflict", "role_required", "self_approval", "sequence_conflict", "state_conflict", "unauthenticated", "unavailable"] | str
    # what is wrong, where, and what would be right
    message: str
    requestId: str


class Escalate(TypedDict):
    # a Go duration, 1s to 720h, since the approval was asked for
    after: str
    groups: list[str]


Escalation = TypedDict(
    "Escalation",
    {
        "at": "str",
        # the approval's groups for which they decide
        "for": "list[str]",
        # whose members may decide from then on
        "groups": "list[str]",
    },
)


class Expectation(TypedDict):
    # any JSON value; numbers compare by exact value
    equals: Any
    field: str
    statusCode: NotRequired[int]


class ExpectationCheck(TypedDict):
    # absent when the output has no such field
    actual: NotRequired[Any]
    # any JSON value
    expected: Any
    field: str
    status: Literal["PASSED", "FAILED", "SIMULATED"]


class GivenDecision(TypedDict):
    # the passkey's answer over this decision; left out with the digest for who must not see all of the request
    assertion: NotRequired[Assertion]
    at: str
    by: str
    # who made the token that decided, and who made that one, nearest first
    byMakers: NotRequired[list[str]]
    # a token's name, a user's or an agent's
    byName: NotRequired[str]
    decision: Literal["APPROVED", "REJECTED"]
    # groups that it was given as a member of, since the approval's own had not decided in time
    escalated: NotRequired[list[str]]
    # the approval's groups that it was given for
    groups: NotRequired[list[str]]
    # its decider may not decide it any more: removed, without the role, the project or the groups, or with a token that has ended; or it
    # was given on another state; it came before enough had approved, so it doesn't count
    left: NotRequired[bool]
    # users who were away and in whose place it was given: their delegate decided as themself
    onBehalfOf: NotRequired[list[str]]
    reason: str
    # of the state that it was given on; one on another state than the approval's doesn't count. Left out with the approval's
    stateDigest: NotRequired[str]
    # how it came: console, api, slack, mcp or, by later releases, others; absent in receipts, for what the service decided itself and in
    # records of older releases
    via: NotRequired[str]


class Group(TypedDict):
    # name=value of a claim of the identity provider; whoever signed in with it last is a member too
    claim: NotRequired[str]
    createdAt: str
    id: str
    # e-mail addresses of users of the tenant
    members: list[str]
    name: str
    # 1 on create, one more on each update
    revision: int
    updatedAt: str


class GroupPage(TypedDict):
    # the resources of this page
    items: list[ListedGroup]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class GroupWrite(TypedDict):
    # name=value of a claim of the identity provider, such as groups=finance
    claim: NotRequired[str]
    # ignored
    createdAt: NotRequired[Any]
    # absent or 0 creates; else the current revision
    expectedRevision: NotRequired[int]
    # ignored
    id: NotRequired[Any]
    # e-mail addresses of users of the tenant
    members: list[str]
    name: str
    # ignored
    revision: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]


class Health(TypedDict):
    # names of the witnesses that have cosigned what an audit log is not any more: it was cut off, or told anew
    auditRewound: NotRequired[list[str] | None]
    # degraded: reads are served, writes are not
    status: Literal["ok", "degraded"]
    # full: writes wait for space, or for the database to give the right to write
    store: Literal["ok", "full"]
    version: str


class HealthCheck(TypedDict):
    checkedAt: str
    error: NotRequired[str]
    healthy: bool
    latencyMs: int
    projectId: str
    revision: int
    # 0 when no answer came
    statusCode: int


class Heartbeat(TypedDict):
    # identifies the process instance
    instanceId: str
    # increases for each instance id, over restarts of the service too
    sequence: int
    # ONLINE is IDLE
    state: Literal["IDLE", "BUSY", "ERROR", "ONLINE"]
    # within 120 s of the server's time
    timestamp: str


class HeartbeatAck(TypedDict):
    acknowledged: bool
    agentId: str
    duplicate: bool
    instanceId: str
    # of the agent, all instances considered
    liveness: Literal["UNKNOWN", "STALE", "ONLINE", "BUSY", "ERROR"]
    receivedAt: str
    sequence: int


class HoldWrite(TypedDict):
    # false ends it
    hold: bool
    # never blank
    reason: str


class IdentitiesWrite(TypedDict):
    # ignored
    budgets: NotRequired[Any]
    # ignored
    capabilities: NotRequired[Any]
    # ignored
    createdAt: NotRequired[Any]
    # ignored
    executorInputs: NotRequired[Any]
    # the present identitiesRevision
    expectedRevision: NotRequired[int]
    # ignored
    externalAgentId: NotRequired[Any]
    # ignored
    goal: NotRequired[Any]
    # ignored
    id: NotRequired[Any]
    # all that the agent has from now on; one that isn't here any more ends at once
    identities: list[AgentIdentity]
    # ignored
    identitiesRevision: NotRequired[Any]
    # ignored
    instanceCount: NotRequired[Any]
    # ignored
    instances: NotRequired[Any]
    # ignored
    lastHeartbeatAt: NotRequired[Any]
    # ignored
    liveness: NotRequired[Any]
    # ignored
    modelId: NotRequired[Any]
    # of those identities that name none; absent: both, as far as the caller has them
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    # ignored
    name: NotRequired[Any]
    # ignored
    projectId: NotRequired[Any]
    # ignored
    retired: NotRequired[Any]
    # ignored
    revision: NotRequired[Any]
    # ignored
    role: NotRequired[Any]
    # ignored
    sourceRevision: NotRequired[Any]
    # ignored
    status: NotRequired[Any]
    # ignored
    suspended: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]


class Identity(TypedDict):
    # sub, azp, client_id, act.sub, or an https:// name
    claim: str
    # the token's iss, character for character
    issuer: str
    value: str


class InputField(TypedDict):
    # what it means, for people and models
    description: NotRequired[str]
    # the values that it may have; numbers compare by exact value
    enum: NotRequired[list[Any]]
    # of a string, in code points
    maxLength: NotRequired[int]
    # of a number, exact
    maximum: NotRequired[Any]
    # of a number, exact
    minimum: NotRequired[Any]
    # further types that a value may have
    orTypes: NotRequired[list[Literal["string", "number", "boolean", "object", "array"]]]
    # true: the path takes any text for it, percent-encoded whole, and not an id alone
    pathText: NotRequired[bool]
    # of a string: an RE2 expression, unanchored; beside pathText it matches the whole value
    pattern: NotRequired[str]
    required: bool
    type: Literal["string", "number", "boolean", "object", "array"]


class InputSource(TypedDict):
    field: str
    input: str
    stepId: str
    # the step's answer was judged, and was what was expected
    verified: bool


class Instance(TypedDict):
    instanceId: str
    liveness: Literal["STALE", "ONLINE", "BUSY", "ERROR"]
    # by the service's clock
    receivedAt: str
    sequence: int
    state: Literal["IDLE", "BUSY", "ERROR"]
    # by the instance's clock, as it was sent
    timestamp: str


class LateAnswer(TypedDict):
    at: str
    # the sending that it answers; absent in records of older releases
    attempt: NotRequired[int]
    error: NotRequired[str]
    # any JSON value
    output: NotRequired[Any]
    response: NotRequired[Response]


class ListedAgent(TypedDict):
    # given at its admission: how often its LIVE steps may call, and for how much
    budgets: NotRequired[list[Budget] | Omitted]
    capabilities: list[str] | Omitted
    createdAt: str
    # fixed inputs by capability name
    executorInputs: dict[str, dict[str, Any]]
    externalAgentId: str
    goal: str | Omitted
    id: str
    # by which tokens of identity providers a caller is this agent
    identities: NotRequired[list[AgentIdentity] | Omitted]
    # of the identities alone; absent, which is 0, at first
    identitiesRevision: NotRequired[int]
    lastHeartbeatAt: NotRequired[str]
    # the worst of the instances heard within 120 s; shown, never a gate
    liveness: Literal["UNKNOWN", "STALE", "ONLINE", "BUSY", "ERROR"]
    modelId: NotRequired[str]
    name: str | Omitted
    # the system that it belongs to
    projectId: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # the registry's: rises with each synced change and each suspension
    revision: int
    role: str | Omitted
    # the manifest's own revision
    sourceRevision: int
    status: Literal["PENDING", "ADMITTED"]
    suspended: bool
    updatedAt: str


class ListedApproval(TypedDict):
    # what the agent said of its call over MCP; nobody has checked it
    agentWords: NotRequired[AgentWords | Omitted]
    # how many different deciders must approve; absent in records of older releases, which needed one
    approvalsNeeded: NotRequired[int]
    # 1 or 2: how many times it was asked for anew in this attempt since the state had changed; after the second the step fails instead
    askedAgain: NotRequired[int]
    # of a call over MCP: the latest approval of the same capability, with the same inputs or title, that a person rejected within 24 hours
    # before
    askedAgainAfter: NotRequired[str | Omitted]
    # which attempt of the step it lets out
    attempt: int
    # no user that this service knows is the person for whom the agent asked, so that it can't say who that is
    behindUnknown: NotRequired[bool]
    capability: str | Omitted
    # what of the state is no longer as it was in the approval before
    changed: NotRequired[list[StateChange] | Omitted]
    decidedAt: NotRequired[str]
    decidedBy: NotRequired[str]
    # the same of who decided
    decidedByMakers: NotRequired[list[str] | Omitted]
    # a token's name, a user's or an agent's
    decidedByName: NotRequired[str | Omitted]
    # each approval of it must be signed with a passkey: the tenant asked for that when it was asked for
    decisionAssertion: NotRequired[Literal["PASSKEY"]]
    decisionReason: NotRequired[str | Omitted]
    # oldest first; decidedBy is who gave the last
    decisions: NotRequired[list[GivenDecision] | Omitted]
    # who may decide in place of the groups, and from when
    escalations: NotRequired[list[Escalation] | Omitted]
    # what will judge the answer: an Expectation, or an array of several that must all hold
    expectation: NotRequired[Any]
    expiresAt: str
    # every decider is a member of one of them, and each has at least one decider
    groups: NotRequired[list[str] | Omitted]
    id: str
    # the run's
    identity: NotRequired[Identity | Omitted]
    inputSnapshot: dict[str, Any]
    # the run's: for whom the agent asked
    onBehalfOf: NotRequired[OnBehalfOf | Omitted]
    # up to 10 runs with the same capability and the same inputs or title whose outcome nobody knows: this one could do it twice
    openAlike: NotRequired[list[str] | Omitted]
    planId: str
    # the approval that it takes the place of
    previousApprovalId: NotRequired[str]
    projectId: str
    # of the rules and budgets that ask, or that the same call is open
    reasons: NotRequired[list[str] | Omitted]
    # when what its run held was removed
    redactedAt: NotRequired[str]
    request: Request | Omitted
    # absent for who must not see all of the request
    requestDigest: NotRequired[str]
    requestedAt: str
    # who asked for the run
    requestedBy: str
    # who made the token that asked, or the sign-in link of the session that did, and who made that one, nearest first, up to a user or the
    # bootstrap token
    requestedByMakers: NotRequired[list[str] | Omitted]
    # a token's name, a user's or an agent's
    requestedByName: NotRequired[str | Omitted]
    # what became of earlier runs of the agent, or of the token that asked; absent where there is too little; lists leave it out
    requesterRecord: NotRequired[RequesterRecord | Omitted]
    # the run's: the request may have been sent by the store that this one replaces
    restoredAt: NotRequired[str]
    runId: str
    # why the run was started, in the words of who started it
    runReason: NotRequired[str | Omitted]
    # up to 10 other LIVE runs of the last 90 days with the same request, newest first; lists leave it out
    same: NotRequired[list[SameRequest] | Omitted]
    # both go back to one maker: one person may have moved both
    sharedMaker: NotRequired[bool]
    # where inputs come from that an earlier step answered
    sources: NotRequired[list[InputSource] | Omitted]
    # where the capability has a precondition: what was read before it was asked for, or when a reviewer looked again. It is read once more
    # before anything is sent
    state: NotRequired[State | Omitted]
    # of state: SHA-256 of the canonical form of its capability and fields; absent for who must not see all of it
    stateDigest: NotRequired[str]
    status: Literal["PENDING", "APPROVED", "REJECTED"]
    stepId: str
    # the latest rejection with a suggestion of these very inputs, of the 90 days before; lists leave it out
    suggestedFrom: NotRequired[SuggestedFrom | Omitted]
    # what who rejected it would approve instead, as inputs of the capability; a run with them is a new run with its own approval
    suggestedInput: NotRequired[dict[str, Any]]
    # true: another one was asked for in its place; it lets nothing out any more, whatever the state is later
    superseded: NotRequired[bool]
    # the capability's title, filled from what will be sent
    title: NotRequired[str | Omitted]
    # what is usually approved of this capability; absent where there is too little, or it is hidden from you; lists leave it out
    usual: NotRequired[Usual | Omitted]


class ListedAuditRecord(TypedDict):
    action: str
    actor: str
    # who made the sign-in link that the actor's session began with, nearest first: it may have been theirs
    actorMakers: NotRequired[list[str] | Omitted]
    # in lists: a token's name, a user's or an agent's; no part of the sealed record
    actorName: NotRequired[str | Omitted]
    after: str | Omitted
    # of a project: the answer keys that it has from then on; of a step that is sent: those by one of which its answer must be signed
    answerKeys: NotRequired[list[str] | Omitted]
    # of a decision that was signed with a passkey
    assertion: NotRequired[Assertion | Omitted]
    at: str
    before: str | Omitted
    # the system clock stood before that of the record before, by more than the record waited to be written
    clockBack: NotRequired[bool]
    # of a new epoch of the log: the last checkpoint of the one before that witnesses have cosigned
    cosigned: NotRequired[str | Omitted]
    # so many refusals of this principal and operation with this code, within a minute after one that has its own record; the subject and
    # requestId are of the last, the subject kind/* where they were about several
    count: NotRequired[int]
    # of an approval that was asked for: each approval of it must be signed with a passkey
    decisionAssertion: NotRequired[Literal["PASSKEY"]]
    # request digest of what was approved or sent
    digest: NotRequired[str]
    # RFC 6962 leaf hash of the record without this field and actorName, lowercase hex
    hash: NotRequired[str]
    # by which the actor signed in, of an agent that does so at an identity provider
    identity: NotRequired[Identity | Omitted]
    # for whom that agent acted, by its issuer's word
    onBehalfOf: NotRequired[OnBehalfOf | Omitted]
    # done, or refused: code
    outcome: str | Omitted
    # of a passkey that was registered
    passkey: NotRequired[PasskeyRegistration | Omitted]
    # the reason or evidence given
    reason: NotRequired[str | Omitted]
    requestId: str
    # random, so that the record can't be found out by its hash
    salt: NotRequired[str | Omitted]
    # 0 for the first; the order of the log
    seq: int
    # digest of the state that was read, decided on, or sent by
    stateDigest: NotRequired[str]
    # the step of the run that it is about
    step: NotRequired[str | Omitted]
    # kind/id
    subject: str | Omitted
    # the chat service in which a person asked for it; absent for the API and the console
    via: NotRequired[str | Omitted]
    # it lets out what was held back before: an approval lowered, a budget removed or widened, an origin or a probe changed, APPROVER
    # granted
    weakens: NotRequired[bool]


class ListedBudgetUse(TypedDict):
    agentId: NotRequired[str]
    budget: Budget | Omitted
    capability: NotRequired[str | Omitted]
    # of a budget that is used up: when it has room again if nothing else is sent
    freeAt: NotRequired[str]
    # of used: of steps of which nobody knows whether they took effect, or that may have though they failed; of the newest 5,000 steps in
    # the window
    mayHaveHappened: NotRequired[Any]
    # so many steps, or what their values come to; absent where the budget adds what is hidden from you
    used: NotRequired[Any]


class ListedCapability(TypedDict):
    # default: ALWAYS for a side effect, NONE for a read
    approval: NotRequired[Literal["NONE", "RISK_BASED", "ALWAYS"]]
    # what decides, by the inputs, before approval does
    approvalRules: NotRequired[list[ApprovalRule] | Omitted]
    # how often LIVE steps may call it, and for how much, at most 20
    budgets: NotRequired[list[Budget] | Omitted]
    description: NotRequired[str | Omitted]
    # what the output of every step of it must be; a step's own is judged besides
    expectation: NotRequired[Expectation | Omitted]
    # true only when the receiver deduplicates durably
    idempotent: NotRequired[bool]
    # inputs not declared in it are rejected
    inputSchema: NotRequired[dict[str, InputField]]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    name: str | Omitted
    # field of the response taken as the step's output
    outputField: NotRequired[str | Omitted]
    # fields of the output, a dotted path for deeper ones: what forms offer where an input is bound to it; nothing is refused for them at a
    # run
    outputs: NotRequired[list[str] | Omitted]
    # absolute path on the registered origin; {name} placeholders are filled from the input
    path: str | Omitted
    # what is read before its approval is asked for and again before it is sent, and must be so
    precondition: NotRequired[Precondition | Omitted]
    # a GET capability of this project that shows, in recovery, what happened
    probe: NotRequired[str | Omitted]
    request: NotRequired[RequestMapping | Omitted]
    # input and output fields masked for a VIEWER and in logs
    sensitive: NotRequired[list[str] | Omitted]
    # default: every method but GET has one
    sideEffect: NotRequired[bool]
    # for the whole call; default 10000
    timeoutMs: NotRequired[int]
    # what a call does, in words, with {input} places; a dotted path leads deeper
    title: NotRequired[str | Omitted]


class ListedCredential(TypedDict):
    # what the tenant's projects and webhooks use it for
    kinds: list[Literal["HMAC", "BEARER", "API_KEY", "BASIC"]] | Omitted
    # of a server environment variable
    name: str | Omitted
    # the only origin that it may be used at; absent: any
    origin: NotRequired[str | Omitted]
    # of the tenant, that use it now
    projects: list[str] | Omitted
    # when the tenant registered it first
    since: str
    # the only tenant that may use it
    tenantId: str
    # of the tenant, that are signed with it now
    webhooks: NotRequired[list[str] | Omitted]


ListedDelegation = TypedDict(
    "ListedDelegation",
    {
        "createdAt": "str",
        "createdBy": "str",
        # a token's name, or a user's
        "createdByName": "NotRequired[str | Omitted]",
        # who decides instead: the e-mail address of a user of the tenant
        "delegate": "str | Omitted",
        "from": "str",
        "reason": "str | Omitted",
        "until": "str",
        # who is away: the e-mail address of a user of the tenant
        "user": "str | Omitted",
    },
)


class ListedGroup(TypedDict):
    # name=value of a claim of the identity provider; whoever signed in with it last is a member too
    claim: NotRequired[str | Omitted]
    createdAt: str
    id: str
    # e-mail addresses of users of the tenant
    members: list[str] | Omitted
    name: str | Omitted
    # 1 on create, one more on each update
    revision: int
    updatedAt: str


class ListedModel(TypedDict):
    createdAt: str
    document: AgentModel | Omitted
    id: str
    name: str | Omitted
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # the server's: 1 on create, one more on each update and suspension
    revision: int
    schemaVersion: str
    suspended: bool
    updatedAt: str


class ListedPlan(TypedDict):
    # of an agent or team run: who carries it out
    agents: NotRequired[list[PlanAgent] | Omitted]
    createdAt: str
    createdBy: str
    # a token's name, or a user's
    createdByName: NotRequired[str | Omitted]
    # the edition by which its approval rules are judged, 3; absent where no step has rules, and in plans of before, which are judged as
    # then
    gate: NotRequired[int]
    id: str
    mode: Literal["DRY_RUN", "LIVE"]
    # absent in the plan of a team run: see agents; and where a run has no model
    modelId: NotRequired[str]
    modelRevision: NotRequired[int]
    name: str | Omitted
    # SHA-256 of the content without id, name, mode and times: joins a rehearsal and its LIVE twin; absent for who must not see all of it
    planDigest: NotRequired[str]
    planningInputs: NotRequired[dict[str, Any]]
    # the project revisions that the plan was made from
    projects: list[ProjectRef] | Omitted
    # when what it held was removed, with the last of its runs: none can be started of it any more
    redactedAt: NotRequired[str]
    scenarioId: NotRequired[str]
    status: Literal["READY", "INVALID"]
    steps: list[ListedStep]
    # of a team run
    team: NotRequired[PlanTeam | Omitted]
    validationErrors: list[str] | Omitted


class ListedProject(TypedDict):
    adapter: Literal["HTTP_JSON", "LOCAL_ECHO"]
    # the Ed25519 public keys, one or two, by which the receiver signs its answers: an answer that none of them signed is uncertain
    answerKeys: NotRequired[list[str] | Omitted]
    auth: NotRequired[Auth | list[Auth] | Omitted]
    authSecretEnv: NotRequired[str]
    baseUrl: NotRequired[str | Omitted]
    capabilities: list[ListedCapability]
    # the latest check of each capability's receiver at the present revision
    conformance: NotRequired[list[Conformance] | Omitted]
    createdAt: str
    enabled: bool
    # sent with each call; not secret
    headers: NotRequired[dict[str, str]]
    # the latest check of the present revision
    health: NotRequired[HealthCheck | Omitted]
    healthPath: NotRequired[str | Omitted]
    id: str
    name: str | Omitted
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    revision: int
    # each credential variable exists and isn't empty now
    secretConfigured: bool
    # where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC
    settlement: NotRequired[Settlement | Omitted]
    updatedAt: str
    # true: a secret is shorter than 32 bytes (HMAC) or 16 (others) now; nothing is refused for it
    weakSecret: NotRequired[bool]


class ListedProposedChange(TypedDict):
    approvalsNeeded: int
    # oldest first
    decisions: list[ChangeDecided] | Omitted
    # what weakens first
    diff: list[ChangeDifference] | Omitted
    # SHA-256 of the operation, the subject, what is asked for and what stands: what a passkey signs
    digest: str
    endedAt: NotRequired[str]
    # why it lapsed or was withdrawn
    endedReason: NotRequired[str | Omitted]
    # it lapses then; once approved, what its proposer has not made by then
    expiresAt: str
    # every decider is a member of one of them, and each has at least one decider
    groups: NotRequired[list[str] | Omitted]
    id: str
    # as the audit log names it, such as projects.write
    operation: str | Omitted
    proposedAt: str
    proposedBy: str
    proposedByName: NotRequired[str | Omitted]
    # the proposer's, where the operation takes one
    reason: NotRequired[str | Omitted]
    # of the subject, on which it was proposed; 0 for what is new or has none
    revision: int
    status: str | Omitted
    # kind/id of what it changes
    subject: str | Omitted
    # what it does, in words
    title: str | Omitted


class ListedRun(TypedDict):
    agentId: NotRequired[str]
    # what the agent said of its call over MCP; nobody has checked it
    agentWords: NotRequired[AgentWords | Omitted]
    # the latest approval asked for
    approvalId: NotRequired[str]
    cancelRequested: bool
    completedAt: NotRequired[str]
    createdAt: str
    # code: message
    error: NotRequired[str | Omitted]
    # it is neither redacted nor archived until this is ended
    hold: NotRequired[RunHold | Omitted]
    id: str
    idempotencyKey: str
    # by which an agent asked that signs in at an identity provider
    identity: NotRequired[Identity | Omitted]
    # a side effect of it may have taken effect, whatever its status says: see that of its steps
    mayHaveHappened: NotRequired[bool]
    mode: Literal["DRY_RUN", "LIVE"]
    # for whom that agent asked, by its issuer's word; counts as who asked
    onBehalfOf: NotRequired[OnBehalfOf | Omitted]
    # up to 10 runs with the same capability and the same inputs or title whose outcome nobody knew when it was started, or a step of it
    # began
    openAlike: NotRequired[list[str] | Omitted]
    # absent for who must not see all of the plan
    planDigest: NotRequired[str]
    planId: str
    # why it was started, in the words of who started it
    reason: NotRequired[str | Omitted]
    # what it held was removed: values read •••, or are absent
    redacted: NotRequired[Redaction | Omitted]
    requestedBy: str
    # a token's name, a user's or an agent's
    requestedByName: NotRequired[str | Omitted]
    # when the store was restored, or reopened after it was copied, while the run was unfinished: it may have been sent by the store that
    # this one replaces
    restoredAt: NotRequired[str]
    # rises with every change of the run
    revision: int
    status: Literal["READY", "RUNNING", "WAITING_APPROVAL", "RECOVERY_REQUIRED", "COMPLETED", "FAILED", "CANCELLED"]
    steps: list[ListedStepRun]
    teamId: NotRequired[str]
    # completed steps that nothing was asked of
    unverifiedSteps: int
    updatedAt: str
    waitingFor: NotRequired[WaitingFor | Omitted]


class ListedSearchHit(TypedDict):
    # when the record was made
    at: str
    id: str
    kind: Literal["run", "token"]
    # of a run
    mode: NotRequired[str | Omitted]
    # of the record
    status: NotRequired[str | Omitted]
    # the whole value there, where it is short
    value: NotRequired[str | Omitted]
    # where in the record it stands, such as: input orderId of step refund
    where: str | Omitted


class ListedStep(TypedDict):
    actionId: NotRequired[str]
    # the agent that carries it out, in the plan of an agent or team run
    agentId: NotRequired[str]
    capability: str | Omitted
    dependsOn: NotRequired[list[str] | Omitted]
    expectation: NotRequired[Expectation | Omitted]
    id: str
    input: NotRequired[dict[str, Any]]
    inputBindings: NotRequired[dict[str, Binding]]
    name: str | Omitted
    projectId: str


class ListedStepRun(TypedDict):
    actionId: NotRequired[str]
    agentId: NotRequired[str]
    # the answer was signed by the receiver, with this key
    answeredBy: NotRequired[AnsweredBy | Omitted]
    approvalId: NotRequired[str]
    # until the inputs are known, as the capability's approval says; then as its rules do too
    approvalRequired: bool
    # how many new approvals of the present attempt were asked for since the state had changed
    askedAgain: NotRequired[int]
    # when it was asked for the first time
    askedFrom: NotRequired[str]
    # how often it was sent
    attempt: int
    capability: str | Omitted
    completedAt: NotRequired[str]
    dependsOn: list[str] | Omitted
    error: NotRequired[StepError | Omitted]
    id: str
    idempotencyKey: str
    # resolved; an input still bound shows {"$from": "step.field"}
    input: dict[str, Any]
    # an answer that came after nobody waited for it any more; it decides nothing
    late: NotRequired[LateAnswer | Omitted]
    # the number of the look that is under way
    looking: NotRequired[int]
    # the reads for its precondition, oldest first
    looks: NotRequired[list[Look] | Omitted]
    # a side effect that may have taken effect though it isn't COMPLETED: it was answered 2xx, not as expected, or a person confirmed that a
    # sending had not been executed, which may still arrive, or the store was restored and the one that it replaces may have sent it
    mayHaveHappened: NotRequired[bool]
    name: str | Omitted
    # when it is asked next; absent: not by itself
    nextAt: NotRequired[str]
    probes: NotRequired[list[ProbeRecord] | Omitted]
    projectId: str
    # how often the receiver was asked what became of the key
    questions: NotRequired[int]
    reconciliation: NotRequired[Reconciliation | Omitted]
    # null until the request is made, and in a rehearsal where anything is bound; absent for who must not see all of the request
    requestDigest: NotRequired[str | None]
    # the step ended by the receiver's own word, signed with this key
    settledBy: NotRequired[SettledBy | Omitted]
    # what the receiver said became of the step's key, each time that it said something new
    settlements: NotRequired[list[SettlementRecord] | Omitted]
    sideEffect: bool
    # when the latest attempt was committed
    startedAt: NotRequired[str]
    # of the state that was read before it was sent; absent for who must not see all of it
    stateDigest: NotRequired[str]
    status: Literal["PENDING", "WAITING_APPROVAL", "RUNNING", "COMPLETED", "SIMULATED", "FAILED", "RECOVERY_REQUIRED", "ABANDONED", "CANCELLED", "SKIPPED"]
    verification: NotRequired[Verification | Omitted]
    # of a rehearsed step: what the gate would say of these inputs
    wouldBe: NotRequired[Literal["ALLOW", "ASK", "DENIED"]]
    # of a rehearsed step with a precondition: what would be looked at
    wouldCheck: NotRequired[WouldCheck | Omitted]


class ListedTeam(TypedDict):
    createdAt: str
    id: str
    members: list[TeamMember] | Omitted
    name: str | Omitted
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # 1 on create, one more on each update and suspension
    revision: int
    steps: list[ListedTeamStep]
    suspended: bool
    updatedAt: str


class ListedTeamStep(TypedDict):
    # a member
    agentId: str
    # one that the member has
    capability: str | Omitted
    dependsOn: NotRequired[list[str] | Omitted]
    expectation: NotRequired[Expectation | Omitted]
    id: str
    input: NotRequired[dict[str, Any]]
    inputBindings: NotRequired[dict[str, Binding]]
    name: str | Omitted


class ListedTenant(TypedDict):
    createdAt: str
    id: str
    name: str | Omitted
    revision: int
    updatedAt: str


class ListedToken(TypedDict):
    # an agent token's: it does what these agents do, and nothing else
    agentIds: NotRequired[list[str] | Omitted]
    # when its user confirmed that it is theirs
    confirmedAt: NotRequired[str]
    createdAt: str
    createdBy: str
    # a token's name, a user's or an agent's
    createdByName: NotRequired[str | Omitted]
    expiresAt: str
    id: str
    # kept coarsely
    lastUsedAt: NotRequired[str]
    # absent: both
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]] | Omitted]
    name: str | Omitted
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str] | Omitted]
    # a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else
    reads: NotRequired[list[Literal["metrics", "audit", "realm"]] | Omitted]
    # the token that a reading token was renewed as; it ended within 24 hours
    renewedAs: NotRequired[str | Omitted]
    revokedAt: NotRequired[str]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]] | Omitted
    tenantId: str
    userEmail: NotRequired[str]


class ListedUser(TypedDict):
    createdAt: str
    createdBy: str
    # a token's name, a user's or an agent's
    createdByName: NotRequired[str | Omitted]
    email: str | Omitted
    # belongs to another tenant and has not accepted yet: no user of this one so far
    invited: NotRequired[bool]
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str] | Omitted]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]] | Omitted
    tenantId: str
    updatedAt: str


class ListedWebhook(TypedDict):
    createdAt: str
    # notifications given up after their last try
    dropped: int
    enabled: bool
    events: list[Literal["approval.requested", "approval.lapsing", "run.recovery_required", "run.ended", "live.stopped", "live.going", "audit_rewound", "token.lapsing", "change.proposed", "change.approved", "change.ended"]] | Omitted
    id: str
    lastError: NotRequired[str | Omitted]
    lastErrorAt: NotRequired[str]
    lastSuccessAt: NotRequired[str]
    # notifications that are tried, at most 64 at once; later ones wait in the audit log
    pending: int
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str] | Omitted]
    # 1 on create, one more on each update
    revision: int
    # the server's variable that holds the signing secret
    secretEnv: str
    # the variable isn't set, so nothing can be sent
    secretIsMissing: NotRequired[bool]
    updatedAt: str
    url: str | Omitted


class Look(TypedDict):
    # when it began
    at: str
    # the person who asked for it, who decides by it and nothing else; absent: the service itself
    by: NotRequired[str]
    # a token's name or a user's
    byName: NotRequired[str]
    capability: str
    # why it found nothing that could be judged
    error: NotRequired[str]
    # no two of a step share one; its key is <runId>.<stepId>~look-<n>
    n: int
    # absent for who must not see all of the request
    requestDigest: NotRequired[str]
    # of what it found; absent where it found nothing that could be judged, and for who must not see all of it
    stateDigest: NotRequired[str]
    statusCode: NotRequired[int]
    # what it found; absent where an earlier look of the step that has them has the same stateDigest
    values: NotRequired[dict[str, Any]]


class Manifest(TypedDict):
    # several manifests say more: what one leaves out stays as it is
    agents: list[ManifestAgent]
    schemaVersion: Literal["1.0"]


class ManifestAgent(TypedDict):
    # names of capabilities that the project has registered
    capabilities: list[str]
    # fixed inputs by capability name
    executorInputs: NotRequired[dict[str, dict[str, Any]]]
    # stable, the system's own name for the agent
    externalAgentId: str
    goal: str
    # a model of the tenant that no other system's agent has
    modelId: NotRequired[str]
    name: str
    role: str
    # raised whenever the manifest changes
    sourceRevision: int


class MemoryEffect(TypedDict):
    value: ModelValue
    variableId: str


class Mismatch(TypedDict):
    # any JSON value
    actual: Any
    # any JSON value
    expected: Any
    field: Literal["expectedStateId", "expectedPath", "expectedResult"]


class Model(TypedDict):
    createdAt: str
    document: AgentModel
    id: str
    name: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # the server's: 1 on create, one more on each update and suspension
    revision: int
    schemaVersion: str
    suspended: bool
    updatedAt: str


class ModelAgent(TypedDict):
    completionCriteria: str
    goal: str
    id: str
    name: str
    role: str
    user: str


class ModelPage(TypedDict):
    # the resources of this page
    items: list[ListedModel]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class ModelScope(TypedDict):
    allowedActions: str
    askUserWhen: str
    limits: str


class ModelState(TypedDict):
    id: str
    isFinal: bool
    isStart: bool
    meaning: str
    name: str
    position: Position


class ModelWrite(TypedDict):
    # ignored
    createdAt: NotRequired[Any]
    document: AgentModel
    # absent or 0 creates; else the current revision
    expectedRevision: NotRequired[int]
    # ignored
    id: NotRequired[Any]
    # ignored: the document's name counts
    name: NotRequired[Any]
    # ignored
    retired: NotRequired[Any]
    # ignored
    revision: NotRequired[Any]
    # ignored: the document's counts
    schemaVersion: NotRequired[Any]
    # ignored
    suspended: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]


class NewToken(TypedDict):
    # an agent token's: it does what these agents do, and nothing else
    agentIds: NotRequired[list[str]]
    # when its user confirmed that it is theirs
    confirmedAt: NotRequired[str]
    createdAt: str
    createdBy: str
    # a token's name, a user's or an agent's
    createdByName: NotRequired[str]
    expiresAt: str
    id: str
    # kept coarsely
    lastUsedAt: NotRequired[str]
    # absent: both
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    name: str
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    # a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else
    reads: NotRequired[list[Literal["metrics", "audit", "realm"]]]
    # the token that a reading token was renewed as; it ended within 24 hours
    renewedAs: NotRequired[str]
    revokedAt: NotRequired[str]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]
    tenantId: str
    # shown once
    token: str
    userEmail: NotRequired[str]


Omitted = TypedDict(
    "Omitted",
    {
        "$omitted": "OmittedOmitted",
    },
)


class OmittedOmitted(TypedDict):
    bytes: int
    sha256: str


class OnBehalfOf(TypedDict):
    # only where the issuer has verified it
    email: NotRequired[str]
    issuer: str
    # the token's sub
    subject: str


class PasskeyRegistration(TypedDict):
    # base64url
    credentialId: str
    # who made the sign-in link that began the session in which it was added, nearest first: it may be theirs
    makers: NotRequired[list[str]]
    # SubjectPublicKeyInfo, base64url
    publicKey: str
    rpId: str


class Plan(TypedDict):
    # of an agent or team run: who carries it out
    agents: NotRequired[list[PlanAgent]]
    createdAt: str
    createdBy: str
    # a token's name, or a user's
    createdByName: NotRequired[str]
    # the edition by which its approval rules are judged, 3; absent where no step has rules, and in plans of before, which are judged as
    # then
    gate: NotRequired[int]
    id: str
    mode: Literal["DRY_RUN", "LIVE"]
    # absent in the plan of a team run: see agents; and where a run has no model
    modelId: NotRequired[str]
    modelRevision: NotRequired[int]
    modelSnapshot: NotRequired[Model]
    # of an agent or team run: the models of its agents
    models: NotRequired[list[Model]]
    name: str
    # SHA-256 of the content without id, name, mode and times: joins a rehearsal and its LIVE twin; absent for who must not see all of it
    planDigest: NotRequired[str]
    planningInputs: NotRequired[dict[str, Any]]
    projectSnapshots: NotRequired[list[Project]]
    # the project revisions that the plan was made from
    projects: list[ProjectRef]
    # when what it held was removed, with the last of its runs: none can be started of it any more
    redactedAt: NotRequired[str]
    scenarioId: NotRequired[str]
    status: Literal["READY", "INVALID"]
    steps: list[Step]
    # of a team run
    team: NotRequired[PlanTeam]
    validationErrors: list[str]


class PlanAgent(TypedDict):
    executorInputs: dict[str, dict[str, Any]]
    id: str
    # absent where the agent has none
    modelId: NotRequired[str]
    modelRevision: NotRequired[int]
    projectId: str
    revision: int
    sourceRevision: int


class PlanPage(TypedDict):
    # the resources of this page
    items: list[ListedPlan]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class PlanTeam(TypedDict):
    id: str
    members: list[TeamMember]
    revision: int


class PlanWrite(TypedDict):
    id: NotRequired[str]
    # default DRY_RUN
    mode: NotRequired[Literal["DRY_RUN", "LIVE"]]
    modelId: str
    modelRevision: int
    name: str
    planningInputs: NotRequired[dict[str, Any]]
    scenarioId: NotRequired[str]
    steps: list[Step]


class Position(TypedDict):
    x: Number
    y: Number


class Precondition(TypedDict):
    # a GET capability of this project that only reads and asks nobody: its required inputs are inputs of this capability, and taken by name
    capability: str
    # 1 to 10 fields of its output, read as an expectation's are: what was approved holds only while they stay as they were
    fields: list[str]
    # a condition over the fields: nothing is sent, and nobody is asked, unless it holds
    when: NotRequired[Condition]


class Predicate(TypedDict):
    kind: Literal["predicate"]
    operator: Literal["eq", "neq", "gt", "gte", "lt", "lte", "isUnknown", "isKnown"]
    # what the variable is compared with
    value: NotRequired[ModelValue]
    variableId: str


class PredicateTrace(TypedDict):
    # the variable's value; null is unknown
    actual: ModelValue
    holds: bool
    operator: str
    transitionId: str
    # what it was compared with
    value: NotRequired[ModelValue]
    variableId: str


class ProbeRecord(TypedDict):
    at: str
    by: str
    # a token's name or a user's
    byName: NotRequired[str]
    capability: str
    error: NotRequired[str]
    n: int
    # the whole body: the probe's outputField is not applied
    output: NotRequired[Any]
    request: NotRequired[Request]
    response: NotRequired[Response]


class ProbeStart(TypedDict):
    stepId: str


class Problem(TypedDict):
    # stable word for this kind of problem
    code: str
    # what is wrong and what would be right
    message: str
    # JSON path into the document; empty for the whole
    path: str
    # inputs that show it
    witness: NotRequired[Any]


class Project(TypedDict):
    adapter: Literal["HTTP_JSON", "LOCAL_ECHO"]
    # the Ed25519 public keys, one or two, by which the receiver signs its answers: an answer that none of them signed is uncertain
    answerKeys: NotRequired[list[str]]
    auth: NotRequired[Auth | list[Auth]]
    authSecretEnv: NotRequired[str]
    baseUrl: NotRequired[str]
    capabilities: list[Capability]
    # the latest check of each capability's receiver at the present revision
    conformance: NotRequired[list[Conformance]]
    createdAt: str
    enabled: bool
    # sent with each call; not secret
    headers: NotRequired[dict[str, str]]
    # the latest check of the present revision
    health: NotRequired[HealthCheck]
    healthPath: NotRequired[str]
    id: str
    name: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    revision: int
    # each credential variable exists and isn't empty now
    secretConfigured: bool
    # where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC
    settlement: NotRequired[Settlement]
    updatedAt: str
    # true: a secret is shorter than 32 bytes (HMAC) or 16 (others) now; nothing is refused for it
    weakSecret: NotRequired[bool]


class ProjectPage(TypedDict):
    # the resources of this page
    items: list[ListedProject]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class ProjectRef(TypedDict):
    id: str
    revision: int


class ProjectRunStart(TypedDict):
    capability: str
    # judged besides the capability's; a LIVE run without either is counted in unverifiedSteps
    expectation: NotRequired[Expectation]
    inputs: NotRequired[dict[str, Any]]
    # default DRY_RUN
    mode: NotRequired[Literal["DRY_RUN", "LIVE"]]
    # as of POST /runs
    reason: NotRequired[str]


class ProjectWrite(TypedDict):
    adapter: Literal["HTTP_JSON", "LOCAL_ECHO"]
    # Ed25519 public keys by which the receiver signs its answers: ed25519: and 64 hex digits
    answerKeys: NotRequired[list[str]]
    # an object, or an array of up to three for an API that wants several keys, of which one at most is HMAC
    auth: NotRequired[Auth | list[Auth]]
    # legacy HMAC: name of a server environment variable
    authSecretEnv: NotRequired[str]
    # HTTP(S) origin on the server's list
    baseUrl: NotRequired[str]
    capabilities: list[Capability]
    # ignored
    conformance: NotRequired[Any]
    # ignored
    createdAt: NotRequired[Any]
    enabled: NotRequired[bool]
    # absent or 0 creates; else the current revision
    expectedRevision: NotRequired[int]
    # fixed headers that each call is sent with, by name; not secret, and none that API_KEY may not name, but Accept with a JSON media type
    headers: NotRequired[dict[str, str]]
    # ignored
    health: NotRequired[Any]
    # GET path of the health check; default /
    healthPath: NotRequired[str]
    # ignored
    id: NotRequired[Any]
    name: str
    # ignored
    retired: NotRequired[Any]
    # ignored
    revision: NotRequired[Any]
    # ignored
    secretConfigured: NotRequired[Any]
    # where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC
    settlement: NotRequired[Settlement]
    # ignored
    updatedAt: NotRequired[Any]
    # ignored
    weakSecret: NotRequired[Any]


class ProposedChange(TypedDict):
    approvalsNeeded: int
    # oldest first
    decisions: list[ChangeDecided]
    # what weakens first
    diff: list[ChangeDifference]
    # SHA-256 of the operation, the subject, what is asked for and what stands: what a passkey signs
    digest: str
    endedAt: NotRequired[str]
    # why it lapsed or was withdrawn
    endedReason: NotRequired[str]
    # it lapses then; once approved, what its proposer has not made by then
    expiresAt: str
    # every decider is a member of one of them, and each has at least one decider
    groups: NotRequired[list[str]]
    id: str
    # as the audit log names it, such as projects.write
    operation: str
    proposedAt: str
    proposedBy: str
    proposedByName: NotRequired[str]
    # the proposer's, where the operation takes one
    reason: NotRequired[str]
    # of the subject, on which it was proposed; 0 for what is new or has none
    revision: int
    status: str
    # kind/id of what it changes
    subject: str
    # what it does, in words
    title: str


class ProposedChangePage(TypedDict):
    # the resources of this page
    items: list[ListedProposedChange]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class Reason(TypedDict):
    # never blank
    reason: str


class Reconcile(TypedDict):
    # never blank
    evidence: str
    # what the receiver answered or has: as its API gives it, or only the capability's outputField
    output: NotRequired[dict[str, Any]]
    resolution: Literal["CONFIRMED_COMPLETED", "CONFIRMED_NOT_EXECUTED", "ABANDON"]


class Reconciliation(TypedDict):
    at: str
    by: str
    # a token's name or a user's
    byName: NotRequired[str]
    # where the output contradicts what was sent
    differs: NotRequired[list[Discrepancy]]
    evidence: str
    resolution: Literal["CONFIRMED_COMPLETED", "CONFIRMED_NOT_EXECUTED", "ABANDON"]


class Redaction(TypedDict):
    at: str
    by: str
    # a token's name or a user's
    byName: NotRequired[str]


class Rehearsal(TypedDict):
    planDigest: NotRequired[str]
    # the DRY_RUN run; absent when there is none
    rehearsalId: NotRequired[str]
    rehearsedAt: NotRequired[str]
    runId: str
    steps: list[RehearsedStep]
    verdict: Literal["SAME", "DIFFERENT", "OPEN", "NONE"]


class RehearsedStep(TypedDict):
    # the inputs that came from earlier outputs
    bound: list[str]
    differences: list[Difference]
    # null where an input was bound
    rehearsedDigest: NotRequired[str | None]
    # null until the request is made
    sentDigest: NotRequired[str | None]
    stepId: str
    verdict: Literal["SAME", "DIFFERENT", "OPEN"]


class Request(TypedDict):
    # the exact JSON that is sent; null without a body
    body: Any
    # the project's headers, and the user of BASIC, by name; those that each call has aren't listed
    headers: NotRequired[Any]
    method: str
    # the query fields by name, in the order sent
    query: Any
    # absolute, with the query as it stands on the wire
    url: str


class RequestMapping(TypedDict):
    body: NotRequired[list[str]]
    query: NotRequired[list[str]]


class RequesterRecord(TypedDict):
    # by a person
    rejected: int
    runs: int
    # completed, and all that was expected is so
    verified: int


class Response(TypedDict):
    # of an answer that is no 2xx, or that can't be read: its first 4 KiB as text, credentials masked
    body: NotRequired[str]
    bodySha256: NotRequired[str]
    # absent, with bodySha256, for who must not see all of the body
    bytes: NotRequired[int]
    durationMs: int
    # of an answer that is no 2xx: its Retry-After, seconds or a date of HTTP, as it was sent
    retryAfter: NotRequired[str]
    # of an answer that the receiver signed: what shows it
    signed: NotRequired[AnswerEvidence]
    # 0 when no status line came
    statusCode: int


class RuleVerdict(TypedDict):
    name: Literal["accepts-signed", "refuses-unsigned", "refuses-wrong-signature", "refuses-changed-body", "refuses-changed-target", "refuses-old-timestamp", "refuses-future-timestamp", "refuses-no-credential", "refuses-wrong-credential", "same-key-same-body", "same-key-other-body", "slow-answer", "twins", "effect-once", "signs-answers", "tells-fate", "withdraws"]
    # statuses and digests, or why it was not tried; never a secret
    seen: NotRequired[str]
    verdict: Literal["HOLDS", "BROKEN", "NOT_TRIED"]


class Run(TypedDict):
    agentId: NotRequired[str]
    # what the agent said of its call over MCP; nobody has checked it
    agentWords: NotRequired[AgentWords]
    # the latest approval asked for
    approvalId: NotRequired[str]
    cancelRequested: bool
    completedAt: NotRequired[str]
    createdAt: str
    # code: message
    error: NotRequired[str]
    # it is neither redacted nor archived until this is ended
    hold: NotRequired[RunHold]
    id: str
    idempotencyKey: str
    # by which an agent asked that signs in at an identity provider
    identity: NotRequired[Identity]
    # a side effect of it may have taken effect, whatever its status says: see that of its steps
    mayHaveHappened: NotRequired[bool]
    mode: Literal["DRY_RUN", "LIVE"]
    # for whom that agent asked, by its issuer's word; counts as who asked
    onBehalfOf: NotRequired[OnBehalfOf]
    # up to 10 runs with the same capability and the same inputs or title whose outcome nobody knew when it was started, or a step of it
    # began
    openAlike: NotRequired[list[str]]
    # absent for who must not see all of the plan
    planDigest: NotRequired[str]
    planId: str
    planSnapshot: NotRequired[Plan]
    # why it was started, in the words of who started it
    reason: NotRequired[str]
    # what it held was removed: values read •••, or are absent
    redacted: NotRequired[Redaction]
    requestedBy: str
    # a token's name, a user's or an agent's
    requestedByName: NotRequired[str]
    # when the store was restored, or reopened after it was copied, while the run was unfinished: it may have been sent by the store that
    # this one replaces
    restoredAt: NotRequired[str]
    # rises with every change of the run
    revision: int
    status: Literal["READY", "RUNNING", "WAITING_APPROVAL", "RECOVERY_REQUIRED", "COMPLETED", "FAILED", "CANCELLED"]
    steps: list[StepRun]
    teamId: NotRequired[str]
    # completed steps that nothing was asked of
    unverifiedSteps: int
    updatedAt: str
    waitingFor: NotRequired[WaitingFor]


class RunHold(TypedDict):
    at: str
    by: str
    # a token's name or a user's
    byName: NotRequired[str]
    reason: str


class RunPage(TypedDict):
    # the resources of this page
    items: list[ListedRun]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class RunStart(TypedDict):
    planId: str
    # why it is started: shown to approvers, and kept in the audit log
    reason: NotRequired[str]


class SameRequest(TypedDict):
    # when its approval was asked for, or without one when it was sent
    at: str
    runId: str
    status: Literal["PENDING", "WAITING_APPROVAL", "RUNNING", "COMPLETED", "SIMULATED", "FAILED", "RECOVERY_REQUIRED", "ABANDONED", "CANCELLED", "SKIPPED"]
    stepId: str


class Scenario(TypedDict):
    description: str
    expectedPath: list[str]
    expectedResult: str
    expectedStateId: str
    id: str
    initialMemory: dict[str, ModelValue]
    inputs: dict[str, ModelValue]
    name: str


class SearchHit(TypedDict):
    # when the record was made
    at: str
    id: str
    kind: Literal["run", "token"]
    # of a run
    mode: NotRequired[str]
    # of the record
    status: NotRequired[str]
    # the whole value there, where it is short
    value: NotRequired[str]
    # where in the record it stands, such as: input orderId of step refund
    where: str


class SearchResult(TypedDict):
    items: list[ListedSearchHit]


class Session(TypedDict):
    # the X-CSRF-Token of unsafe requests; absent for a token, which needs none
    csrfToken: NotRequired[str]
    # absent for a token that no user stands behind
    email: NotRequired[str]
    # when it ends, however much it is used
    expiresAt: str
    # the tenants that invite the user, who accepts in the console
    invitations: NotRequired[list[str]]
    # who made the sign-in link that the session, or the passkey it began with, goes back to, nearest first: it counts as one person with
    # them where four eyes are asked for
    linkMakers: NotRequired[list[str]]
    # of a token; absent: both
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    # who acts: user:<e-mail> or token:<id>
    principal: str
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    # a realm administrator
    realm: bool
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]
    # the tenant that it acts in
    tenantId: str
    # the tenants that the user belongs to; a token acts in one
    tenants: list[str]


class Settle(TypedDict):
    # CONFIRM: the step ends by what the statement says (DONE or WITHDRAWN). WITHDRAW: a key that the receiver never saw (UNSEEN) is
    # withdrawn, and the step ends by that
    action: Literal["CONFIRM", "WITHDRAW"]
    # the statement that it rests on, of the step's settlements
    n: int
    # never blank
    reason: str
    stepId: str


class SettledBy(TypedDict):
    at: str
    keyId: str


class Settlement(TypedDict):
    # PROPOSE (default): a reviewer confirms what the receiver says; AUTOMATIC: the service goes by it, and withdraws what was never seen
    mode: NotRequired[Literal["PROPOSE", "AUTOMATIC"]]
    # on the registered origin: GET {path}/{key} tells, POST {path}/{key}/withdraw withdraws a key that was never seen; no capability has a
    # path at or below it
    path: str


class SettlementRecord(TypedDict):
    # when the answer came
    at: str
    # why it is no valid statement
    error: NotRequired[str]
    keyId: NotRequired[str]
    # the number of the question; no two of a step share one
    n: int
    # of DONE: the body of the kept answer
    output: NotRequired[Any]
    # the state that the receiver named, where it counts as UNKNOWN: its memory may have forgotten the key
    said: NotRequired[str]
    # lowercase hex
    signature: NotRequired[str]
    signed: NotRequired[AnswerEvidence]
    # from when on the receiver has forgotten nothing, as it says
    since: NotRequired[str]
    # what it counts as: DONE, IN_PROGRESS, UNKNOWN, UNSEEN or WITHDRAWN; absent where the answer was no statement
    state: NotRequired[str]
    # of DONE: that of the kept answer
    statusCode: NotRequired[int]
    # path and query of the question
    target: NotRequired[str]
    # of DONE: the body of a kept answer that isn't JSON, its first 4 KiB
    text: NotRequired[str]
    # it was signed with an answer key of the project; what isn't decides nothing
    valid: bool
    # true: the question asked to withdraw the key
    withdrawing: NotRequired[bool]


class SignInLink(TypedDict):
    createdAt: str
    # counts as one person with the link's session where four eyes are asked for
    createdBy: str
    # a token's name, or a user's
    createdByName: NotRequired[str]
    email: str
    expiresAt: str
    # the tenant that its session acts in, and no other
    tenantId: str
    # shown once; it signs in once, whoever opens it and confirms
    url: str


class SignInLinkWrite(TypedDict):
    # default 15
    expiresInMinutes: NotRequired[int]
    # another tenant than your own
    tenantId: NotRequired[str]


class SignedAnswer(TypedDict):
    authenticatorData: str
    # its bytes, not its text
    clientDataJSON: str
    credentialId: str
    signature: str


class Simulation(TypedDict):
    finalStateId: str
    mismatches: list[Mismatch]
    outcome: Literal["final", "stuck", "loop"] | str
    # no mismatch and no loop
    passed: bool
    # state ids visited, the start included; a loop ends with the state that recurs
    path: list[str]
    # simulatedResult of the last action taken, empty when none ran
    result: str
    scenarioId: str
    trace: list[TraceEntry]
    # every variable at the end; null is unknown
    values: dict[str, ModelValue]


class SimulationRequest(TypedDict):
    inputs: NotRequired[dict[str, ModelValue]]
    scenarioId: str


class State(TypedDict):
    # when the read began
    at: str
    # the read
    capability: str
    # the read's
    request: NotRequired[Request]
    # of the read's request; absent for who must not see all of it
    requestDigest: NotRequired[str]
    statusCode: int
    # by field, exactly as the read gave them
    values: dict[str, Any]


class StateChange(TypedDict):
    field: str
    # any JSON value
    now: Any
    # in the state of the approval before
    then: Any


class Step(TypedDict):
    actionId: NotRequired[str]
    # the agent that carries it out, in the plan of an agent or team run
    agentId: NotRequired[str]
    capability: str
    dependsOn: NotRequired[list[str]]
    expectation: NotRequired[Expectation]
    id: str
    input: NotRequired[dict[str, Any]]
    inputBindings: NotRequired[dict[str, Binding]]
    name: str
    projectId: str


class StepError(TypedDict):
    code: Literal["receiver_refused", "output_missing", "expectation_not_met", "not_sent", "outcome_unknown", "approval_rejected", "approval_expired", "denied_by_rule", "denied_by_budget", "drift", "project_disabled", "cancelled", "abandoned", "set_aside", "answer_unsigned", "withdrawn", "not_executed", "precondition_failed", "precondition_unknown"] | str
    message: str


class StepRun(TypedDict):
    actionId: NotRequired[str]
    agentId: NotRequired[str]
    # the answer was signed by the receiver, with this key
    answeredBy: NotRequired[AnsweredBy]
    approvalId: NotRequired[str]
    # until the inputs are known, as the capability's approval says; then as its rules do too
    approvalRequired: bool
    # how many new approvals of the present attempt were asked for since the state had changed
    askedAgain: NotRequired[int]
    # when it was asked for the first time
    askedFrom: NotRequired[str]
    # how often it was sent
    attempt: int
    capability: str
    completedAt: NotRequired[str]
    dependsOn: list[str]
    error: NotRequired[StepError]
    id: str
    idempotencyKey: str
    # resolved; an input still bound shows {"$from": "step.field"}
    input: dict[str, Any]
    # an answer that came after nobody waited for it any more; it decides nothing
    late: NotRequired[LateAnswer]
    # the number of the look that is under way
    looking: NotRequired[int]
    # the reads for its precondition, oldest first
    looks: NotRequired[list[Look]]
    # a side effect that may have taken effect though it isn't COMPLETED: it was answered 2xx, not as expected, or a person confirmed that a
    # sending had not been executed, which may still arrive, or the store was restored and the one that it replaces may have sent it
    mayHaveHappened: NotRequired[bool]
    name: str
    # when it is asked next; absent: not by itself
    nextAt: NotRequired[str]
    # the selected output
    output: NotRequired[Any]
    probes: NotRequired[list[ProbeRecord]]
    projectId: str
    # how often the receiver was asked what became of the key
    questions: NotRequired[int]
    reconciliation: NotRequired[Reconciliation]
    # from WAITING_APPROVAL on; no credentials, ever
    request: NotRequired[Request]
    # null until the request is made, and in a rehearsal where anything is bound; absent for who must not see all of the request
    requestDigest: NotRequired[str | None]
    response: NotRequired[Response]
    # the step ended by the receiver's own word, signed with this key
    settledBy: NotRequired[SettledBy]
    # what the receiver said became of the step's key, each time that it said something new
    settlements: NotRequired[list[SettlementRecord]]
    sideEffect: bool
    # when the latest attempt was committed
    startedAt: NotRequired[str]
    # of the state that was read before it was sent; absent for who must not see all of it
    stateDigest: NotRequired[str]
    status: Literal["PENDING", "WAITING_APPROVAL", "RUNNING", "COMPLETED", "SIMULATED", "FAILED", "RECOVERY_REQUIRED", "ABANDONED", "CANCELLED", "SKIPPED"]
    verification: NotRequired[Verification]
    # of a rehearsed step: what the gate would say of these inputs
    wouldBe: NotRequired[Literal["ALLOW", "ASK", "DENIED"]]
    # of a rehearsed step with a precondition: what would be looked at
    wouldCheck: NotRequired[WouldCheck]


class Stop(TypedDict):
    by: str
    # a token's name or a user's, where it is one of the reader's tenant
    byName: NotRequired[str]
    reason: str
    since: str
    # * for all tenants
    tenantId: str


class StopState(TypedDict):
    stopped: bool
    # those that stand
    stops: list[Stop]
    # * for all tenants
    tenantId: str


class StopWrite(TypedDict):
    # never blank
    reason: str
    # absent: the caller's own; another, or * for all, is for realm administrators only
    tenantId: NotRequired[str]


class SuggestedFrom(TypedDict):
    approvalId: str
    # who suggested them
    by: str
    # a token's name, a user's or an agent's
    byName: NotRequired[str]
    runId: str


class SyncedAgents(TypedDict):
    items: list[ListedAgent]


class Team(TypedDict):
    createdAt: str
    id: str
    members: list[TeamMember]
    name: str
    # true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that
    retired: NotRequired[bool]
    # 1 on create, one more on each update and suspension
    revision: int
    steps: list[TeamStep]
    suspended: bool
    updatedAt: str


class TeamMember(TypedDict):
    agentId: str
    # never blank
    role: str


class TeamPage(TypedDict):
    # the resources of this page
    items: list[ListedTeam]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class TeamRunStart(TypedDict):
    # the team's current revision
    expectedRevision: int
    # by step id: fields that override the step's input, but never a fixed one
    inputs: NotRequired[dict[str, dict[str, Any]]]
    # default DRY_RUN
    mode: NotRequired[Literal["DRY_RUN", "LIVE"]]
    # as of POST /runs
    reason: NotRequired[str]


class TeamStep(TypedDict):
    # a member
    agentId: str
    # one that the member has
    capability: str
    dependsOn: NotRequired[list[str]]
    expectation: NotRequired[Expectation]
    id: str
    input: NotRequired[dict[str, Any]]
    inputBindings: NotRequired[dict[str, Binding]]
    name: str


class TeamWrite(TypedDict):
    # ignored
    createdAt: NotRequired[Any]
    # absent or 0 creates; else the current revision
    expectedRevision: NotRequired[int]
    # ignored
    id: NotRequired[Any]
    # at least two different ADMITTED agents with models
    members: list[TeamMember]
    name: str
    # ignored
    retired: NotRequired[Any]
    # ignored
    revision: NotRequired[Any]
    # at least one
    steps: list[TeamStep]
    # ignored
    suspended: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]


class Tenant(TypedDict):
    createdAt: str
    id: str
    name: str
    revision: int
    updatedAt: str


class TenantPage(TypedDict):
    # the resources of this page
    items: list[ListedTenant]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class TenantSettings(TypedDict):
    # weakening was taken away on the stopped store, within the last 30 days
    breakGlass: NotRequired[BreakGlass]
    # PASSKEY: each approval is signed with a passkey of whoever gives it; NONE by default
    decisionAssertion: Literal["NONE", "PASSKEY"]
    # 0 while nobody has set anything
    revision: int
    tenantId: str
    updatedAt: NotRequired[str]
    # changes that weaken are proposed, and made once so many administrators have approved; absent: they are made at once
    weakening: NotRequired[Weakening]


class TenantSettingsWrite(TypedDict):
    # ignored
    breakGlass: NotRequired[Any]
    decisionAssertion: Literal["NONE", "PASSKEY"]
    # absent or 0 where nobody has set anything; else the current revision
    expectedRevision: NotRequired[int]
    # never blank
    reason: str
    # ignored
    revision: NotRequired[Any]
    # ignored
    tenantId: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]
    # absent ends it, which is itself a change that weakens
    weakening: NotRequired[Weakening]


class TenantWrite(TypedDict):
    # ignored
    createdAt: NotRequired[Any]
    expectedRevision: NotRequired[int]
    # ignored
    id: NotRequired[Any]
    name: str
    # ignored
    revision: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]


class Toggle(TypedDict):
    expectedRevision: int
    reason: NotRequired[str]


class Token(TypedDict):
    # an agent token's: it does what these agents do, and nothing else
    agentIds: NotRequired[list[str]]
    # when its user confirmed that it is theirs
    confirmedAt: NotRequired[str]
    createdAt: str
    createdBy: str
    # a token's name, a user's or an agent's
    createdByName: NotRequired[str]
    expiresAt: str
    id: str
    # kept coarsely
    lastUsedAt: NotRequired[str]
    # absent: both
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    name: str
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    # a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else
    reads: NotRequired[list[Literal["metrics", "audit", "realm"]]]
    # the token that a reading token was renewed as; it ended within 24 hours
    renewedAs: NotRequired[str]
    revokedAt: NotRequired[str]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]
    tenantId: str
    userEmail: NotRequired[str]


class TokenPage(TypedDict):
    # the resources of this page
    items: list[ListedToken]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class TokenWrite(TypedDict):
    # makes an agent token, for these agents alone: roles is then OPERATOR, and projectIds absent
    agentIds: NotRequired[list[str]]
    # default 90
    expiresInDays: NotRequired[int]
    modes: NotRequired[list[Literal["DRY_RUN", "LIVE"]]]
    name: str
    # absent: as far as its maker reaches
    projectIds: NotRequired[list[str]]
    # makes a reading token, instead of roles: the tenant's figures, its audit log, and by a realm administrator the same of the realm; it
    # does nothing else
    reads: NotRequired[list[Literal["metrics", "audit", "realm"]]]
    # required, unless it reads only
    roles: NotRequired[list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]]
    # realm administrators only
    tenantId: NotRequired[str]
    # the user of the tenant who stands behind it
    userEmail: NotRequired[str]


TraceEntry = TypedDict(
    "TraceEntry",
    {
        "actionId": "NotRequired[str]",
        "effects": "list[MemoryEffect]",
        "from": "str",
        # the predicates evaluated in this state, in order
        "predicates": "list[PredicateTrace]",
        "to": "str",
        "transitionId": "str",
    },
)


class Transition(TypedDict):
    actionId: NotRequired[str | None]
    condition: Condition
    fromStateId: str
    id: str
    name: str
    priority: int
    toStateId: str


class User(TypedDict):
    createdAt: str
    createdBy: str
    # a token's name, a user's or an agent's
    createdByName: NotRequired[str]
    email: str
    # belongs to another tenant and has not accepted yet: no user of this one so far
    invited: NotRequired[bool]
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]
    tenantId: str
    updatedAt: str


class UserPage(TypedDict):
    # the resources of this page
    items: list[ListedUser]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class UserWrite(TypedDict):
    # ignored
    createdAt: NotRequired[Any]
    # ignored
    createdBy: NotRequired[Any]
    # ignored
    createdByName: NotRequired[Any]
    # ignored
    email: NotRequired[Any]
    # ignored
    invited: NotRequired[Any]
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    roles: list[Literal["ADMIN", "OPERATOR", "APPROVER", "VIEWER"]]
    # another tenant; realm administrators only
    tenantId: NotRequired[str]
    # ignored
    updatedAt: NotRequired[Any]


class Usual(TypedDict):
    # approved requests of the last 90 days that have such a number; of the newest 5,000 approvals at most
    count: int
    # the first number that the capability's title, rules or budgets name
    field: str
    # a number, exact
    median: Any


class Validation(TypedDict):
    errors: list[Problem]
    valid: bool
    warnings: list[Problem]


class Variable(TypedDict):
    choices: NotRequired[list[str] | None]
    defaultValue: ModelValue
    description: NotRequired[str | None]
    id: str
    kind: Literal["input", "memory"]
    name: str
    source: str
    type: Literal["number", "boolean", "text", "choice"]
    unit: NotRequired[str | None]


class Verification(TypedDict):
    # absent when the output has no such field
    actual: NotRequired[Any]
    # where the capability and the step both expect something: the judgement by each, the capability's first. The fields beside it are those
    # of the one that isn't met, else the step's own
    checks: NotRequired[list[ExpectationCheck]]
    # any JSON value
    expected: NotRequired[Any]
    field: NotRequired[str]
    status: Literal["PASSED", "FAILED", "NOT_REQUESTED", "SIMULATED"]
    # the HTTP status that was judged; absent after a reconcile
    statusCode: NotRequired[int]


class WaitingCounts(TypedDict):
    # that they may decide
    approvals: int
    # that they may decide
    changes: int
    # runs with an unknown outcome that they may reconcile
    recoveries: int


class WaitingFor(TypedDict):
    approvalId: NotRequired[str]
    # from when members of other groups may decide, too
    escalatesAt: NotRequired[str]
    expiresAt: NotRequired[str]
    # there may be more kinds
    kind: Literal["approval", "reconcile", "slot", "stop"] | str
    # until then an answer may still come, and no resolution is taken
    notBefore: NotRequired[str]
    # method and path below the version prefix
    operation: str
    # the run's
    restoredAt: NotRequired[str]
    role: str
    since: str
    stepId: str


class Weakening(TypedDict):
    # how many administrators, besides who proposes, must approve
    approvals: int
    # every decider is a member of one of them, and each has at least one decider; absent: any administrator
    groups: NotRequired[list[str]]


class Webhook(TypedDict):
    createdAt: str
    # notifications given up after their last try
    dropped: int
    enabled: bool
    events: list[Literal["approval.requested", "approval.lapsing", "run.recovery_required", "run.ended", "live.stopped", "live.going", "audit_rewound", "token.lapsing", "change.proposed", "change.approved", "change.ended"]]
    id: str
    lastError: NotRequired[str]
    lastErrorAt: NotRequired[str]
    lastSuccessAt: NotRequired[str]
    # notifications that are tried, at most 64 at once; later ones wait in the audit log
    pending: int
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    # 1 on create, one more on each update
    revision: int
    # the server's variable that holds the signing secret
    secretEnv: str
    # the variable isn't set, so nothing can be sent
    secretIsMissing: NotRequired[bool]
    updatedAt: str
    url: str


class WebhookPage(TypedDict):
    # the resources of this page
    items: list[ListedWebhook]
    # offset of the next page, null on the last
    nextOffset: int | None
    # how many there are in scope and matching the filters
    total: int


class WebhookWrite(TypedDict):
    # ignored
    createdAt: NotRequired[Any]
    # ignored
    dropped: NotRequired[Any]
    # default true
    enabled: NotRequired[bool]
    events: list[Literal["approval.requested", "approval.lapsing", "run.recovery_required", "run.ended", "live.stopped", "live.going", "audit_rewound", "token.lapsing", "change.proposed", "change.approved", "change.ended"]]
    # absent or 0 creates; else the current revision
    expectedRevision: NotRequired[int]
    # ignored
    id: NotRequired[Any]
    # ignored
    lastError: NotRequired[Any]
    # ignored
    lastErrorAt: NotRequired[Any]
    # ignored
    lastSuccessAt: NotRequired[Any]
    # ignored
    pending: NotRequired[Any]
    # absent: all projects of the tenant
    projectIds: NotRequired[list[str]]
    # ignored
    revision: NotRequired[Any]
    # a variable on the server's list of signing or credential variables
    secretEnv: str
    # ignored
    secretIsMissing: NotRequired[Any]
    # ignored
    updatedAt: NotRequired[Any]
    # its origin must be on the server's list SVC_PLATFORM_NOTIFY_ORIGINS
    url: str


class WhatIf(TypedDict):
    # by the first number that the title, rules or budgets name
    byField: NotRequired[WhatIfField]
    # what would have gone out unasked, and a person rejected; newest first
    loosened: list[WhatIfLoose]
    # runs; fewer than there are where judging them all would cost too much
    played: int
    # what would
    then: WhatIfCounts
    # what happened
    today: WhatIfCounts


WhatIfBucket = TypedDict(
    "WhatIfBucket",
    {
        "asked": "int",
        # by a rule or a budget
        "denied": "int",
        # any JSON value
        "from": "Any",
        # without asking a person
        "sent": "int",
        # any JSON value
        "to": "Any",
    },
)


class WhatIfCounts(TypedDict):
    asked: int
    # by a rule or a budget
    denied: int
    # without asking a person
    sent: int


class WhatIfField(TypedDict):
    buckets: list[WhatIfBucket]
    input: str


class WhatIfLoose(TypedDict):
    decidedBy: NotRequired[str]
    # a token's name, a user's or an agent's
    decidedByName: NotRequired[str]
    inputs: dict[str, Any]
    reason: NotRequired[str]
    runId: str


class WhatIfRequest(TypedDict):
    approval: NotRequired[Literal["NONE", "RISK_BASED", "ALWAYS"]]
    # [] for none
    approvalRules: NotRequired[list[ApprovalRule]]
    # [] for none
    budgets: NotRequired[list[Budget]]
    # may be left out with a change that gives one capability another gate
    capability: NotRequired[str]
    # a change of this project that is proposed, in place of a gate; for who reads changes
    changeId: NotRequired[str]
    # so many LIVE runs of the capability, the newest; with changeId 1000 if it is left out
    last: NotRequired[int]


class WouldCheck(TypedDict):
    capability: str
    fields: list[str]
    # the read's; absent where it can't be made from these inputs
    request: NotRequired[Request]
    when: NotRequired[Condition]


Condition = Predicate | ConditionGroup


ModelValue = str | Number | bool | None
