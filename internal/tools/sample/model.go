package sample

import (
	"encoding/json"
	"strconv"

	"github.com/countersign/countersign"
)

// RefundModelID is the id of the model and of its agent.
const RefundModelID = "refund-agent"

// Actions of the model.
const (
	ActionReadOrder   = "read-order"
	ActionRefund      = "refund"
	ActionNotify      = "notify"
	ActionCloseReturn = "close-return"
)

// RefundModel is the model of the agent that refunds returned orders and closes returns: a
// valid document without warnings, whose scenarios all pass.
func RefundModel() countersign.AgentModel {
	return countersign.AgentModel{
		SchemaVersion: countersign.ModelSchemaVersion, ID: RefundModelID, Name: "Refund agent", Revision: 1, UpdatedAt: "2026-01-05T09:00:00Z",
		Description: "Refunds orders that came back in time and tells the customer.",
		Agent: countersign.ModelAgent{
			ID: RefundModelID, Name: "Refund agent", Role: "customer service", User: "customers of the shop marlow",
			Goal:               "A customer whose order came back in time has the money and knows it.",
			CompletionCriteria: "The refund succeeded, and the customer is told.",
		},
		Scope: countersign.ModelScope{
			AllowedActions: "Read orders, refund them, tell the customer, close returns.",
			Limits:         "At most the order's total, within 30 days of delivery.",
			AskUserWhen:    "It isn't known which order or return is meant, or when it was delivered.",
		},
		Variables: variables(), States: states(), Transitions: transitions(), Actions: actions(), Scenarios: scenarios(),
	}
}

func variables() []countersign.Variable {
	null := countersign.Scalar{Value: countersign.Null}
	return []countersign.Variable{
		{
			ID: "request", Name: "Request", Kind: countersign.VariableInput, Type: countersign.TypeChoice,
			DefaultValue: text("refund"), Source: "the customer's message", Choices: []string{"refund", "close-return"},
		},
		{ID: "orderId", Name: "Order", Kind: countersign.VariableInput, Type: countersign.TypeText, DefaultValue: null, Source: "the customer's message"},
		{ID: "returnId", Name: "Return", Kind: countersign.VariableInput, Type: countersign.TypeText, DefaultValue: null, Source: "the customer's message"},
		{
			ID: "daysSinceDelivery", Name: "Days since delivery", Kind: countersign.VariableInput, Type: countersign.TypeNumber,
			DefaultValue: null, Source: "the carrier", Unit: "days",
		},
		{
			ID: "amount", Name: "Amount asked for", Kind: countersign.VariableInput, Type: countersign.TypeNumber,
			DefaultValue: null, Source: "the customer's message", Unit: "EUR", Description: "What the customer says was paid. It proves nothing.",
		},
		flag("orderRead", "Order read"), flag("refunded", "Refunded"), flag("told", "Customer told"),
	}
}

func flag(id, name string) countersign.Variable {
	return countersign.Variable{
		ID: id, Name: name, Kind: countersign.VariableMemory, Type: countersign.TypeBoolean,
		DefaultValue: countersign.Scalar{Value: countersign.Bool(false)}, Source: "the agent",
	}
}

// states are in two columns for each branch, for layouts.
func states() []countersign.ModelState {
	return []countersign.ModelState{
		{ID: "asked", Name: "Asked", Meaning: "A customer asks for something.", IsStart: true, Position: at(0, 1)},
		{ID: "order-known", Name: "Order known", Meaning: "The order is read.", Position: at(1, 1)},
		{ID: "refunded", Name: "Refunded", Meaning: "The money is on its way back.", Position: at(2, 1)},
		{ID: "told", Name: "Told", Meaning: "The customer knows.", IsFinal: true, Position: at(3, 1)},
		{ID: "declined", Name: "Declined", Meaning: "It is too late for a refund.", IsFinal: true, Position: at(1, 0)},
		{ID: "return-closed", Name: "Return closed", Meaning: "The return is dealt with.", IsFinal: true, Position: at(1, 2)},
		{ID: "ask-user", Name: "Ask", Meaning: "The customer has to say more.", IsFinal: true, Position: at(1, 3)},
	}
}

func at(column, row int) countersign.Position {
	return countersign.Position{X: json.Number(strconv.Itoa(240 * column)), Y: json.Number(strconv.Itoa(140 * row))}
}

func actions() []countersign.Action {
	return []countersign.Action{
		{
			ID: ActionReadOrder, Name: "Read the order", Description: "Reads the order from the shop.", Inputs: []string{"orderId"},
			SimulatedResult: "The order is known.", MemoryEffects: set("orderRead"),
		}, {
			ID: ActionRefund, Name: "Refund the order", Description: "Pays the order back.", Inputs: []string{"orderId", "amount"},
			SimulatedResult: "The order is refunded.", MemoryEffects: set("refunded"),
		}, {
			ID: ActionNotify, Name: "Tell the customer", Description: "Tells the customer about the refund.", Inputs: []string{"orderId"},
			SimulatedResult: "The customer is told.", MemoryEffects: set("told"),
		}, {
			ID: ActionCloseReturn, Name: "Close the return", Description: "Closes the return in the shop.", Inputs: []string{"returnId"},
			SimulatedResult: "The return is closed.", MemoryEffects: []countersign.MemoryEffect{},
		},
	}
}

func set(flag string) []countersign.MemoryEffect {
	return []countersign.MemoryEffect{{VariableID: flag, Value: countersign.Scalar{Value: countersign.Bool(true)}}}
}

func text(s string) countersign.Scalar { return countersign.Scalar{Value: countersign.String(s)} }

func number(digits string) countersign.Scalar {
	return countersign.Scalar{Value: countersign.RawValue(digits)}
}
