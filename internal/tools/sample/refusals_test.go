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
		{sent{method: "GET", path: "/health", secret: "another"}, 401, `{"error":"signature","message":"signature: the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent"}`},
		{refund("used", `{}`), 409, `{"error":"idempotency_conflict","message":"this idempotency key came with another method, target or body"}`},
		{refund("k1", "refund"), 400, `{"error":"a refund is a JSON object with orderId, amount and currency"}`},
		{refund("k2", `{"orderId":"A-1","amount":1,"currency":"EUR"}`), 404, `{"error":"there is no such order"}`},
		{refund("k3", `{"orderId":"A-47902","amount":1,"currency":"EUR"}`), 422, `{"error":"the order has not come back"}`},
		{refund("k4", `{"orderId":"A-48213","amount":1,"currency":"USD"}`), 422, `{"error":"a refund is more than 0 and at most the order's total, in its currency"}`},
		{sent{method: "GET", path: "/refunds"}, 400, `{"error":"say which order: ?orderId="}`},
		{sent{method: "GET", path: "/accounts/C-1"}, 404, `{"error":"there is no such account"}`},
		{sent{method: "GET", path: "/accounts/C-1/payouts"}, 404, `{"error":"there is no such account"}`},
		{sent{method: "POST", path: "/accounts/C-1/payouts", key: "k6", body: `{"amount":1,"currency":"EUR"}`}, 404, `{"error":"there is no such account"}`},
		{sent{method: "POST", path: "/accounts/C-2207/payouts", key: "k7", body: `{"amount":"1"}`}, 400, `{"error":"a payout is a JSON object with amount and currency"}`},
		{sent{method: "POST", path: "/accounts/C-2207/payouts", key: "k8", body: `{"amount":80.01,"currency":"EUR"}`}, 422, `{"error":"a payout is more than 0, at most the account's balance, in whole cents and its currency"}`},
		{sent{method: "PUT", path: "/orders/A-48213/notice", key: "k5", body: "{}"}, 400, `{"error":"a notice is a JSON object with refundId and text"}`},
	} {
		if got := c.call.to(t, shop); got.status != c.status || got.body != c.want {
			t.Errorf("%s %s: %d %s, want %d %s", c.call.method, c.call.path, got.status, got.body, c.status, c.want)
		}
	}
}
