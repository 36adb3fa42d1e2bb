package sample

import "github.com/countersign/countersign"

// The shop's agents, by the shop's own names for them.
const (
	Assessor = "assessor"
	Refunder = "refunder"
)

// FixedCurrency is what the refunder pays in, whoever runs it.
const FixedCurrency = "EUR"

// Manifest is what the shop's back end says of its two agents. Neither can do the
// other's part. They share a model: both are of one system.
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

// Team is the two agents under the service's ids for them: what the assessor
// reads and is verified is what the refunder pays.
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
