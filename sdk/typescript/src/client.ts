import { CountersignConnectionError } from "./errors.js";
import { type HeartbeatLoop, type HeartbeatOptions, startHeartbeat } from "./heartbeat.js";
import type { Body } from "./json.js";
import { Listing, type Page } from "./listing.js";
import type { Options } from "./options.js";
import { serverEvents } from "./sse.js";
import { type Call, segment, Transport } from "./transport.js";
import { Door, type Tools, type ToolsOptions } from "./tools.js";
import type * as t from "./types.js";
import { type WaitOptions, waitRun } from "./wait.js";

/** Of each operation. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Of the operations that start a run. */
export interface StartOptions extends CallOptions {
  /** A stable name of the business intent; without one, each call is a run of its own. */
  idempotencyKey?: string | undefined;
}

/** A probe waits for the project's answer, up to its capability's timeout of 60 s. */
const probeTimeoutMs = 75_000;
/** Events begin with the present state, at once; then the service says something every 15 s. */
const patience = { firstMs: 10_000, quietMs: 40_000 };

/**
 * Countersign is the API of the service: a method for each operation of its OpenAPI
 * document. `x(id)` reads one record, `xs(query)` lists them, `saveX` creates or
 * updates one; the others have the operation's name. Refusals are CountersignError;
 * CountersignConnectionError means that the outcome isn't known.
 */
export class Countersign {
  readonly #transport: Transport;

  constructor(options: Options) {
    this.#transport = new Transport(options);
  }

  health = (o?: CallOptions) => this.#get<t.Health>("/health", o);
  /** The machine-readable description of the API. */
  openapi = (o?: CallOptions) => this.#get<Record<string, unknown>>("/openapi.json", o);
  metrics = (o?: CallOptions) => this.#get<Record<string, unknown>>("/metrics", o);
  /** Who a browser's session is; a backend's token has none. */
  session = (o?: CallOptions) => this.#get<t.Session>("/session", o);
  /** Signing recipe, runtime headers, limits and error codes, machine-readable. */
  integrationContract = (o?: CallOptions) => this.#get<Record<string, unknown>>("/integrations/contract", o);

  model = (id: string, o?: CallOptions) => this.#get<t.Model>(`/models/${segment(id)}`, o);
  models = (query: t.Query<"listModels"> = {}, o?: CallOptions) => this.#list<t.ListedModel, typeof query>("/models", query, "id", o);
  saveModel = (id: string, body: Body<t.ModelWrite>, o?: CallOptions) => this.#put<t.Model>(`/models/${segment(id)}`, body, o);
  validateModel = (id: string, o?: CallOptions) => this.#post<t.Validation>(`/models/${segment(id)}/validate`, undefined, o);
  simulateModel = (id: string, body: Body<t.SimulationRequest>, o?: CallOptions) => this.#post<t.Simulation>(`/models/${segment(id)}/simulate`, body, o);
  compilePlan = (modelId: string, body: Body<t.CompileRequest>, o?: CallOptions) => this.#post<t.Plan>(`/models/${segment(modelId)}/compile-plan`, body, o);
  suspendModel = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Model>(`/models/${segment(id)}/suspend`, body, o);
  resumeModel = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Model>(`/models/${segment(id)}/resume`, body, o);
  retireModel = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Model>(`/models/${segment(id)}/retire`, body, o);
  restoreModel = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Model>(`/models/${segment(id)}/restore`, body, o);

