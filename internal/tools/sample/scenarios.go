package sample

import "github.com/countersign/countersign"

// Scenarios of the model.
const (
	ReturnedInTime     = "returned-in-time" // read-order, refund, notify
	TooLate            = "too-late"         // final without actions
	DateUnknown        = "date-unknown"     // final without actions
	CloseReturnedGoods = "close-return"     // close-return
)

func scenarios() []countersign.Scenario {
	none := map[string]countersign.Scalar{}
	return []countersign.Scenario{
		{
			ID: ReturnedInTime, Name: "Returned in time", Description: "The order came back on the ninth day.", InitialMemory: none,
			Inputs: map[string]countersign.Scalar{
				"request": text("refund"), "orderId": text(ReturnedOrder), "daysSinceDelivery": number("9"), "amount": number("279.00"),
			},
			ExpectedStateID: "told", ExpectedPath: []string{"asked", "order-known", "refunded", "told"}, ExpectedResult: "The customer is told.",
		}, {
			ID: TooLate, Name: "Too late", Description: "The order came back after 45 days.", InitialMemory: none,
			Inputs: map[string]countersign.Scalar{
				"request": text("refund"), "orderId": text(ReturnedOrder), "daysSinceDelivery": number("45"),
			},
			ExpectedStateID: "declined", ExpectedPath: []string{"asked", "declined"},
		}, {
			ID: DateUnknown, Name: "Date unknown", Description: "Nobody knows when the order was delivered.", InitialMemory: none,
			Inputs:          map[string]countersign.Scalar{"request": text("refund"), "orderId": text(ReturnedOrder)},
			ExpectedStateID: "ask-user", ExpectedPath: []string{"asked", "ask-user"},
		}, {
			ID: CloseReturnedGoods, Name: "Close a return", Description: "The customer asks to close the return.", InitialMemory: none,
			Inputs:          map[string]countersign.Scalar{"request": text("close-return"), "returnId": text(OpenReturn)},
			ExpectedStateID: "return-closed", ExpectedPath: []string{"asked", "return-closed"}, ExpectedResult: "The return is closed.",
		},
	}
}
