package countersign

import "time"

// ManifestSchemaVersion is the only version of the agent manifest.
const ManifestSchemaVersion = "1.0"

// Manifest is the body of POST /systems/{projectId}/agents/sync: the agents of a
// project system as its back end knows them (specification 2.14). What it leaves
// out stays as it is, and the order of its agents means nothing.
type Manifest struct {
	SchemaVersion string          `json:"schemaVersion" enum:"1.0"`
	Agents        []ManifestAgent `json:"agents" nullable:"false" maxItems:"500" tooMany:"send several manifests, for what one leaves out stays as it is" doc:"several manifests say more: what one leaves out stays as it is"`
}

// ManifestAgent is one agent of a manifest. ExecutorInputs are fixed inputs by
// capability name: whoever runs the agent can't set these.
type ManifestAgent struct {
	ExternalAgentID string                      `json:"externalAgentId" minLength:"1" maxLength:"256" doc:"stable, the system's own name for the agent"`
	SourceRevision  int64                       `json:"sourceRevision" minimum:"0" doc:"raised whenever the manifest changes"`
	Name            string                      `json:"name"`
	Role            string                      `json:"role"`
	Goal            string                      `json:"goal"`
	Capabilities    []string                    `json:"capabilities" nullable:"false" doc:"names of capabilities that the project has registered"`
	ExecutorInputs  map[string]map[string]Value `json:"executorInputs,omitzero" nullable:"false" doc:"fixed inputs by capability name"`
	ModelID         string                      `json:"modelId,omitempty" doc:"a model of the tenant that no other system's agent has"`
}

// AgentStatus is an agent's admission to the registry (specification 3.2).
type AgentStatus string

// The registry statuses. A new or changed manifest makes an agent PENDING; an
// ADMIN makes it ADMITTED.
const (
	AgentPending  AgentStatus = "PENDING"
	AgentAdmitted AgentStatus = "ADMITTED"
)

// Liveness is what the heartbeats of an agent's instances say (specification
// 3.2). It is derived when it is read and gates nothing.
type Liveness string

// The liveness of an agent: UNKNOWN without any evidence, STALE with old
// evidence, else the worst of its instances.
const (
	LivenessUnknown Liveness = "UNKNOWN"
	LivenessStale   Liveness = "STALE"
	LivenessOnline  Liveness = "ONLINE"
	LivenessBusy    Liveness = "BUSY"
	LivenessError   Liveness = "ERROR"
)

// Agent is a registered agent identity (contract 7). Registering it proves
// nothing about whether it runs. Revision rises with every change that matters
// to a plan.
type Agent struct {
	ID              string                      `json:"id"`
	ProjectID       string                      `json:"projectId" doc:"the system that it belongs to"`
	ExternalAgentID string                      `json:"externalAgentId"`
	SourceRevision  int64                       `json:"sourceRevision" doc:"the manifest's own revision"`
	Revision        int64                       `json:"revision" doc:"the registry's: rises with each synced change and each suspension"`
	Name            string                      `json:"name"`
	Role            string                      `json:"role"`
	Goal            string                      `json:"goal"`
	Capabilities    []string                    `json:"capabilities" nullable:"false"`
	ExecutorInputs  map[string]map[string]Value `json:"executorInputs" nullable:"false" doc:"fixed inputs by capability name"`
	ModelID         string                      `json:"modelId,omitempty"`
	Status          AgentStatus                 `json:"status" enum:"PENDING,ADMITTED"`
	Suspended       bool                        `json:"suspended"`
	Retired         bool                        `json:"retired,omitempty" doc:"true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that"`
	Budgets         []Budget                    `json:"budgets,omitempty" nullable:"false" doc:"given at its admission: how often its LIVE steps may call, and for how much"`
	Liveness        Liveness                    `json:"liveness" enum:"UNKNOWN,STALE,ONLINE,BUSY,ERROR" doc:"the worst of the instances heard within 120 s; shown, never a gate"`
	LastHeartbeatAt time.Time                   `json:"lastHeartbeatAt,omitzero"`
	CreatedAt       time.Time                   `json:"createdAt"`
	UpdatedAt       time.Time                   `json:"updatedAt"`

	Identities         []AgentIdentity `json:"identities,omitempty" nullable:"false" since:"3" doc:"by which tokens of identity providers a caller is this agent"`
	IdentitiesRevision int64           `json:"identitiesRevision,omitempty" since:"3" doc:"of the identities alone; absent, which is 0, at first"`
}