  project = (id: string, o?: CallOptions) => this.#get<t.Project>(`/projects/${segment(id)}`, o);
  projects = (query: t.Query<"listProjects"> = {}, o?: CallOptions) => this.#list<t.ListedProject, typeof query>("/projects", query, "id", o);
  saveProject = (id: string, body: Body<t.ProjectWrite>, o?: CallOptions) => this.#put<t.Project>(`/projects/${segment(id)}`, body, o);
  /** Contradictions and gaps of a project's approval rules, each with inputs that show it. */
  validateProject = (id: string, o?: CallOptions) => this.#post<t.Validation>(`/projects/${segment(id)}/validate`, undefined, o);
  /** What another approval, other rules or other budgets of a capability would have done with past runs; changes nothing. */
  whatIf = (id: string, body: Body<t.WhatIfRequest>, o?: CallOptions) => this.#post<t.WhatIf>(`/projects/${segment(id)}/what-if`, body, o);
  /** What is used of the budgets of a project's capabilities, or of an agent. */
  budgets = (query: t.Query<"budgets">, o?: CallOptions) => this.#get<t.BudgetUses>("/budgets", o, query);
  checkProjectHealth = (id: string, o?: CallOptions) => this.#post<t.HealthCheck>(`/projects/${segment(id)}/health-check`, undefined, o);
  /** Changes the keys by which a project's receiver signs its answers, also under unfinished runs. */
  saveAnswerKeys = (id: string, body: Body<t.AnswerKeysWrite>, o?: CallOptions) => this.#put<t.Project>(`/projects/${segment(id)}/answer-keys`, body, o);
  enableProject = (id: string, body: Body<t.Toggle>, o?: CallOptions) => this.#post<t.Project>(`/projects/${segment(id)}/enable`, body, o);
  disableProject = (id: string, body: Body<t.Toggle>, o?: CallOptions) => this.#post<t.Project>(`/projects/${segment(id)}/disable`, body, o);
  retireProject = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Project>(`/projects/${segment(id)}/retire`, body, o);
  restoreProject = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Project>(`/projects/${segment(id)}/restore`, body, o);
  /** Keeps what a check of a capability's receiver found; see `countersign check-receiver`. */
  recordConformance = (id: string, body: Body<t.ConformanceWrite>, o?: CallOptions) => this.#post<t.Project>(`/projects/${segment(id)}/conformance`, body, o);

  /** Runs one capability of a project, without a model. */
  startProjectRun = (projectId: string, body: Body<t.ProjectRunStart>, o?: StartOptions) => this.#start(`/projects/${segment(projectId)}/runs`, body, o);

  plan = (id: string, o?: CallOptions) => this.#get<t.Plan>(`/plans/${segment(id)}`, o);
  plans = (query: t.Query<"listPlans"> = {}, o?: CallOptions) => this.#list<t.ListedPlan, typeof query>("/plans", query, "id", o);
  createPlan = (body: Body<t.PlanWrite>, o?: CallOptions) => this.#post<t.Plan>("/plans", body, o);
  planDrift = (id: string, o?: CallOptions) => this.#get<t.Drift>(`/plans/${segment(id)}/drift`, o);

  run = (id: string, o?: CallOptions) => this.#get<t.Run>(`/runs/${segment(id)}`, o);
  runs = (query: t.Query<"listRuns"> = {}, o?: CallOptions) => this.#list<t.ListedRun, typeof query>("/runs", query, "id", o);
  /** The signed receipt of an ended run, byte for byte; `@countersign/sdk/receipt` verifies it. */
  runReceipt = (id: string, o?: CallOptions) => this.#transport.bytes({ method: "GET", path: `/runs/${segment(id)}/receipt`, signal: o?.signal });
  runRehearsal = (id: string, o?: CallOptions) => this.#get<t.Rehearsal>(`/runs/${segment(id)}/rehearsal`, o);
  /** Finds runs by a text or number in their inputs and answers or by the key of their start, and tokens by their name. */
  search = (q: string, o?: CallOptions) => this.#get<t.SearchResult>(`/search?q=${encodeURIComponent(q)}`, o);
  startRun = (body: Body<t.RunStart>, o?: StartOptions) => this.#start("/runs", body, o);
  cancelRun = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Run>(`/runs/${segment(id)}/cancel`, body, o);
  reconcileRun = (id: string, body: Body<t.Reconcile>, o?: CallOptions) => this.#post<t.Run>(`/runs/${segment(id)}/reconcile`, body, o);
  /** Ends an uncertain step by what its receiver has signed, or has the receiver withdraw a key that it never saw. */
  holdRun = (id: string, body: Body<t.HoldWrite>, o?: CallOptions) => this.#put<t.Run>(`/runs/${segment(id)}/hold`, body, o);
  redactRun = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Run>(`/runs/${segment(id)}/redact`, body, o);
  settleRun = (id: string, body: Body<t.Settle>, o?: CallOptions) => this.#post<t.Run>(`/runs/${segment(id)}/settle`, body, o, probeTimeoutMs);
  probeRun = (id: string, body: Body<t.ProbeStart>, o?: CallOptions) => this.#post<t.Run>(`/runs/${segment(id)}/probe`, body, o, probeTimeoutMs);

