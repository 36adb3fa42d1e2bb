package run_test

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// situation is a run that every event of the matrix is tried on. Its plan has
// the steps `earlier` (done where the run is under way), `step` (the one that
// the situation is about) and `later`.
type situation struct {
	name string
	// about is what `step` calls, next the step that begins when the run goes on.
	about, next string
	mode        string
	reach       func(w *world)
}

const verified = `{"result":{"state":"done"}}`

var situations = []situation{
	{name: "READY", about: "look", next: "step", reach: func(*world) {}},
	{name: "READY, DRY_RUN", about: "refund", next: "step", mode: countersign.ModeDryRun, reach: func(*world) {}},
	{name: "RUNNING, between steps", about: "look", next: "step", reach: func(w *world) {
		w.stopping = true // a stop, or a crash, is what leaves a run there
		w.play(w.answer("earlier", answered(200, `{"id":"o-1"}`)))
		w.stopping = false
	}},
	{name: "RUNNING, the approved step has its slot", about: "refund", next: "step", reach: func(w *world) {
		w.play(w.answer("earlier", answered(200, `{"id":"o-1"}`)), decide("APPROVED"), run.SlotGranted{})
	}},
	{name: "RUNNING, a read in flight", about: "read", next: "later", reach: underWay},
	{name: "RUNNING, a side effect in flight", about: "pay", next: "later", reach: underWay},
	{name: "WAITING_APPROVAL, undecided", about: "refund", next: "later", reach: underWay},
	{name: "WAITING_APPROVAL, approved, waits for a slot", about: "refund", next: "step", reach: func(w *world) {
		underWay(w)
		w.play(decide("APPROVED"))
	}},
	{name: "READY, held by a stop", about: "look", next: "step", reach: func(w *world) { held(w, run.Resumed{}) }},
	{name: "RUNNING, held by a stop", about: "look", next: "step", reach: func(w *world) {
		held(w, w.answer("earlier", answered(200, `{"id":"o-1"}`)))
	}},
	{name: "WAITING_APPROVAL, approved, held by a stop", about: "refund", next: "step", reach: func(w *world) {
		underWay(w)
		held(w, decide("APPROVED"))
	}},
	{name: "RECOVERY_REQUIRED", about: "pay", next: "later", reach: uncertain},
	{name: "RECOVERY_REQUIRED, cancel requested, the call on its way", about: "pay", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(cancel())
	}},
	{name: "RECOVERY_REQUIRED, cancel requested, the call has ended", about: "pay", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(cancel(), w.answer("step", unknown("no answer within 10s")))
	}},
	{name: "RECOVERY_REQUIRED, confirmed completed, waits for a slot", about: "pay", next: "later", reach: func(w *world) {
		uncertain(w)
		w.play(reconcile(countersign.ConfirmedCompleted, values(w.t, verified)))
	}},
	{name: "RECOVERY_REQUIRED, confirmed not executed, waits for a slot", about: "pay", next: "step", reach: func(w *world) {
		uncertain(w)
		w.play(reconcile(countersign.ConfirmedNotExecuted))
	}},
	{name: "COMPLETED", about: "pay", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(w.answer("step", answered(200, verified)))
		w.play(w.answer("later", answered(200, "null")))
	}},
	{name: "FAILED", about: "pay", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(w.answer("step", answered(422, "")))
	}},
	{name: "CANCELLED, given up while the call was on its way", about: "pay", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(cancel())
		w.now = w.run.WaitingFor.NotBefore
		w.play(reconcile(countersign.Abandon))
	}},
	{name: "CANCELLED", about: "refund", next: "later", reach: func(w *world) {
		underWay(w)
		w.play(cancel())
	}},
}

// underWay brings the run to where `step` is sent, or waits for its approval.
func underWay(w *world) { w.play(w.answer("earlier", answered(200, `{"id":"o-1"}`))) }

// held plays an event while LIVE steps are stopped.
func held(w *world, e run.Event) {
	w.stopped = true
	w.play(e)
	w.stopped = false
}

func uncertain(w *world) {
	underWay(w)
	w.play(w.answer("step", unknown("the connection broke after the request was sent")))
}

// plan is the situation's plan, with the step that comes next as the event of
// the matrix wants it.
func (s situation) plan(t fataler, event column) *countersign.Plan {
	mode := s.mode
	if mode == "" {
		mode = countersign.ModeLive
	}
	input := `{"resourceId":"o-1"}`
	if s.about == "pay" || s.about == "refund" {
		input = `{"amount":5}`
	}
	steps := []countersign.Step{
		{ID: "earlier", Capability: "look", Input: values(t, `{"resourceId":"o-1"}`)},
		{ID: "step", Capability: s.about, Input: values(t, input)},
		{ID: "later", Capability: "look", Input: values(t, `{"resourceId":"o-2"}`)},
	}
	if s.about == "pay" || s.about == "read" || s.about == "refund" {
		steps[1].Expectation = &countersign.Expectation{Field: "state", Equals: countersign.String("done"), StatusCode: 200}
	}
	for i := range steps {
		if event.next != nil && steps[i].ID == s.next {
			event.next(&steps[i])
		}
	}
	if event.last {
		steps = steps[:2]
	}
	if s.fresh() {
		steps = steps[1:]
	}
	return order(t, mode, steps...)
}

// fresh reports a situation in which nothing has been done yet.
func (s situation) fresh() bool {
	return strings.HasPrefix(s.name, "READY") || s.mode == countersign.ModeDryRun
}

// world brings a new run into the situation.
func (s situation) world(t fataler, event column) *world {
	t.Helper()
	w := newWorld(t, s.plan(t, event))
	if !s.fresh() {
		w.play(run.Resumed{})
	}
	s.reach(w)
	if !strings.HasPrefix(s.name, string(w.run.Status)) {
		t.Fatalf("%s: the run is %s", s.name, w.run.Status)
	}
	if event.arrange != nil {
		event.arrange(w)
	}
	return w
}
