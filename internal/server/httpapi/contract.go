package httpapi

import (
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// contract returns what a project's back end needs to call the service and to be called
// by it (contract 8).
func (a *API) contract(c *call) (any, error) {
	keys, err := a.control.ReceiptKeys(c.ctx)
	if err != nil {
		return nil, err
	}
	logKey, realmLogKey, err := a.control.LogKeys(c.ctx, c.actor)
	return integrationContract{
		APIVersion: "0.3.0", Prefixes: []string{Prefix, AliasPrefix}, DefaultPrefix: AliasPrefix,
		SDKOperations: sdkOperations, Manifest: manifestContract, Heartbeat: heartbeatContract,
		RuntimeHeaders: runtimeHeaders, Signing: signingContract, Limits: a.limits(), ErrorCodes: errorCodes(),
		ReceiptKeys: keys, LogKey: logKey, RealmLogKey: realmLogKey,
	}, err
}

type integrationContract struct {
	APIVersion     string            `json:"apiVersion"`
	Prefixes       []string          `json:"prefixes"`
	DefaultPrefix  string            `json:"sdkDefaultPrefix"`
	SDKOperations  []string          `json:"sdkOperations"`
	Manifest       map[string]any    `json:"manifest"`
	Heartbeat      map[string]any    `json:"heartbeat"`
	RuntimeHeaders map[string]string `json:"runtimeHeaders"`
	Signing        signing           `json:"signing"`
	Limits         map[string]int64  `json:"limits"`
	ErrorCodes     map[string]int    `json:"errorCodes"`

	ReceiptKeys []countersign.ReceiptKey `json:"receiptKeys"`           // the current one first
	LogKey      string                   `json:"logKey"`                // signs the checkpoints of the tenant's audit log, as a vkey
	RealmLogKey string                   `json:"realmLogKey,omitempty"` // the realm's, for a realm administrator
}

var sdkOperations = []string{
	"syncAgents", "heartbeat", "agents", "teams", "saveTeam", "startAgentRun", "startTeamRun",
	"integrationContract", "projects", "createPlan", "startRun", "run",
}

var manifestContract = map[string]any{
	"schemaVersion": "1.0",
	"agent": map[string]any{
		"required": []string{"externalAgentId", "sourceRevision", "name", "role", "goal", "capabilities"},
		"optional": []string{"executorInputs", "modelId"},
	},
}

var heartbeatContract = map[string]any{
	"required":      []string{"instanceId", "sequence", "state", "timestamp"},
	"states":        []string{"IDLE", "BUSY", "ERROR"},
	"windowSeconds": int64(countersign.HeartbeatWindow.Seconds()),
}

var runtimeHeaders = map[string]string{
	signature.HeaderIdempotencyKey: "<runId>.<stepId>, fixed for the life of the step",
	signature.HeaderRunID:          "the run",
	signature.HeaderStepID:         "the step",
	signature.HeaderTimestamp:      "Unix seconds, taken at sending",
	signature.HeaderSignature:      signature.Scheme + "<lowercase hex HMAC-SHA256>, for HMAC projects",
}

type signing struct {
	Algorithm     string            `json:"algorithm"`
	Parts         []string          `json:"parts"`
	Separator     string            `json:"separator"`
	BodyHash      string            `json:"bodyHash"`
	WindowSeconds int64             `json:"windowSeconds"`
	Vector        signature.Example `json:"vector"`
}

var signingContract = signing{
	Algorithm: "HMAC-SHA256",
	Parts:     []string{"method", "pathname plus query", "timestamp", "idempotency key", "run id", "step id", "SHA-256 of the raw body"},
	Separator: "\n", BodyHash: "lowercase hex", WindowSeconds: int64(countersign.SignatureWindow.Seconds()), Vector: signature.Vector,
}

// limits are the service's limits, with the configured values of those that are
// settings.
func (a *API) limits() map[string]int64 {
	out, most := maps.Clone(limitsContract), a.control.Quotas()
	for name, n := range map[string]int{
		"agentInstances": most.Instances, "pendingApprovals": most.Approvals, "pendingApprovalsOfAgent": most.Asking, "webhooks": most.Webhooks, "runProbes": most.Probes, "modelBytes": most.ModelBytes,
	} {
		out[name] = int64(n)
	}
	return out
}

var limitsContract = map[string]int64{
	"pageLimitDefault": countersign.DefaultPageLimit, "pageLimitMax": countersign.MaxPageLimit,
	"planSteps": countersign.MaxPlanSteps, "bodyBytes": countersign.MaxBodyBytes, "jsonDepth": countersign.MaxJSONDepth,
	"timeoutMsMin": countersign.MinCapabilityTimeoutMs, "timeoutMsMax": countersign.MaxCapabilityTimeoutMs,
	"heartbeatSeconds": int64(countersign.HeartbeatCadence.Seconds()), "livenessSeconds": int64(countersign.HeartbeatWindow.Seconds()),
	"eventStreams": countersign.MaxEventStreams, "tokenDays": countersign.MaxTokenDays, "signInLinkMinutes": countersign.MaxLinkMinutes, "passkeys": countersign.MaxPasskeys, "idempotencyKeyLength": countersign.MaxKeyLength,
	"openRequestBytes": countersign.MaxOpenBytes, "listedValueBytes": countersign.MaxListedValue, "problems": countersign.MaxProblems,
	"outputs": countersign.MaxOutputs, "approvalRules": countersign.MaxApprovalRules, "ruleGroups": countersign.MaxRuleGroups, "ruleApprovals": countersign.MaxApprovals, "groups": countersign.MaxGroups, "groupMembers": countersign.MaxGroupMembers,
	"manifestAgents": countersign.MaxManifest, "planDocumentBytes": countersign.MaxPlanDocuments, "planProjectIdsLength": countersign.MaxScope,
	"budgets": countersign.MaxBudgets, "budgetSecondsMin": int64(countersign.MinBudgetWindow.Seconds()), "budgetSecondsMax": int64(countersign.MaxBudgetWindow.Seconds()),
	"patternLength": countersign.MaxPattern, "patternTextLength": countersign.MaxPatternText, "repeatedCallSeconds": int64(countersign.RepeatedCall.Seconds()), "callWaitSeconds": int64(countersign.MaxCallWait.Seconds()), "callWaits": countersign.MaxCallWaits, "callWaitsOfAll": countersign.MaxCallWaitsOfAll,
	"cancelledCalls": countersign.MaxLeftCalls, "instanceLifeSeconds": int64(countersign.InstanceLife.Seconds()),
}

func errorCodes() map[string]int {
	out := map[string]int{}
	for code, status := range countersign.Statuses() {
		out[string(code)] = status
	}
	return out
}
