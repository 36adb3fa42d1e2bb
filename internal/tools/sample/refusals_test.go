package sample_test

import (
	"testing"

	"github.com/countersign/countersign/internal/tools/sample"
)

// TestTheShopsRefusalsSayWhy reads each answer: they are examples for who writes a receiver.
func TestTheShopsRefusalsSayWhy(t *testing.T) {
	shop := start(t, sample.Config{})
	refund := func(key, body string) sent { return sent{method: "POST", path: "/refunds", key: key, body: body} }
	refundUnder("used").to(t, shop)
	for _, c := range []struct {
		call   sent
		status int
		want   string
	}{
		{sent{method: "GET", path: "/health", secret: "another"}, 401, `{"error":"the signature is refused: the signature does not match"}`},
		{refund("", refundBody), 400, `{"error":"send an idempotency key with whatever changes something"}`},
		{refund("used", `{}`), 409, `{"error":"this idempotency key came with another payload"}`},
		{refund("k1", "refund"), 400, `{"error":"a refund is a JSON object with orderId, amount and currency"}`},
		{refund("k2", `{"orderId":"A-1","amount":1,"currency":"EUR"}`), 404, `{"error":"there is no such order"}`},
		{refund("k3", `{"orderId":"A-47902","amount":1,"currency":"EUR"}`), 422, `{"error":"the order has not come back"}`},
		{refund("k4", `{"orderId":"A-48213","amount":1,"currency":"USD"}`), 422, `{"error":"a refund is more than 0 and at most the order's total, in its currency"}`},
		{sent{method: "GET", path: "/refunds"}, 400, `{"error":"say which order: ?orderId="}`},
		{sent{method: "PUT", path: "/orders/A-48213/notice", key: "k5", body: "{}"}, 400, `{"error":"a notice is a JSON object with refundId and text"}`},
	} {
		if got := c.call.to(t, shop); got.status != c.status || got.body != c.want {
			t.Errorf("%s %s: %d %s, want %d %s", c.call.method, c.call.path, got.status, got.body, c.status, c.want)
		}
	}
}
