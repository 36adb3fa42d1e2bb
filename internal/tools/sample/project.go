package sample

import (
	"crypto/ed25519"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/receiver"
)

// Capabilities of the shop's project.
const (
	ReadOrder    = "orders.read"
	ListRefunds  = "refunds.list"
	CreateRefund = "refunds.create"
	ReadNotice   = "notices.read"
	PutNotice    = "notices.put"
	ReadReturn   = "returns.read"
	CloseReturn  = "returns.close"
	ReadAccount  = "accounts.read"
	ListPayouts  = "payouts.list"
	CreatePayout = "payouts.create"
)

// ShopProject registers the shop at baseURL. credentialEnv is the name of the server's variable
// with the HMAC secret.
func ShopProject(baseURL, credentialEnv string) countersign.ProjectWrite {
	return countersign.ProjectWrite{
		Name: "Shop marlow", Adapter: countersign.AdapterHTTPJSON, BaseURL: baseURL, HealthPath: "/health",
		Auth:         countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: credentialEnv}),
		Capabilities: append(reads(), sideEffects()...),
	}
}

// Signing is a project of the shop whose answers are signed with a key. What became of a call whose
// answer is lost the service asks the shop itself, and goes by its signed word.
func Signing(w countersign.ProjectWrite, key ed25519.PrivateKey) countersign.ProjectWrite {
	w.AnswerKeys = []string{receiver.AnswerKeyText(key)}
	w.Settlement = &countersign.Settlement{Path: SettlementPath, Mode: countersign.SettleAutomatic}
	return w
}

func reads() []countersign.Capability {
	return []countersign.Capability{
		{
			Name: ReadOrder, Description: "One order, with its state and total.", Method: "GET", Path: "/orders/{orderId}",
			InputSchema: fields("orderId", "string"), OutputField: "order",
		}, {
			Name: ListRefunds, Description: "The refunds of an order.", Method: "GET", Path: "/refunds",
			InputSchema: fields("orderId", "string"), Request: &countersign.RequestMapping{Query: []string{"orderId"}},
		}, {
			Name: ReadNotice, Description: "What the customer was told about an order.", Method: "GET", Path: "/orders/{orderId}/notice",
			InputSchema: fields("orderId", "string"),
		}, {
			Name: ReadReturn, Description: "One return and its state.", Method: "GET", Path: "/returns/{resourceId}",
			InputSchema: fields("resourceId", "string"),
		}, {
			Name: ReadAccount, Description: "A customer's account, with its balance.", Method: "GET", Path: "/accounts/{accountId}",
			InputSchema: fields("accountId", "string"),
		}, {
			Name: ListPayouts, Description: "What was paid out of an account.", Method: "GET", Path: "/accounts/{accountId}/payouts",
			InputSchema: fields("accountId", "string"),
		},
	}
}

// sideEffects are the capabilities with a side effect; each names the probe that shows after a
// lost answer what happened. What pays money always needs approval. The others can be repeated
// without harm, so RISK_BASED lets them run without approval. A payout is approved against the
// account's balance: if that has changed when it would be sent, it is asked for anew.
func sideEffects() []countersign.Capability {
	return []countersign.Capability{
		{
			Name: CreateRefund, Description: "Pays an order back.", Method: "POST", Path: "/refunds",
			Approval: countersign.ApprovalAlways, Idempotent: true, Probe: ListRefunds,
			InputSchema: fields("orderId", "string", "amount", "number", "currency", "string"),
			Request:     &countersign.RequestMapping{Body: []string{"orderId", "amount", "currency"}},
		}, {
			Name: PutNotice, Description: "Tells the customer.", Method: "PUT", Path: "/orders/{orderId}/notice",
			Approval: countersign.ApprovalRiskBased, Idempotent: true, Probe: ReadNotice,
			InputSchema: map[string]countersign.InputField{
				"orderId": {Type: "string", Required: true}, "text": {Type: "string", Required: true}, "refundId": {Type: "string"},
			},
			Request: &countersign.RequestMapping{Body: []string{"refundId", "text"}},
		}, {
			Name: CloseReturn, Description: "Closes a return.", Method: "POST", Path: "/returns/{resourceId}/close",
			Approval: countersign.ApprovalRiskBased, Idempotent: true, Probe: ReadReturn,
			InputSchema: fields("resourceId", "string"),
		}, {
			Name: CreatePayout, Description: "Pays a part of an account's balance out.", Method: "POST", Path: "/accounts/{accountId}/payouts",
			Approval: countersign.ApprovalAlways, Idempotent: true, Probe: ListPayouts,
			InputSchema: fields("accountId", "string", "amount", "number", "currency", "string"),
			Request:     &countersign.RequestMapping{Body: []string{"amount", "currency"}},
			Precondition: &countersign.Precondition{
				Capability: ReadAccount, Fields: []string{"status", "balance"}, When: isOpen(),
			},
		},
	}
}

// isOpen holds of an account that pays out.
func isOpen() *countersign.Condition {
	c := holds("status", countersign.OpEqual, text("open"))
	return &c
}

// fields makes required inputs from alternating names and types.
func fields(namesAndTypes ...string) map[string]countersign.InputField {
	out := map[string]countersign.InputField{}
	for i := 0; i+1 < len(namesAndTypes); i += 2 {
		out[namesAndTypes[i]] = countersign.InputField{Type: namesAndTypes[i+1], Required: true}
	}
	return out
}
