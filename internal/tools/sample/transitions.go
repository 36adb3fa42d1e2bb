package sample

import "github.com/countersign/countersign"

// refundDays is how long after delivery an order may be refunded.
const refundDays = "30"

func transitions() []countersign.Transition {
	wants := func(what string) countersign.Condition { return holds("request", countersign.OpEqual, text(what)) }
	yes, no := countersign.Scalar{Value: countersign.Bool(true)}, countersign.Scalar{Value: countersign.Bool(false)}
	return []countersign.Transition{
		{
			ID: "too-late", Name: "Too late", FromStateID: "asked", ToStateID: "declined", Priority: 0,
			Condition: all(wants("refund"), holds("daysSinceDelivery", countersign.OpGreater, number(refundDays))),
		}, {
			ID: "in-time", Name: "In time", FromStateID: "asked", ToStateID: "order-known", Priority: 1, ActionID: ActionReadOrder,
			Condition: all(wants("refund"), known("orderId"), holds("daysSinceDelivery", countersign.OpLessOrEqual, number(refundDays))),
		}, {
			ID: "close", Name: "Close the return", FromStateID: "asked", ToStateID: "return-closed", Priority: 2, ActionID: ActionCloseReturn,
			Condition: all(wants("close-return"), known("returnId")),
		}, {
			ID: "unclear", Name: "Unclear", FromStateID: "asked", ToStateID: "ask-user", Priority: 3,
			Condition: either(unknown("orderId"), unknown("daysSinceDelivery"), unknown("returnId")),
		}, {
			ID: "pay-back", Name: "Pay back", FromStateID: "order-known", ToStateID: "refunded", Priority: 0, ActionID: ActionRefund,
			Condition: all(holds("orderRead", countersign.OpEqual, yes), holds("refunded", countersign.OpEqual, no)),
		}, {
			ID: "tell", Name: "Tell", FromStateID: "refunded", ToStateID: "told", Priority: 0, ActionID: ActionNotify,
			Condition: holds("told", countersign.OpEqual, no),
		},
	}
}

func holds(variable, operator string, value countersign.Scalar) countersign.Condition {
	return countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: variable, Operator: operator, Value: value}}
}

func known(variable string) countersign.Condition {
	return holds(variable, countersign.OpIsKnown, countersign.Scalar{})
}

func unknown(variable string) countersign.Condition {
	return holds(variable, countersign.OpIsUnknown, countersign.Scalar{})
}

func all(conditions ...countersign.Condition) countersign.Condition {
	return group(countersign.CombinatorAnd, conditions)
}

func either(conditions ...countersign.Condition) countersign.Condition {
	return group(countersign.CombinatorOr, conditions)
}

func group(combinator string, conditions []countersign.Condition) countersign.Condition {
	return countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: combinator, Conditions: conditions}}
}
