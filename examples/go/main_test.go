package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

const (
	secret     = "a secret of the example's tests"
	refundBody = `{"orderId":"A-48213","amount":249.00,"currency":"EUR"}`
	paid       = `{"id":"rf-1","orderId":"A-48213","amount":249.00,"currency":"EUR","status":"succeeded"}` + "\n"
)

func start(t *testing.T) *httptest.Server {
	t.Helper()
	db, err := open(filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api(db, []byte(secret)))
	t.Cleanup(func() {
		server.Close()
		_ = db.Close()
	})
	return server
}

// call sends one call, signed with a secret.
func call(t *testing.T, server *httptest.Server, method, target, key, body, with string) (status int, answer string, replayed bool) {
	t.Helper()
	r, err := http.NewRequest(method, server.URL+target, strings.NewReader(body))
	if err == nil {
		err = receivertest.Sign(r, []byte(body), []byte(with), receiver.Call{RunID: "run-1", StepID: "refund", IdempotencyKey: key, SentAt: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header.Get("Idempotency-Replayed") == "true"
}

// TestTheShopAnswersItsCalls goes through one shop's day, call by call.
func TestTheShopAnswersItsCalls(t *testing.T) {
	server := start(t)
	none, one := `{"orderId":"A-48213","refunds":[]}`+"\n", `{"orderId":"A-48213","refunds":[`+strings.TrimSpace(paid)+"]}\n"
	for _, c := range []struct {
		what, method, target, key, body, secret string
		status                                  int
		answer                                  string
		replayed                                bool
	}{
		{"health", "GET", "/health", "h", "", secret, 200, "{\"status\":\"open\"}\n", false},
		{"an order", "GET", "/orders/A-48213", "o", "", secret, 200, `{"order":{"id":"A-48213","status":"returned","total":249.00,"currency":"EUR"}}` + "\n", false},
		{"no order", "GET", "/orders/A-1", "o", "", secret, 404, "{\"message\":\"there is no such order\"}\n", false},
		{"wrong signature", "POST", "/refunds", "k", refundBody, "another secret", 401, "", false},
		{"nothing happened", "GET", "/refunds?orderId=A-48213", "p", "", secret, 200, none, false},
		{"too much", "POST", "/refunds", "k", strings.Replace(refundBody, "249.00", "249.01", 1), secret, 422, "", false},
		{"not returned", "POST", "/refunds", "k", strings.Replace(refundBody, "A-48213", "A-47902", 1), secret, 422, "", false},
		{"a fraction of a cent", "POST", "/refunds", "k", strings.Replace(refundBody, "249.00", "1.001", 1), secret, 422, "", false},
		{"no JSON", "POST", "/refunds", "k", "refund", secret, 400, "", false},
		{"a refund", "POST", "/refunds", "k", refundBody, secret, 200, paid, false},
		{"its repeat", "POST", "/refunds", "k", refundBody, secret, 200, paid, true},
		{"another body", "POST", "/refunds", "k", strings.Replace(refundBody, "249.00", "1", 1), secret, 409, "", false},
		{"another key", "POST", "/refunds", "k2", refundBody, secret, 422, "{\"message\":\"the order is refunded already\"}\n", false},
		{"one happened", "GET", "/refunds?orderId=A-48213", "p", "", secret, 200, one, false},
	} {
		status, answer, replayed := call(t, server, c.method, c.target, c.key, c.body, c.secret)
		if status != c.status || c.answer != "" && answer != c.answer || replayed != c.replayed {
			t.Errorf("%s: %d %s (replayed %v); want %d %s", c.what, status, answer, replayed, c.status, c.answer)
		}
	}
}

func TestAmountsAreReadToTheCent(t *testing.T) {
	for text, want := range map[string]int64{"249.00": 24900, "249": 24900, "249.5": 24950, "0.01": 1, "0": 0, "999999999.99": 99999999999} {
		if got, ok := cents(json.Number(text)); got != want || !ok {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "1e3", "1.001", "1e999999999", "1234567890", " 1", "1."} {
		if got, ok := cents(json.Number(text)); ok {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}
