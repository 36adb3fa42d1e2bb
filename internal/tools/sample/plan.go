package sample

import "github.com/countersign/countersign"

// Bindings map each action to the capability of the shop that performs it, with its
// expectation.
func Bindings(projectID string) map[string]countersign.ActionBinding {
	bind := func(capability, field, equals string, input map[string]countersign.Value, variables ...string) countersign.ActionBinding {
		return countersign.ActionBinding{
			ProjectID: projectID, Capability: capability, Input: input, InputVariables: pairs(variables),
			Expectation: &countersign.Expectation{Field: field, Equals: countersign.String(equals)},
		}
	}
	literal := func(name, value string) map[string]countersign.Value {
		return map[string]countersign.Value{name: countersign.String(value)}
	}
	return map[string]countersign.ActionBinding{
		ActionReadOrder:   bind(ReadOrder, "status", "returned", nil, "orderId", "orderId"),
		ActionRefund:      bind(CreateRefund, "status", "succeeded", literal("currency", "EUR"), "orderId", "orderId", "amount", "amount"),
		ActionNotify:      bind(PutNotice, "status", "sent", literal("text", "Your refund is on its way."), "orderId", "orderId"),
		ActionCloseReturn: bind(CloseReturn, "status", "closed", nil, "resourceId", "returnId"),
	}
}

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

// BindVerified replaces inputs of compiled steps that come from the agent by outputs of the
// shop: the amount is the total of the order as read and verified, and the notice names the
// refund that was made.
func BindVerified(steps []countersign.Step) []countersign.Step {
	for i := range steps {
		switch s := &steps[i]; s.ActionID {
		case ActionRefund:
			bind(s, "amount", ActionReadOrder, "total")
		case ActionNotify:
			bind(s, "refundId", ActionRefund, "id")
		}
	}
	return steps
}

func bind(s *countersign.Step, input, from, field string) {
	delete(s.Input, input) // an input is either literal or bound
	if s.InputBindings == nil {
		s.InputBindings = map[string]countersign.Binding{}
	}
	s.InputBindings[input] = countersign.Binding{StepID: from, Field: field}
}
