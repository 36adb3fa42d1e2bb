package countersign

import "time"

// Limits of specification 8. They are published by GET /integrations/contract.
const (
	MaxPageLimit     = 200
	DefaultPageLimit = 100
	MaxPlanSteps     = 100

	MinCapabilityTimeoutMs     = 100
	MaxCapabilityTimeoutMs     = 60000
	DefaultCapabilityTimeoutMs = 10000

	MaxBodyBytes     = 1 << 20 // inbound request, outbound request and outbound response
	MaxOpenBytes     = 8 << 10 // of a request before it is known who asks
	MaxJSONDepth     = 64
	MaxListedValue   = 16 << 10 // larger values of a list show as $omitted
	MaxProblems      = 100      // that one answer or plan names
	MaxEventStreams  = 256      // that one principal has open
	MaxTokenDays     = 90
	LinkMinutes      = 15      // that a sign-in link is good for
	MaxLinkMinutes   = 24 * 60 // that its maker may ask for
	MaxPasskeys      = 10      // of a user
	MaxActiveRuns    = 4
	MaxInstances     = 1000 // of an agent
	MaxProbes        = 1000 // of a run
	MaxLeftCalls     = 64   // of a tenant: calls under way whose runs were cancelled
	MaxWebhooks      = 100  // of a tenant
	MaxModelBytes    = 1 << 30
	SignatureWindow  = 5 * time.Minute
	HeartbeatWindow  = 120 * time.Second
	HeartbeatCadence = 30 * time.Second
	ApprovalTTL      = 24 * time.Hour
	HealthTimeout    = 10 * time.Second

	MaxOutputs       = 200 // fields that a capability declares of its output
	MaxApprovalRules = 50  // of a capability
	MaxRuleGroups    = 10  // of a rule
	MaxApprovals     = 5   // that a rule asks for
	MaxGroups        = 200 // of a tenant
	MaxGroupMembers  = 200
	MaxManifest      = 500     // agents of a manifest, which is brought to the registry in one turn to write
	MaxPlanDocuments = 8 << 20 // bytes of the projects and models that a plan snapshots
	MaxScope         = 2500    // characters of the ids of a plan's or a team's projects, which an index holds
	MaxBudgets       = 20      // of a capability or an agent

	MaxPendingApprovals = 10_000              // of a tenant
	MaxAskingRuns       = 20                  // LIVE runs of an agent that wait for an approval
	RepeatedCall        = 24 * time.Hour      // after its end a run is found for so long by the same call over MCP
	MaxCallWait         = 50 * time.Second    // that a call over MCP may wait for its run
	MaxCallWaits        = 32                  // such calls of a principal that wait in a process
	MaxCallWaitsOfAll   = 512                 // such calls that wait in a process
	MaxPattern          = 500                 // characters of an input's pattern
	MaxNumberLength     = 4096                // characters of a number in a request
	MaxPatternText      = 10_000              // characters of a value that has a pattern
	InstanceLife        = 30 * 24 * time.Hour // of an instance that is not heard
)
