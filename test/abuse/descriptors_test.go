package abuse

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestConnectionsLeaveDescriptorsForTheWork: callers can't use up the file descriptors that the store
// and the calls to projects need, nor keep others out. More connections are opened, and kept, than the
// process may have; runs still go on, each over its own connection, and new callers are served.
func TestConnectionsLeaveDescriptorsForTheWork(t *testing.T) {
	v := serve(t, 256)
	v.receiver.Otherwise(harness.Raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"ok\":true}"))
	v.CloseIdle()
	crowd := v.crowd(600)
	defer crowd.leave()
	harness.Until(t, "the crowd", func() bool { return crowd.closed.Load() > 600 }) // closed connections are opened again
	for n := range 20 {
		key := harness.Header(fmt.Sprintf("Idempotency-Key: beside-%d", n))
		run := v.insist(t, v.operator, "POST", "/runs", doc{"planId": v.plan}, key).OK(t).At("id").Text()
		harness.Until(t, "the run", func() bool { return v.insist(t, v.operator, "GET", "/runs/"+run, nil).OK(t).At("completedAt").Exists() })
		v.insist(t, v.operator, "GET", "/runs/"+run, nil).OK(t).Is(t, "status", "COMPLETED")
		v.insist(t, v.Admin, "POST", "/projects/default-shop/health-check", nil).OK(t).Is(t, "healthy", true)
		v.CloseIdle() // the next request needs a new connection
	}
}

// insist repeats a request whose connection was closed, a few times, as the SDKs do.
func (v *victim) insist(t *testing.T, c *harness.Client, method, path string, body any, headers ...harness.Header) *harness.Answer {
	t.Helper()
	for range 5 {
		if a, err := c.Try(method, path, body, headers...); err == nil {
			return a
		}
	}
	t.Fatalf("%s %s found no room in five tries", method, path)
	return nil
}
