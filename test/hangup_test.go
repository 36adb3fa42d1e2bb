package test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// hangUp sends a request that makes the service call the shop, and disconnects before the shop answers.
func (w *world) hangUp(t *testing.T, who *harness.Client, path, body, called string) {
	t.Helper()
	gate := make(chan struct{})
	w.shop.On("GET", called, harness.After(gate, harness.Answering(200, `{"status":"refunded"}`)))
	seen := len(w.shop.Seen("GET", called))
	ctx, gone := context.WithCancel(t.Context())
	q, err := http.NewRequestWithContext(ctx, "POST", w.URL+harness.Prefix+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+who.Token())
	q.Header.Set("Content-Type", "application/json")
	done := make(chan error, 1)
	go func() {
		a, err := http.DefaultClient.Do(q)
		if err == nil {
			err = a.Body.Close()
		}
		done <- err
	}()
	w.shop.Await(t, "GET", called, seen+1)
	gone()
	if err := <-done; err == nil {
		t.Error("the caller has an answer")
	}
	close(gate)
}

// TestASignedCallIsRecordedThoughItsCallerHangsUp: both for a probe and for a health check.
func TestASignedCallIsRecordedThoughItsCallerHangsUp(t *testing.T) {
	t.Parallel()
	w := ownWorld(t) // its requests are made by hand
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	id := w.run(t, step("r", "refund", doc{"orderId": "ord-7", "amount": 5}))
	w.approve(t, id)
	w.reaches(t, id, "RECOVERY_REQUIRED")
	recorded := func(action, subject string) func() bool {
		return func() bool {
			for _, r := range w.Admin.Get("/audit?limit=200&action=" + action).OK(t).At("items").Items() {
				if r.At("subject").Text() == subject && r.At("outcome").Text() == "done" {
					return true
				}
			}
			return false
		}
	}
	w.hangUp(t, w.approver, "/runs/"+id+"/probe", `{"stepId":"r"}`, "/refunds/ord-7")
	harness.Until(t, "the record of the probe", recorded("runs.probe", "run/"+id))
	harness.Until(t, "its answer", func() bool { return w.viewer.Get("/runs/" + id).OK(t).At("steps.0.probes.0.output").Exists() })
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.probes.0.output", doc{"status": "refunded"})

	w.Admin.Put("/projects/default-unchecked", harness.Project(w.shop.Origin())).OK(t)
	before := w.Admin.Get("/projects/default-unchecked").OK(t).At("health.checkedAt").Text()
	w.hangUp(t, w.Admin, "/projects/default-unchecked/health-check", ``, "/health")
	harness.Until(t, "the health check", func() bool {
		return w.Admin.Get("/projects/default-unchecked").OK(t).At("health.checkedAt").Text() != before
	})
}
