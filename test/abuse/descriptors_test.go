package abuse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestConnectionsLeaveDescriptorsForTheWork: strangers can't take what the store
// and the calls to projects need, nor keep others out. More of them come than the
// process may have descriptors, and stay; runs go on, each over a connection of its
// own, and whoever comes is served.
func TestConnectionsLeaveDescriptorsForTheWork(t *testing.T) {
	v := serve(t, 256)
	v.receiver.Otherwise(harness.Raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"ok\":true}"))
	v.CloseIdle()
	crowd := v.crowd(600)
	defer crowd.leave()
	harness.Until(t, "the crowd", func() bool { return crowd.closed.Load() > 600 }) // they come back, again and again
	for n := range 20 {
		key := harness.Header(fmt.Sprintf("Idempotency-Key: beside-%d", n))
		run := v.operator.Post("/runs", doc{"planId": v.plan}, key).OK(t).At("id").Text()
		harness.Until(t, "the run", func() bool { return v.operator.Get("/runs/" + run).OK(t).At("completedAt").Exists() })
		v.operator.Get("/runs/"+run).OK(t).Is(t, "status", "COMPLETED")
		v.Admin.Post("/projects/default-shop/health-check", nil).OK(t).Is(t, "healthy", true)
		if answer := v.Wire(t, "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Fatalf("a newcomer got %.200q", answer)
		}
		v.CloseIdle()
	}
}
