package sample

import "github.com/countersign/countersign"

// The shop's own ids of its agents.
const (
	Assessor = "assessor"
	Refunder = "refunder"
)

// FixedCurrency is the refunder's currency, whoever starts the run.
const FixedCurrency = "EUR"

// Manifest is the manifest that the shop's back end sends. Neither agent has the capabilities
// of the other one. They share a model, since both are parts of one system.
func Manifest() countersign.Manifest {
	return countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{
		{
			ExternalAgentID: Assessor, SourceRevision: 1, Name: "Assessor", Role: "reads and assesses", ModelID: RefundModelID,
			Goal: "It is known whether an order came back, and what was paid for it.", Capabilities: []string{ReadOrder},
		}, {
			ExternalAgentID: Refunder, SourceRevision: 1, Name: "Refunder", Role: "refunds", ModelID: RefundModelID,
			Goal: "A customer whose order came back has the money.", Capabilities: []string{CreateRefund},
			ExecutorInputs: map[string]map[string]countersign.Value{CreateRefund: {"currency": countersign.String(FixedCurrency)}},
		},
	}}
}

// TeamID is the id of the two agents' team.
const TeamID = "returns-desk"

// Team is the team of the two agents, by the service's ids: the refunder pays the amount that
// the assessor has read and that is verified.
func Team(assessorID, refunderID string) countersign.TeamWrite {
	order := map[string]countersign.Value{"orderId": countersign.String(TeamOrder)}
	return countersign.TeamWrite{
		Name:    "Returns desk",
		Members: []countersign.TeamMember{{AgentID: assessorID, Role: "assesses"}, {AgentID: refunderID, Role: "refunds"}},
		Steps: []countersign.TeamStep{
			{
				ID: ActionReadOrder, Name: "Read the order", AgentID: assessorID, Capability: ReadOrder, Input: order,
				Expectation: &countersign.Expectation{Field: "status", Equals: countersign.String("returned")},
			}, {
				ID: ActionRefund, Name: "Refund the order", AgentID: refunderID, Capability: CreateRefund, Input: order, DependsOn: []string{ActionReadOrder},
				InputBindings: map[string]countersign.Binding{"amount": {StepID: ActionReadOrder, Field: "total"}},
				Expectation:   &countersign.Expectation{Field: "status", Equals: countersign.String("succeeded")},
			},
		},
	}
}
