package sample

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/countersign/countersign"
)

// refund is a refund that was paid. Key is the idempotency key of its request, so that a caller
// that lost the answer can find it.
type refund struct {
	ID       string            `json:"id"`
	OrderID  string            `json:"orderId"`
	Amount   countersign.Value `json:"amount"`
	Currency string            `json:"currency"`
	Status   string            `json:"status"`
	Key      string            `json:"key"`
}

func (s *Shop) refund(e Entry, _ string) reply {
	var asked refund
	if json.Unmarshal([]byte(e.Body), &asked) != nil || asked.Amount.Kind() != countersign.KindNumber {
		return refuse(http.StatusBadRequest, "a refund is a JSON object with orderId, amount and currency")
	}
	o, found := orders[asked.OrderID]
	switch {
	case !found:
		return refuse(http.StatusNotFound, "there is no such order")
	case o.Status != "returned":
		return refuse(http.StatusUnprocessableEntity, "the order has not come back")
	case asked.Currency != o.Currency || !within(asked.Amount, o.Total):
		return refuse(http.StatusUnprocessableEntity, "a refund is more than 0 and at most the order's total, in its currency")
	case len(s.refundsOf(o.ID)) > 0:
		return refuse(http.StatusUnprocessableEntity, "the order is refunded already")
	}
	asked.ID = fmt.Sprintf("rf-%d", len(s.refundsOf(""))+1)
	asked.Status, asked.Key = "succeeded", e.Key
	return reply{http.StatusCreated, asked}
}

// losesAnswer reports whether the caller never hears of what a request did: the shop paid
// LostOrder back. A repetition under the key gets its answer.
func (e Entry) losesAnswer() bool {
	var paid refund
	return e.Acted() && e.Path == "/refunds" && json.Unmarshal(e.Answer, &paid) == nil && paid.OrderID == LostOrder
}

func within(amount, total countersign.Value) bool {
	n := countersign.ParseNumber(amount.Raw())
	return n.Compare(countersign.ParseNumber("0")) > 0 && n.Compare(countersign.ParseNumber(total.Raw())) <= 0
}

// refundsOf lists an order's refunds; all refunds for "".
func (s *Shop) refundsOf(orderID string) []refund {
	found := []refund{}
	for _, e := range s.entries {
		var r refund
		if e.Acted() && e.Method == http.MethodPost && e.Path == "/refunds" && json.Unmarshal(e.Answer, &r) == nil &&
			(orderID == "" || r.OrderID == orderID) {
			found = append(found, r)
		}
	}
	return found
}

func (s *Shop) listRefunds(e Entry, _ string) reply {
	orderID := queryOf(e, "orderId")
	if orderID == "" {
		return refuse(http.StatusBadRequest, "say which order: ?orderId=")
	}
	return reply{http.StatusOK, struct {
		OrderID string   `json:"orderId"`
		Refunds []refund `json:"refunds"`
	}{orderID, s.refundsOf(orderID)}}
}
