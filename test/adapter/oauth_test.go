package adapter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// issuer is a token endpoint for client credentials, and an API that takes the newest of its tokens.
type issuer struct {
	mu      sync.Mutex
	issued  int
	revoked bool
	expired bool // the newest token
	called  []string
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	user, _, _ := r.BasicAuth()
	switch {
	case r.URL.Path == "/token" && i.revoked:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":"invalid_client","error_description":"the client is revoked"}`)
	case r.URL.Path == "/token" && user == "the-client":
		i.issued++
		i.expired = false
		_, _ = fmt.Fprintf(w, `{"access_token":"token-number-%d","token_type":"Bearer","expires_in":1}`, i.issued)
	case r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-number-%d", i.issued) && !i.expired:
		i.called = append(i.called, r.URL.Path)
		_, _ = fmt.Fprint(w, `{"ok":true}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":"invalid_token"}`)
	}
}

func (i *issuer) orders() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return strings.Join(i.called, " ")
}

// TestATokenThatEndsBetweenApprovalAndSendingIsFetchedAnew, and of a client that was revoked meanwhile nothing is called:
// the run says why.
func TestATokenThatEndsBetweenApprovalAndSendingIsFetchedAnew(t *testing.T) {
	i := &issuer{}
	api := httptest.NewServer(i)
	t.Cleanup(api.Close)
	dir := folder(t, "- name: shop\n  secretEnv: SHOP_SECRET\n  http:\n    baseUrl: '"+api.URL+"'\n    auth: {type: oauth2, tokenUrl: '"+api.URL+"/token', clientIdEnv: CLIENT_ID, clientSecretEnv: CLIENT_SECRET}\n    operations: [{method: PUT, path: '/orders/{id}'}]\n")
	p := start(t, dir)
	s := governed(t, p.url, harness.Capability("order", "PUT", "/http/shop/orders/{orderId}", doc{
		"approval": "ALWAYS", "expectation": doc{"field": "ok", "equals": true}, "inputSchema": doc{"orderId": harness.Input("string", true)},
	}))
	operator, approver := principal(t, s, "OPERATOR"), principal(t, s, "APPROVER")
	order := func(id string, meanwhile func()) harness.JSON {
		t.Helper()
		run := "/runs/" + operator.Post("/projects/"+project+"/runs", doc{"capability": "order", "mode": "LIVE", "inputs": doc{"orderId": id}}, harness.Header("Idempotency-Key: "+id)).OK(t).At("id").Text()
		var waits harness.JSON
		harness.Until(t, "the approval", func() bool {
			waits = operator.Get(run).OK(t)
			return waits.At("status").Text() == "WAITING_APPROVAL"
		})
		meanwhile()
		approver.Post("/approvals/"+waits.At("approvalId").Text()+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
		var ended harness.JSON
		harness.Until(t, "the end of "+id, func() bool {
			ended = operator.Get(run).OK(t)
			return ended.At("status").Text() == "COMPLETED" || ended.At("status").Text() == "FAILED"
		})
		return ended
	}
	order("1", func() {}).Is(t, "status", "COMPLETED")
	order("2", func() {}).Is(t, "status", "COMPLETED")
	order("3", func() {
		i.mu.Lock()
		i.expired, i.revoked = true, true
		i.mu.Unlock()
	}).Is(t, "status", "FAILED").Has(t, "error", "424").Has(t, "steps.0.response.body", "no token: the token endpoint answered 401 invalid_client", "nothing was called")
	if got := i.orders(); got != "/orders/1 /orders/2" {
		t.Errorf("called were %s", got)
	}
	i.mu.Lock()
	i.revoked = false
	i.mu.Unlock()
	order("4", func() {}).Is(t, "status", "COMPLETED")
	if strings.Contains(p.text(), "the-client-secret-0123") || strings.Contains(p.text(), "token-number-") {
		t.Error("the log holds a secret")
	}
}
