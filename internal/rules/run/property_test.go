package run_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// TestAnyHistoryKeepsTheRules plays legal and illegal events on random plans;
// world.checkEvent says after each what must hold. Then it is brought to an end.
func TestAnyHistoryKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, drawPlan(t))
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			w.surround(t)
			if !w.run.Status.IsTerminal() && rapid.IntRange(0, 40).Draw(t, "restored") == 0 {
				w.restored()
			}
			_, _ = w.apply(w.drawEvent(t)) // refusals are checked too
		}
		w.stopping, w.stopped = false, false
		w.bringToAnEnd()
		w.checkOrder()
	})
}

// drawPlan makes a plan of 1 to 12 steps, listed in any order.
func drawPlan(t *rapid.T) *countersign.Plan {
	n := rapid.IntRange(1, 12).Draw(t, "steps")
	steps := make([]countersign.Step, n)
	for i := range steps {
		steps[i] = drawStep(t, steps[:i])
	}
	mode := countersign.ModeLive
	if rapid.IntRange(0, 9).Draw(t, "mode") == 0 {
		mode = countersign.ModeDryRun
	}
	return order(t, mode, rapid.Permutation(steps).Draw(t, "listed")...)
}

// drawStep makes a step that may depend on those before it and be bound to them.
func drawStep(t *rapid.T, before []countersign.Step) countersign.Step {
	s := countersign.Step{
		ID:         string(rune('a' + len(before))),
		Capability: rapid.SampledFrom([]string{"look", "read", "inspect", "pay", "refund", "tag", "remove"}).Draw(t, "capability"),
		DependsOn:  []string{},
		Input:      map[string]countersign.Value{},
	}
	for _, b := range before {
		if rapid.IntRange(0, 2).Draw(t, "depends") == 0 {
			s.DependsOn = append(s.DependsOn, b.ID)
		}
	}
	name := "resourceId"
	if s.Capability == "pay" || s.Capability == "refund" {
		name = "amount"
	}
	s.Input[name] = countersign.String("o-1")
	if len(s.DependsOn) > 0 && rapid.Bool().Draw(t, "bound") {
		delete(s.Input, name)
		s.InputBindings = map[string]countersign.Binding{name: {
			StepID: rapid.SampledFrom(s.DependsOn).Draw(t, "from"),
			Field:  rapid.SampledFrom([]string{"id", "id", "id", "id", "nested.id", "nowhere"}).Draw(t, "field"),
		}}
	}
	if rapid.IntRange(0, 2).Draw(t, "expects") == 0 {
		s.Expectation = &countersign.Expectation{Field: "state", Equals: countersign.String("done"), StatusCode: rapid.SampledFrom([]int64{0, 200}).Draw(t, "status")}
	}
	return s
}

// surround changes, now and then, what stands around the run.
func (w *world) surround(t *rapid.T) {
	switch rapid.IntRange(0, 40).Draw(t, "around") {
	case 0:
		w.model.Revision++
	case 1:
		w.project.Disabled = !w.project.Disabled
	case 2, 3:
		w.stopping = !w.stopping
	case 10, 11, 12:
		w.stopped = !w.stopped
	case 4:
		w.listed = !w.listed
	case 5, 6, 7:
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
	case 8:
		w.now = w.now.Add(-time.Minute) // a clock that is set back
	case 9:
		if a := w.waitingApproval(); a != nil {
			a.RequestDigest = "0000000000000000000000000000000000000000000000000000000000000000"
		}
	}
}

var bodies = []string{
	`{"result":{"state":"done","id":"r-1","nested":{"id":"r-2"}},"state":"done","id":"o-1","nested":{"id":"o-2"}}`,
	`{"result":{"state":"done","id":"r-1","nested":{"id":"r-2"}},"state":"done","id":"o-1","nested":{"id":"o-2"}}`,
	`{"result":{"state":"open"},"state":"open","id":"../etc"}`, `{"result":null}`, `{}`, `null`, `[1]`,
}

func drawOutcome(t *rapid.T) outcome {
	switch rapid.IntRange(0, 9).Draw(t, "certainty") {
	case 0:
		return notSent("connection refused")
	case 1, 2:
		return unknown("no answer within 10s")
	case 3, 4:
		return answered(rapid.SampledFrom([]int{100, 302, 400, 404, 408, 409, 429, 500, 503}).Draw(t, "status"), "")
	default:
		return answered(rapid.SampledFrom([]int{200, 200, 200, 201}).Draw(t, "status"), rapid.SampledFrom(bodies).Draw(t, "body"))
	}
}