  approval = (id: string, o?: CallOptions) => this.#get<t.Approval>(`/approvals/${segment(id)}`, o);
  approvals = (query: t.Query<"listApprovals"> = {}, o?: CallOptions) => this.#list<t.ListedApproval, typeof query>("/approvals", query, "id", o);
  lookAgain = (id: string, o?: CallOptions) => this.#post<t.Approval>(`/approvals/${segment(id)}/look`, undefined, o);
  decideApproval = (id: string, body: Body<t.Decision>, o?: CallOptions) => this.#post<t.Approval>(`/approvals/${segment(id)}/decision`, body, o);

  syncAgents = (projectId: string, body: Body<t.Manifest>, o?: CallOptions) => this.#post<t.SyncedAgents>(`/systems/${segment(projectId)}/agents/sync`, body, o);
  agent = (id: string, o?: CallOptions) => this.#get<t.AgentWithInstances>(`/agents/${segment(id)}`, o);
  agents = (query: t.Query<"listAgents"> = {}, o?: CallOptions) => this.#list<t.ListedAgent, typeof query>("/agents", query, "id", o);
  admitAgent = (id: string, body: Body<t.Admission>, o?: CallOptions) => this.#post<t.Agent>(`/agents/${segment(id)}/admit`, body, o);
  suspendAgent = (id: string, body: Body<t.Admission>, o?: CallOptions) => this.#post<t.Agent>(`/agents/${segment(id)}/suspend`, body, o);
  saveAgentIdentities = (id: string, body: Body<t.IdentitiesWrite>, o?: CallOptions) => this.#put<t.Agent>(`/agents/${segment(id)}/identities`, body, o);
  retireAgent = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Agent>(`/agents/${segment(id)}/retire`, body, o);
  restoreAgent = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Agent>(`/agents/${segment(id)}/restore`, body, o);
  heartbeat = (agentId: string, body: Body<t.Heartbeat>, o?: CallOptions) => this.#post<t.HeartbeatAck>(`/agents/${segment(agentId)}/heartbeat`, body, o);
  startAgentRun = (agentId: string, body: Body<t.AgentRunStart>, o?: StartOptions) => this.#start(`/agents/${segment(agentId)}/runs`, body, o);

  team = (id: string, o?: CallOptions) => this.#get<t.Team>(`/teams/${segment(id)}`, o);
  teams = (query: t.Query<"listTeams"> = {}, o?: CallOptions) => this.#list<t.ListedTeam, typeof query>("/teams", query, "id", o);
  saveTeam = (id: string, body: Body<t.TeamWrite>, o?: CallOptions) => this.#put<t.Team>(`/teams/${segment(id)}`, body, o);
  suspendTeam = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Team>(`/teams/${segment(id)}/suspend`, body, o);
  resumeTeam = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Team>(`/teams/${segment(id)}/resume`, body, o);
  retireTeam = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Team>(`/teams/${segment(id)}/retire`, body, o);
  restoreTeam = (id: string, body: Body<t.Reason>, o?: CallOptions) => this.#post<t.Team>(`/teams/${segment(id)}/restore`, body, o);
  startTeamRun = (teamId: string, body: Body<t.TeamRunStart>, o?: StartOptions) => this.#start(`/teams/${segment(teamId)}/runs`, body, o);

  tenants = (query: t.Query<"listTenants"> = {}, o?: CallOptions) => this.#list<t.ListedTenant, typeof query>("/tenants", query, "id", o);
  saveTenant = (id: string, body: Body<t.TenantWrite>, o?: CallOptions) => this.#put<t.Tenant>(`/tenants/${segment(id)}`, body, o);
  users = (query: t.Query<"listUsers"> = {}, o?: CallOptions) => this.#list<t.ListedUser, typeof query>("/users", query, "email", o);
  saveUser = (email: string, body: Body<t.UserWrite>, o?: CallOptions) => this.#put<t.User>(`/users/${segment(email)}`, body, o);
  /** The answer alone holds the link; for realm administrators. */
  createSignInLink = (email: string, body: Body<t.SignInLinkWrite> = {}, o?: CallOptions) => this.#post<t.SignInLink>(`/users/${segment(email)}/sign-in-link`, body, o);
  deleteUser = (email: string, query: t.Query<"deleteUser"> = {}, o?: CallOptions) => this.#delete<t.User>(`/users/${segment(email)}`, query, o);
  tokens = (query: t.Query<"listTokens"> = {}, o?: CallOptions) => this.#list<t.ListedToken, typeof query>("/tokens", query, "id", o);
  /** The answer alone holds the token itself. */
  createToken = (body: Body<t.TokenWrite>, o?: CallOptions) => this.#post<t.NewToken>("/tokens", body, o);
  /** Makes a token like the client's own, which must be a reading token: for 90 days, once. */
  renewToken = (o?: CallOptions) => this.#post<t.NewToken>("/tokens/renew", undefined, o);
  revokeToken = (id: string, query: t.Query<"revokeToken"> = {}, o?: CallOptions) => this.#delete<t.Token>(`/tokens/${segment(id)}`, query, o);
  /** Says that a token is its user's; only that user's session may. */
  confirmToken = (id: string, o?: CallOptions) => this.#post<t.Token>(`/tokens/${segment(id)}/confirm`, undefined, o);

