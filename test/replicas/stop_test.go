package replicas

import (
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// TestAStopHoldsOnEveryReplica: it is made at one, and lifted at another while the one
// that took the start is gone; the run goes on by itself.
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