// drawEvent draws any event, those that are likely to move the run more often.
func (w *world) drawEvent(t *rapid.T) run.Event {
	switch rapid.IntRange(0, 19).Draw(t, "event") {
	case 0:
		return cancel()
	case 1:
		return run.Expired{}
	case 2:
		if rapid.IntRange(0, 9).Draw(t, "again and again") == 0 {
			return run.SetAside{}
		}
		return run.Restarted{Adopted: rapid.Bool().Draw(t, "by another process")}
	case 3:
		return decide(rapid.SampledFrom([]countersign.ApprovalStatus{"REJECTED", "PENDING", ""}).Draw(t, "decision"))
	case 4, 5, 6:
		return decide(countersign.ApprovalApproved)
	case 7, 8, 9:
		return run.SlotGranted{}
	case 10, 11:
		return w.drawReconcile(t)
	case 12:
		return w.drawProbe(t)
	case 13, 14, 15, 16:
		return w.drawAnswer(t)
	default:
		return run.Resumed{}
	}
}

// drawProbe begins a probe, or answers one that has begun or hasn't.
func (w *world) drawProbe(t *rapid.T) run.Event {
	step := rapid.IntRange(0, len(w.run.Steps)-1).Draw(t, "step")
	probe := countersign.ProbeRecord{By: "user:bob@example.com", At: w.now}
	if rapid.Bool().Draw(t, "begins") {
		return run.Probing{Step: step, Probe: probe}
	}
	probe.N, probe.Response = rapid.IntRange(0, 3).Draw(t, "n"), &countersign.Response{StatusCode: 200}
	return run.Probed{Step: step, Probe: probe}
}

// drawAnswer is mostly the answer to the latest call, now and then to another.
func (w *world) drawAnswer(t *rapid.T) run.Event {
	e := run.Returned{Step: rapid.IntRange(0, len(w.run.Steps)-1).Draw(t, "step"), Attempt: rapid.IntRange(0, 3).Draw(t, "attempt")}
	if len(w.calls) > 0 && rapid.IntRange(0, 9).Draw(t, "stray") > 0 {
		e = w.returned(outcome{})
	}
	e.Outcome = drawOutcome(t)
	return e
}

func (w *world) drawReconcile(t *rapid.T) run.Event {
	e := reconcile(rapid.SampledFrom([]string{
		countersign.ConfirmedCompleted, countersign.ConfirmedNotExecuted, countersign.ConfirmedNotExecuted, countersign.Abandon, "MAYBE",
	}).Draw(t, "resolution"))
	e.Evidence = rapid.SampledFrom([]string{"ticket 7", "ticket 7", "ticket 7", " "}).Draw(t, "evidence")
	if rapid.Bool().Draw(t, "output") {
		e.Output = values(w.t, bodies[0])
	}
	return e
}

// bringToAnEnd does what each situation asks for: no run is ever stuck.
func (w *world) bringToAnEnd() {
	for range 20 * len(w.run.Steps) {
		switch {
		case w.run.Status.IsTerminal():
			return
		case w.run.WaitingFor != nil && w.run.WaitingFor.Kind == countersign.WaitApproval:
			if _, err := w.apply(decide(countersign.ApprovalApproved)); err != nil {
				w.must(run.Expired{})
			}
		case w.run.WaitingFor != nil && w.run.WaitingFor.Kind == countersign.WaitReconcile:
			if until := w.run.WaitingFor.NotBefore; w.now.Before(until) {
				w.now = until
			}
			w.must(reconcile(countersign.Abandon))
		case w.run.WaitingFor != nil:
			w.must(run.SlotGranted{})
		case slices.ContainsFunc(w.run.Steps, inFlight):
			w.must(w.returned(answered(200, bodies[0])))
		default:
			w.must(run.Resumed{})
		}
	}
	w.t.Fatalf("the run is stuck: %s", encoded(w.t, w.run))
}

// checkOrder: steps were sent dependencies first, ties in plan order (contract 6).
func (w *world) checkOrder() {
	want, ok := executionOrder(w.plan.Steps)
	if !ok {
		w.t.Fatalf("the plan has a cycle")
	}
	var first []string
	for _, s := range w.sent {
		if !slices.Contains(first, s.step) {
			first = append(first, s.step)
		}
	}
	for i, id := range first {
		if w.plan.Steps[want[i]].ID != id {
			w.t.Fatalf("steps were sent in the order %v, want %v of the plan", first, want)
		}
	}
}

// executionOrder computes the order of steps apart from the code under test.
func executionOrder(steps []countersign.Step) (order []int, ok bool) {
	done := map[string]bool{}
	for len(order) < len(steps) {
		next := slices.IndexFunc(steps, func(s countersign.Step) bool {
			return !done[s.ID] && !slices.ContainsFunc(s.DependsOn, func(d string) bool { return !done[d] })
		})
		if next < 0 {
			return order, false
		}
		done[steps[next].ID] = true
		order = append(order, next)
	}
	return order, true
}
