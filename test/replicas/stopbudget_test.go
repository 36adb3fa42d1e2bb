package replicas

import (
	"fmt"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// TestAStopHoldsOnEveryReplica: the stop is set at one replica and lifted at another while the replica that accepted the start is down;
// the run continues by itself.
func TestAStopHoldsOnEveryReplica(t *testing.T) {
	t.Parallel()
	f := assemble(t, pgtest.Database(t))
	f.receiver.On("GET", "/patient", harness.Answering(200, `{}`))
	reason := harness.Doc{"reason": "something is wrong"}
	f.replicas[0].Admin.Post("/stop", reason).OK(t).Is(t, "stopped", true)
	run := f.replicas[1].As(f.token).Post("/runs", harness.Doc{"planId": f.plan}, "Idempotency-Key: held").OK(t).At("id").Text()
	f.await("the run to be held", func() bool {
		return f.replicas[2].As(f.token).Get("/runs/"+run).OK(t).At("waitingFor.kind").Text() == "stop"
	})
	f.replicas[1].Kill()
	f.replicas[0].Kill()
	f.replicas[2].As(f.token).Get("/runs/"+run).OK(t).Is(t, "steps.0.attempt", 0)
	f.replicas[2].Admin.Post("/go", reason).OK(t).Is(t, "stopped", false)
	f.await("the run to complete", func() bool {
		return f.replicas[2].As(f.token).Get("/runs/"+run).OK(t).At("status").Text() == "COMPLETED"
	})
}

// TestABudgetHoldsAcrossReplicas: concurrent runs at each replica ask for more than the budget.
func TestABudgetHoldsAcrossReplicas(t *testing.T) {
	t.Parallel()
	const most = 4
	f := assemble(t, pgtest.Database(t))
	pay := harness.Capability("pay", "POST", "/pay", harness.Doc{"approval": "NONE", "budgets": []any{harness.Doc{"count": most, "window": "24h", "then": "DENY", "reason": "enough"}}})
	admin := f.replicas[0].Admin
	admin.Put("/projects/default-budget", harness.With(harness.Project(f.receiver.Origin()), "capabilities", []any{pay})).OK(t)
	admin.Post("/projects/default-budget/health-check", nil).OK(t)
	admin.Post("/projects/default-budget/enable", harness.Doc{"expectedRevision": 1}).OK(t)
	plan := f.replicas[0].As(f.token).Post("/plans", harness.Doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		harness.Doc{"id": "p", "name": "p", "projectId": "default-budget", "capability": "pay", "input": harness.Doc{}},
	}}).OK(t).At("id").Text()
	var all sync.WaitGroup
	ended := make(chan string, 4*count)
	for place := range count {
		all.Go(func() {
			operator := f.replicas[place].As(f.token)
			for n := range 4 {
				var run string
				f.await("a slot", func() bool {
					a, err := operator.Try("POST", "/runs", harness.Doc{"planId": plan}, harness.Header(fmt.Sprintf("Idempotency-Key: %d-%d", place, n)))
					if err == nil && a.Status == 202 {
						run = a.At("id").Text()
					}
					return run != ""
				})
				f.await("a run to end", func() bool {
					status := operator.Get("/runs/" + run).OK(t).At("status").Text()
					if status == "COMPLETED" || status == "FAILED" {
						ended <- status
						return true
					}
					return false
				})
			}
		})
	}
	all.Wait()
	close(ended)
	completed := 0
	for status := range ended {
		if status == "COMPLETED" {
			completed++
		}
	}
	if sent := len(f.receiver.Seen("POST", "/pay")); completed != most || sent != most {
		t.Errorf("%d runs completed and %d requests were sent, of %d", completed, sent, most)
	}
}