  /** Whose each credential variable is, never a value; for realm administrators. */
  credentials = (query: t.Query<"listCredentials"> = {}, o?: CallOptions) => new Listing<t.ListedCredential, typeof query>((page) => this.#get("/credentials", o, page), query, (c) => JSON.stringify([c.name, c.tenantId, c.origin]));
  freeCredential = (name: string, body: Body<t.Reason>, o?: CallOptions) => this.#send<t.Credential>({ method: "DELETE", path: `/credentials/${segment(name)}`, body, signal: o?.signal });

  /** May LIVE steps begin? */
  settings = (o?: CallOptions) => this.#get<t.TenantSettings>("/settings", o);
  /** Changes that weaken what holds calls back, and that several administrators decide. */
  changes = (query: t.Query<"listChanges"> = {}, o?: CallOptions) => this.#list<t.ListedProposedChange, typeof query>("/changes", query, "id", o);
  change = (id: string, o?: CallOptions) => this.#get<t.ProposedChange>(`/changes/${segment(id)}`, o);
  decideChange = (id: string, body: Body<t.ChangeDecision>, o?: CallOptions) => this.#post<t.ProposedChange>(`/changes/${segment(id)}/decision`, body, o);
  /** Makes, as its proposer and once, an approved change that answers a secret: a token or a sign-in link. */
  makeChange = (id: string, o?: CallOptions) => this.#post<Partial<t.NewToken & t.SignInLink>>(`/changes/${segment(id)}/make`, undefined, o);
  withdrawChange = (id: string, body: Body<t.ChangeWithdrawal> = {}, o?: CallOptions) => this.#post<t.ProposedChange>(`/changes/${segment(id)}/withdraw`, body, o);
  saveSettings = (body: Body<t.TenantSettingsWrite>, o?: CallOptions) => this.#put<t.TenantSettings>("/settings", body, o);
  stopState = (o?: CallOptions) => this.#get<t.StopState>("/stop", o);
  stop = (body: Body<t.StopWrite>, o?: CallOptions) => this.#post<t.StopState>("/stop", body, o);
  go = (body: Body<t.StopWrite>, o?: CallOptions) => this.#post<t.StopState>("/go", body, o);
  group = (id: string, o?: CallOptions) => this.#get<t.Group>(`/groups/${segment(id)}`, o);
  groups = (query: t.Query<"listGroups"> = {}, o?: CallOptions) => this.#list<t.ListedGroup, typeof query>("/groups", query, "id", o);
  saveGroup = (id: string, body: Body<t.GroupWrite>, o?: CallOptions) => this.#put<t.Group>(`/groups/${segment(id)}`, body, o);
  deleteGroup = (id: string, o?: CallOptions) => this.#delete<t.Group>(`/groups/${segment(id)}`, {}, o);

  /** Who decides approvals in whose place, by who is away. */
  delegations = (query: t.Query<"listDelegations"> = {}, o?: CallOptions) => this.#list<t.ListedDelegation, typeof query>("/delegations", query, "user", o);
  saveDelegation = (email: string, body: Body<t.DelegationWrite>, o?: CallOptions) => this.#put<t.Delegation>(`/delegations/${segment(email)}`, body, o);
  endDelegation = (email: string, o?: CallOptions) => this.#delete<t.Delegation>(`/delegations/${segment(email)}`, {}, o);

  webhook = (id: string, o?: CallOptions) => this.#get<t.Webhook>(`/webhooks/${segment(id)}`, o);
  webhooks = (query: t.Query<"listWebhooks"> = {}, o?: CallOptions) => this.#list<t.ListedWebhook, typeof query>("/webhooks", query, "id", o);
  saveWebhook = (id: string, body: Body<t.WebhookWrite>, o?: CallOptions) => this.#put<t.Webhook>(`/webhooks/${segment(id)}`, body, o);
  deleteWebhook = (id: string, o?: CallOptions) => this.#delete<t.Webhook>(`/webhooks/${segment(id)}`, {}, o);

  audit = (query: t.Query<"listAudit"> = {}, o?: CallOptions) => this.#list<t.ListedAuditRecord, typeof query>("/audit", query, "seq", o);
  auditCheckpoint = (query: t.Query<"auditCheckpoint"> = {}, o?: CallOptions) => this.#get<t.AuditCheckpoint>("/audit/checkpoint", o, query);
  verifyAudit = (query: t.Query<"verifyAudit"> = {}, o?: CallOptions) => this.#get<t.AuditVerification>("/audit/verify", o, query);
  /**
   * The whole log as lines of JSON, oldest first, chunk by chunk. The last line says
   * what they are of; without an error all came. `countersign audit verify FILE` checks it.
   */
  exportAudit = (query: t.Query<"exportAudit"> = {}, o?: CallOptions): AsyncGenerator<Uint8Array> =>
    this.#transport.stream({ method: "GET", path: "/audit/export", query, signal: o?.signal }, {}, patience);

  /** One connection's events: the run's present state, then each change, until the connection ends. */
  async *runEvents(id: string, o: CallOptions & { lastEventId?: string | undefined } = {}): AsyncGenerator<t.ListedRun, void, undefined> {
    const headers: Record<string, string> = o.lastEventId === undefined ? {} : { "Last-Event-ID": o.lastEventId };
    const chunks = this.#transport.stream({ method: "GET", path: `/runs/${segment(id)}/events`, signal: o.signal }, headers, patience);
    for await (const event of serverEvents(chunks)) if (event.event === "run") yield readEvent<t.ListedRun>(event.data);
  }

  /** One connection's events: what waits for the caller, at once and when it changes, and what changes in its scope. */
  async *events(o: CallOptions = {}): AsyncGenerator<t.DeskEvent, void, undefined> {
    const chunks = this.#transport.stream({ method: "GET", path: "/events", signal: o.signal }, {}, patience);
    for await (const event of serverEvents(chunks)) {
      if (event.event === "waiting") yield { waiting: readEvent<t.WaitingCounts>(event.data) };
      else if (event.event === "changed") yield { changed: readEvent<t.Changed>(event.data) };
    }
  }

  /** Waits until a run has ended, or stands still for a person; see WaitOptions. */
  waitRun = (id: string, o?: WaitOptions): Promise<t.Run> => waitRun(this, id, o);

  /** Says at each interval that an instance of an agent lives, until `stop()`. */
  startHeartbeat = (o: HeartbeatOptions): HeartbeatLoop => startHeartbeat(this, o);

  /** An agent's capabilities as tools for a model, of its own token; see Tool. */
  tools = (agentId: string, o?: ToolsOptions): Promise<Tools> => new Door(this.#transport, agentId, o).tools();

  #get<T>(path: string, o?: CallOptions, query?: object): Promise<T> {
    return this.#send({ method: "GET", path, query, signal: o?.signal });
  }

  #put<T>(path: string, body: unknown, o?: CallOptions): Promise<T> {
    return this.#send({ method: "PUT", path, body, signal: o?.signal });
  }

