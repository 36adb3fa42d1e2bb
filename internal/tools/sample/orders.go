package sample

import (
	"encoding/json"
	"net/http"

	"github.com/countersign/countersign"
)

// The shop's orders: three were returned and one was not.
const (
	ReturnedOrder  = "A-48213"
	TeamOrder      = "A-48377" // refunded by the team, since an order can be refunded only once
	LostOrder      = "A-48537" // the answer to its refund is lost
	DeliveredOrder = "A-47902"
	OpenReturn     = "R-7731" // the return of ReturnedOrder
)

type order struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Total    countersign.Value `json:"total"`
	Currency string            `json:"currency"`
}

// orders keep the digits of totals: 249.00 is answered as 249.00.
var orders = map[string]order{
	ReturnedOrder:  {ReturnedOrder, "returned", countersign.RawValue("249.00"), "EUR"},
	TeamOrder:      {TeamOrder, "returned", countersign.RawValue("64.50"), "EUR"},
	LostOrder:      {LostOrder, "returned", countersign.RawValue("119.90"), "EUR"},
	DeliveredOrder: {DeliveredOrder, "delivered", countersign.RawValue("89.90"), "EUR"},
}

func (s *Shop) readOrder(_ Entry, id string) reply {
	o, found := orders[id]
	if !found {
		return refuse(http.StatusNotFound, "there is no such order")
	}
	return reply{http.StatusOK, map[string]order{"order": o}}
}

// notice is a message to a customer. Sending it again changes nothing.
type notice struct {
	OrderID  string `json:"orderId"`
	RefundID string `json:"refundId"`
	Text     string `json:"text"`
	Status   string `json:"status"` // none, sent
	Key      string `json:"key"`
}

func (s *Shop) putNotice(e Entry, id string) reply {
	n := notice{OrderID: id}
	if json.Unmarshal([]byte(e.Body), &n) != nil || n.Text == "" {
		return refuse(http.StatusBadRequest, "a notice is a JSON object with refundId and text")
	}
	if _, found := orders[id]; !found {
		return refuse(http.StatusNotFound, "there is no such order")
	}
	n.OrderID, n.Status, n.Key = id, "sent", e.Key
	return reply{http.StatusOK, n}
}

func (s *Shop) readNotice(e Entry, id string) reply {
	n := notice{OrderID: id, Status: "none"}
	s.last(http.MethodPut, e.Path, &n)
	return reply{http.StatusOK, n}
}
