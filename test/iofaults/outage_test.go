package iofaults

import (
	"github.com/countersign/countersign/test/harness"
)

// outage is a time in which the store can't write, while a run has a call in flight.
type outage struct {
	begin, end func()
	health     doc  // the answer of /health meanwhile
	kept       bool // the outcome is committed nevertheless
}

// lives checks an outage: the service answers 503 to writes, still reads, keeps the outcome of the call, and recovers by
// itself.
func (b *bed) lives(o outage) {
	t := b.t
	t.Helper()
	run, gate := b.inFlight()
	o.begin()
	b.refuses()
	for path, want := range o.health {
		b.Admin.Get("/health").OK(t).Is(t, path, want)
	}
	b.operator.Get("/models/refund").OK(t).Is(t, "revision", 1)
	b.operator.Get("/runs/"+run).OK(t).Is(t, "status", "RUNNING").Is(t, "steps.0.status", "RUNNING")
	close(gate)
	if o.kept {
		b.sees(run, "steps.0.status", "COMPLETED").Is(t, "steps.0.output.id", "e-1").Is(t, "status", "RUNNING")
	}
	b.refuses()
	if n := b.delivered("/notes"); n > 0 {
		t.Errorf("the second step was sent %d times", n)
	}
	o.end()
	b.recovers(run)
}

// refuses checks that a write without disk space changes nothing and is answered so.
func (b *bed) refuses() {
	b.t.Helper()
	before := b.operator.Get("/models").OK(b.t).At("total").Int()
	for range 3 {
		b.put().Refused(b.t, "unavailable")
	}
	b.operator.Post("/runs", doc{"planId": b.plan}, harness.Header("Idempotency-Key: refused")).Refused(b.t, "unavailable")
	b.operator.Get("/models").OK(b.t).Is(b.t, "total", before)
	b.operator.Get("/runs").OK(b.t).Is(b.t, "total", 1)
}

// recovers checks that everything works again without a restart, and that each call was made once.
func (b *bed) recovers(run string) {
	t := b.t
	t.Helper()
	b.reaches(run, "COMPLETED").Is(t, "steps.0.output.id", "e-1").Is(t, "steps.0.attempt", 1).Is(t, "steps.1.attempt", 1)
	b.put().OK(t).Is(t, "revision", 1)
	b.Admin.Get("/health").OK(t).Is(t, "status", "ok").Is(t, "store", "ok")
	if first, second := b.delivered("/effect"), b.delivered("/notes"); first != 1 || second != 1 {
		t.Errorf("the calls were delivered %d and %d times", first, second)
	}
	b.Kill()
	b.Restart()
	b.operator.Get("/runs/"+run).OK(t).Is(t, "status", "COMPLETED")
	b.operator.Get("/models").OK(t).Is(t, "total", 2)
}