  #post<T>(path: string, body: unknown, o?: CallOptions, timeoutMs?: number): Promise<T> {
    return this.#send({ method: "POST", path, body, signal: o?.signal, timeoutMs });
  }

  #delete<T>(path: string, query: object, o?: CallOptions): Promise<T> {
    return this.#send({ method: "DELETE", path, query, signal: o?.signal });
  }

  async #start(path: string, body: unknown, o: StartOptions = {}): Promise<t.Run> {
    const idempotencyKey = o.idempotencyKey ?? crypto.randomUUID();
    if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) throw new TypeError("idempotencyKey: it must be 1 to 255 visible ASCII characters");
    return this.#send({ method: "POST", path, body, signal: o.signal, idempotencyKey });
  }

  #list<T, Q extends { limit?: number; offset?: number }>(path: string, query: Q, key: keyof T, o?: CallOptions): Listing<T, Q> {
    return new Listing<T, Q>((page) => this.#get<Page<T>>(path, o, page), query, (item) => item[key]);
  }

  async #send<T>(call: Call): Promise<T> {
    return (await this.#transport.send(call)) as T;
  }
}

/** An event that can't be read is as good as a broken connection. */
function readEvent<T>(data: string): T {
  try {
    return JSON.parse(data);
  } catch {
    throw new CountersignConnectionError("an event is no JSON");
  }
}
