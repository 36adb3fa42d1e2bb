package abuse

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestViewersOfOnePrincipalAreBounded: a principal that opens many streams is refused further ones; other
// principals are not.
func TestViewersOfOnePrincipalAreBounded(t *testing.T) {
	t.Parallel()
	v := serve(t, 0)
	plan := v.operator.Post("/plans", doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		doc{"id": "a", "name": "a", "projectId": "default-shop", "capability": "refund", "input": doc{"orderId": "o"}},
	}}).OK(t).At("id").Text()
	run := v.operator.Post("/runs", doc{"planId": plan}, "Idempotency-Key: watched").OK(t).At("id").Text()
	path := "/runs/" + run + "/events"
	request := "GET /v1" + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + v.operator.Token() + "\r\n\r\n"
	const most = 256
	for range most {
		conn, err := v.dial(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		begin := make([]byte, 15)
		if _, err := conn.Read(begin); err != nil || !strings.HasPrefix(string(begin), "HTTP/1.1 200") {
			t.Fatalf("%q, %v", begin, err)
		}
	}
	refused := v.operator.Get(path)
	refused.Refused(t, "capacity", "256 event streams")
	if refused.Header.Get("Retry-After") == "" || refused.Status != http.StatusServiceUnavailable {
		t.Error(refused, refused.Header)
	}
	other := v.Admin.Events(t, path)
	if e, ok := other.Next(t); !ok || e.Data.At("id").Text() != run {
		t.Errorf("another principal sees %+v", e)
	}
	other.Close()
	v.operator.Post("/runs/"+run+"/cancel", doc{"reason": "r"}).OK(t) // which ends the streams
	harness.Until(t, "their end", func() bool { return v.operator.Get(path).Status == http.StatusOK })
}
