// The API's words, by the names of the specification. What each field means is
// said in openapi.ts, which is generated from the service's own document.
import type { components, operations } from "./openapi.js";

type Schemas = components["schemas"];

/** The query of a list operation, by its operationId. */
export type Query<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;

export type Agent = Schemas["Agent"];
export type AgentRunStart = Schemas["AgentRunStart"];
export type AgentWithInstances = Schemas["AgentWithInstances"];
export type Admission = Schemas["Admission"];
export type Approval = Schemas["Approval"];
export type AuditExport = Schemas["AuditExport"];
export type AuditVerification = Schemas["AuditVerification"];
export type CompileRequest = Schemas["CompileRequest"];
export type ConformanceWrite = Schemas["ConformanceWrite"];
export type Decision = Schemas["Decision"];
export type Drift = Schemas["Drift"];
export type Health = Schemas["Health"];
export type HealthCheck = Schemas["HealthCheck"];
export type Heartbeat = Schemas["Heartbeat"];
export type HeartbeatAck = Schemas["HeartbeatAck"];
export type ListedAgent = Schemas["ListedAgent"];
export type ListedApproval = Schemas["ListedApproval"];
export type ListedAuditRecord = Schemas["ListedAuditRecord"];
export type ListedModel = Schemas["ListedModel"];
export type ListedPlan = Schemas["ListedPlan"];
export type ListedProject = Schemas["ListedProject"];
export type ListedRun = Schemas["ListedRun"];
export type ListedTeam = Schemas["ListedTeam"];
export type ListedTenant = Schemas["ListedTenant"];
export type ListedToken = Schemas["ListedToken"];
export type ListedUser = Schemas["ListedUser"];
export type ListedWebhook = Schemas["ListedWebhook"];
export type Manifest = Schemas["Manifest"];
export type Model = Schemas["Model"];
export type ModelWrite = Schemas["ModelWrite"];
export type NewToken = Schemas["NewToken"];
export type Omitted = Schemas["Omitted"];
export type Plan = Schemas["Plan"];
export type PlanWrite = Schemas["PlanWrite"];
export type ProbeStart = Schemas["ProbeStart"];
export type Project = Schemas["Project"];
export type ProjectWrite = Schemas["ProjectWrite"];
export type Reason = Schemas["Reason"];
export type Reconcile = Schemas["Reconcile"];
export type Rehearsal = Schemas["Rehearsal"];
export type Run = Schemas["Run"];
export type RunStart = Schemas["RunStart"];
export type Session = Schemas["Session"];
export type Simulation = Schemas["Simulation"];
export type SimulationRequest = Schemas["SimulationRequest"];
export type SyncedAgents = Schemas["SyncedAgents"];
export type Team = Schemas["Team"];
export type TeamRunStart = Schemas["TeamRunStart"];
export type TeamWrite = Schemas["TeamWrite"];
export type Tenant = Schemas["Tenant"];
export type TenantWrite = Schemas["TenantWrite"];
export type Toggle = Schemas["Toggle"];
export type Token = Schemas["Token"];
export type TokenWrite = Schemas["TokenWrite"];
export type User = Schemas["User"];
export type UserWrite = Schemas["UserWrite"];
export type Validation = Schemas["Validation"];
export type Webhook = Schemas["Webhook"];
export type WebhookWrite = Schemas["WebhookWrite"];