// AgentRecord lets AgentWithInstances embed the record.
type AgentRecord = Agent

// AgentWithInstances is the answer of GET /agents/{id}.
type AgentWithInstances struct {
	AgentRecord
	Instances     []Instance `json:"instances" nullable:"false" doc:"those heard last, newest first, at most 1000"`
	InstanceCount int        `json:"instanceCount" doc:"how many there are: those heard within 30 days"`
}

// Admission is the body of POST /agents/{id}/admit and /suspend.
type Admission struct {
	Reason           string `json:"reason" doc:"never blank"`
	ExpectedRevision *int64 `json:"expectedRevision,omitempty" minimum:"0" doc:"absent: whatever the revision is"`

	Budgets []Budget `json:"budgets,omitzero" nullable:"false" doc:"of admit only, at most 20; absent: the agent keeps those that it has, and an empty list takes them away"`
}

// InstanceState is what an instance says of itself in a heartbeat.
type InstanceState string

// The states of a heartbeat.
const (
	InstanceIdle  InstanceState = "IDLE"
	InstanceBusy  InstanceState = "BUSY"
	InstanceError InstanceState = "ERROR"

	InstanceOnline InstanceState = "ONLINE" // taken for IDLE
)

// Heartbeat is the body of POST /agents/{ftaAgentId}/heartbeat (specification
// 2.15).
type Heartbeat struct {
	InstanceID string        `json:"instanceId" minLength:"1" maxLength:"256" doc:"identifies the process instance"`
	Sequence   int64         `json:"sequence" minimum:"0" doc:"increases for each instance id, over restarts of the service too"`
	State      InstanceState `json:"state" enum:"IDLE,BUSY,ERROR,ONLINE" doc:"ONLINE is IDLE"`
	Timestamp  string        `json:"timestamp" maxLength:"64" format:"date-time" doc:"within 120 s of the server's time"`
}

// HeartbeatAck is the answer to a heartbeat. A duplicate of the last one is
// acknowledged and refreshes nothing: ReceivedAt is that of the first.
type HeartbeatAck struct {
	Acknowledged bool      `json:"acknowledged"`
	Duplicate    bool      `json:"duplicate"`
	AgentID      string    `json:"agentId"`
	InstanceID   string    `json:"instanceId"`
	Sequence     int64     `json:"sequence"`
	ReceivedAt   time.Time `json:"receivedAt"`
	Liveness     Liveness  `json:"liveness" enum:"UNKNOWN,STALE,ONLINE,BUSY,ERROR" doc:"of the agent, all instances considered"`
}

// Instance is one process of an agent, as its last heartbeat left it.
type Instance struct {
	InstanceID string        `json:"instanceId"`
	Sequence   int64         `json:"sequence"`
	State      InstanceState `json:"state" enum:"IDLE,BUSY,ERROR"`
	Timestamp  string        `json:"timestamp" doc:"by the instance's clock, as it was sent"`
	ReceivedAt time.Time     `json:"receivedAt" doc:"by the service's clock"`
	Liveness   Liveness      `json:"liveness" enum:"STALE,ONLINE,BUSY,ERROR"`
}

// AgentRunStart is the body of POST /agents/{id}/runs (specification 2.17).
type AgentRunStart struct {
	ExpectedRevision int64            `json:"expectedRevision" minimum:"0" doc:"the agent's current revision"`
	Mode             string           `json:"mode,omitempty" enum:"DRY_RUN,LIVE" doc:"default DRY_RUN"`
	Capability       string           `json:"capability"`
	Inputs           map[string]Value `json:"inputs,omitzero" nullable:"false" doc:"all but the agent's fixed inputs"`
	Expectation      *Expectation     `json:"expectation,omitempty" doc:"required for LIVE, unless the capability has one; judged besides it"`
	Reason           string           `json:"reason,omitempty" maxLength:"1000" doc:"as of POST /runs"`
}
