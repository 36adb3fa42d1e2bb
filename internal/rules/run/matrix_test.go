package run_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/testing/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// column is an event of the matrix, with what is different about the run or
// around it when it happens.
type column struct {
	name string
	// next changes the step that begins when the run goes on; last leaves none.
	next    func(*countersign.Step)
	last    bool
	arrange func(*world)
	// only narrows the situations that the column differs in from the plain event.
	only  func(*world) bool
	event func(*world) run.Event
}

func fixed(e run.Event) func(*world) run.Event { return func(*world) run.Event { return e } }

func returned(o outcome) func(*world) run.Event {
	return func(w *world) run.Event { return w.answer("step", o) }
}

func needsApproval(s *countersign.Step) {
	s.Capability, s.Input, s.Expectation = "inspect", map[string]countersign.Value{"resourceId": countersign.String("o-9")}, nil
}

func badBinding(s *countersign.Step) {
	s.Input, s.InputBindings = nil, map[string]countersign.Binding{"resourceId": {StepID: "earlier", Field: "nowhere"}}
}

func drifted(w *world)    { w.model.Revision++ }
func disabled(w *world)   { w.project.Disabled = true }
func stopping(w *world)   { w.stopping = true }
func stopped(w *world)    { w.stopped = true }
func pastExpiry(w *world) { w.now = w.now.Add(ttl) }

// overdue lets the time pass in which the call may still be answered.
func overdue(w *world) { w.now = w.answerBy }

func onItsWay(w *world) bool { return w.run.WaitingFor != nil && !w.run.WaitingFor.NotBefore.IsZero() }

func otherDigest(w *world) {
	if a := w.waitingApproval(); a != nil {
		a.RequestDigest = strings.Repeat("0", 64)
	}
}

func secondAttempt(w *world) { w.step("step").Attempt = 2 }

// goesOn: situations in which being taken drives the run on.
func goesOn(w *world) bool {
	return run.HoldsSlot(w.run) && slices.IndexFunc(w.run.Steps, inFlight) < 0
}

// begins: situations in which being taken reaches the gate with a new step.
func begins(w *world) bool { return goesOn(w) && !approved(w) }

func inFlight(s countersign.StepRun) bool { return s.Status == countersign.StepRunning }

func calling(w *world) bool { return slices.IndexFunc(w.run.Steps, inFlight) >= 0 }

func undecided(w *world) bool {
	a := w.waitingApproval()
	return a != nil && a.Status == countersign.ApprovalPending
}

func approved(w *world) bool {
	a := w.waitingApproval()
	return a != nil && a.Status == countersign.ApprovalApproved
}

func probing(w *world) run.Probing {
	return run.Probing{Step: w.index("step"), Probe: countersign.ProbeRecord{By: "user:bob@example.com", At: w.now, Capability: "look"}}
}

var ok = returned(answered(200, verified))

var columns = []column{
	{name: "Resumed", event: fixed(run.Resumed{})},
	{name: "Resumed, the next step needs approval", next: needsApproval, only: begins, event: fixed(run.Resumed{})},
	{name: "Resumed, drift", arrange: drifted, only: goesOn, event: fixed(run.Resumed{})},
	{name: "Resumed, project disabled", arrange: disabled, only: goesOn, event: fixed(run.Resumed{})},
	{name: "Resumed, the next step's binding can't be filled", next: badBinding, only: begins, event: fixed(run.Resumed{})},
	{name: "Resumed, the approval has expired", arrange: pastExpiry, only: func(w *world) bool { return goesOn(w) && approved(w) }, event: fixed(run.Resumed{})},
	{name: "Resumed, the request is not the approved one", arrange: otherDigest, only: func(w *world) bool { return goesOn(w) && approved(w) }, event: fixed(run.Resumed{})},
	{name: "Resumed, the service stops", arrange: stopping, only: goesOn, event: fixed(run.Resumed{})},

	{name: "Resumed, LIVE steps are stopped", arrange: stopped, only: goesOn, event: fixed(run.Resumed{})},

	{name: "Returned 2xx, verified", event: ok},
	{name: "Returned 2xx, verified, the next step needs approval", next: needsApproval, only: calling, event: ok},
	{name: "Returned 2xx, verified, the next step's binding can't be filled", next: badBinding, only: calling, event: ok},
	{name: "Returned 2xx, verified, drift", arrange: drifted, only: calling, event: ok},
	{name: "Returned 2xx, verified, project disabled", arrange: disabled, only: calling, event: ok},
	{name: "Returned 2xx, verified, the service stops", arrange: stopping, only: calling, event: ok},
	{name: "Returned 2xx, verified, LIVE steps are stopped", arrange: stopped, only: calling, event: ok},
	{name: "Returned 2xx, verified, the last step, LIVE steps are stopped", last: true, arrange: stopped, only: calling, event: ok},
	{name: "Returned 2xx, verified, the last step", last: true, only: calling, event: ok},
	{name: "Returned 2xx, verified, the last step, the service stops", last: true, arrange: stopping, only: calling, event: ok},
	{name: "Returned 2xx, expectation unmet", event: returned(answered(200, `{"result":{"state":"open"}}`))},
	{name: "Returned 2xx, other statusCode than expected", event: returned(answered(202, verified))},
	{name: "Returned 2xx, outputField missing", event: returned(answered(200, `{"state":"done"}`))},
	{name: "Returned 4xx", event: returned(answered(422, ""))},
	{name: "Returned 408", event: returned(answered(408, ""))},
	{name: "Returned 409, first attempt", event: returned(answered(409, ""))},
	{name: "Returned 409, second attempt", arrange: secondAttempt, only: calling, event: returned(answered(409, ""))},
	{name: "Returned 409 in_progress, first attempt", event: returned(answered(409, `{"error":"in_progress"}`))},
	{name: "Returned 5xx", event: returned(answered(503, ""))},
	{name: "Returned 3xx", event: returned(answered(302, ""))},
	{name: "Returned NotSent", event: returned(notSent("no such host"))},
	{name: "Returned Unknown", event: returned(unknown("no answer within 10s"))},
	{name: "Returned, of an earlier attempt", arrange: secondAttempt, only: calling, event: func(w *world) run.Event {
		e := w.answer("step", answered(200, verified))
		e.Attempt = 1
		return e
	}},

	{name: "Decided APPROVED", event: fixed(decide(countersign.ApprovalApproved))},
	{name: "Decided APPROVED, LIVE steps are stopped", arrange: stopped, only: undecided, event: fixed(decide(countersign.ApprovalApproved))},
	{name: "Decided REJECTED", event: fixed(decide(countersign.ApprovalRejected))},
	{name: "Decided APPROVED, the approval has expired", arrange: pastExpiry, event: fixed(decide(countersign.ApprovalApproved))},
	{name: "Decided without a reason", event: fixed(run.Decided{Decision: countersign.ApprovalApproved, Reason: " \n", By: "user:bob@example.com"})},
	{name: "Expired, before its time", event: fixed(run.Expired{})},
	{name: "Expired", arrange: pastExpiry, event: fixed(run.Expired{})},
	{name: "Expired, drift", arrange: func(w *world) { pastExpiry(w); drifted(w) }, only: approved, event: fixed(run.Expired{})},
	{name: "Expired, the call's time is over", arrange: overdue, only: onItsWay, event: fixed(run.Expired{})},
	{name: "SlotGranted", event: fixed(run.SlotGranted{})},
	{name: "SlotGranted, LIVE steps are stopped", arrange: stopped, only: func(w *world) bool { return run.WaitsForSlot(w.run) }, event: fixed(run.SlotGranted{})},

	{name: "CancelAsked", event: fixed(cancel())},
	{name: "Reconciled CONFIRMED_COMPLETED", event: func(w *world) run.Event { return reconcile(countersign.ConfirmedCompleted, values(w.t, verified)) }},
	{name: "Reconciled CONFIRMED_COMPLETED, LIVE steps are stopped", arrange: stopped, event: func(w *world) run.Event { return reconcile(countersign.ConfirmedCompleted, values(w.t, verified)) },
		only: func(w *world) bool {
			return w.step("step").Status == countersign.StepRecoveryRequired && !w.run.CancelRequested
		}},
	{name: "Reconciled CONFIRMED_COMPLETED, the last step", last: true, event: func(w *world) run.Event { return reconcile(countersign.ConfirmedCompleted, values(w.t, verified)) },
		only: func(w *world) bool { return w.step("step").Status == countersign.StepRecoveryRequired }},
	{name: "Reconciled CONFIRMED_COMPLETED, expectation unmet", event: fixed(reconcile(countersign.ConfirmedCompleted))},
	{name: "Reconciled CONFIRMED_COMPLETED, the call's time is over", arrange: overdue, only: onItsWay, event: func(w *world) run.Event { return reconcile(countersign.ConfirmedCompleted, values(w.t, verified)) }},
	{name: "Reconciled CONFIRMED_NOT_EXECUTED, the call's time is over", arrange: overdue, only: onItsWay, event: fixed(reconcile(countersign.ConfirmedNotExecuted))},
	{name: "Reconciled ABANDON, the call's time is over", arrange: overdue, only: onItsWay, event: fixed(reconcile(countersign.Abandon))},
	{name: "Reconciled CONFIRMED_NOT_EXECUTED", event: fixed(reconcile(countersign.ConfirmedNotExecuted))},
	{name: "Reconciled ABANDON", event: fixed(reconcile(countersign.Abandon))},
	{name: "Reconciled without evidence", event: fixed(run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.Abandon, Evidence: " "}})},
	{name: "Probing", event: func(w *world) run.Event { return probing(w) }},
	{name: "Probed", arrange: func(w *world) { w.step("step").Probes = []countersign.ProbeRecord{probing(w).Probe} }, event: func(w *world) run.Event {
		p := probing(w).Probe
		p.N, p.Response = 1, &countersign.Response{StatusCode: 200}
		return run.Probed{Step: w.index("step"), Probe: p}
	}},
	{name: "SetAside", event: fixed(run.SetAside{})},
	{name: "Restarted", event: fixed(run.Restarted{})},
	{name: "Restarted, adopted by another process", event: fixed(run.Restarted{Adopted: true})},
	{name: "Restarted, untended", only: calling, event: fixed(run.Restarted{Untended: true})},
}

// cell is what an event comes to in a situation.
type cell struct {
	situation situation
	column    column
	event     run.Event
	was, is   *countersign.Run
	res       run.Result
	err       error
}

// matrix tries every event in every situation, each on a run of its own, and says which checks failed.
func matrix(t *testing.T) (rows [][]cell, wrong []string) {
	t.Helper()
	for _, s := range situations {
		var row []cell
		for _, c := range columns {
			if c.only != nil && !c.only(s.world(t, column{})) {
				continue
			}
			w := s.world(t, c)
			w.t = noted{t, s.name + " / " + c.name, &wrong}
			was, e := w.run, c.event(w)
			res, err := w.apply(e)
			row = append(row, cell{situation: s, column: c, event: e, was: was, is: w.run, res: res, err: err})
		}
		rows = append(rows, row)
	}
	return rows, wrong
}

func (c cell) moves() bool { return c.err == nil && !c.res.Unchanged() }

// status is the run's status with what it waits for.
func (c cell) status() string { return standing(c.is) }

func standing(r *countersign.Run) string {
	s := string(r.Status)
	if r.WaitingFor != nil {
		s += " (" + r.WaitingFor.Kind + ")"
	}
	if code, _, found := strings.Cut(r.Error, ":"); found {
		s += " " + code
	}
	return s
}

// steps names every step whose status the event changed.
func (c cell) steps() string {
	var out []string
	for i, s := range c.is.Steps {
		if was := c.was.Steps[i].Status; was != s.Status {
			out = append(out, fmt.Sprintf("%s %s → %s", s.ID, was, s.Status))
		}
	}
	if out == nil {
		return "—"
	}
	return strings.Join(out, ", ")
}

// effects names what is done once the move is committed.
func (c cell) effects() string {
	var out []string
	if c.res.Ask != nil {
		out = append(out, "Ask "+c.res.Ask.StepID)
	}
	if c.res.Close != "" {
		out = append(out, "Close")
	}
	if c.res.Call != nil {
		out = append(out, fmt.Sprintf("Call %s, attempt %d", c.is.Steps[c.res.Call.Step].ID, c.res.Call.Attempt))
	}
	for i, s := range c.is.Steps {
		if s.Late != nil && (c.was.Steps[i].Late == nil || s.Late.Attempt != c.was.Steps[i].Late.Attempt) {
			out = append(out, "late answer kept")
		}
		if len(s.Probes) > len(c.was.Steps[i].Probes) {
			out = append(out, "probe let out")
		}
	}
	if c.res.ProbeAnswer != nil {
		out = append(out, "answer to the probe kept")
	}
	if c.is.MayHaveHappened && !c.was.MayHaveHappened {
		out = append(out, "may have happened")
	}
	if out == nil {
		return "—"
	}
	return strings.Join(out, ", ")
}

// written is the matrix as text: for each situation its moves, then the events
// that change nothing, then those that are refused.
func written(rows [][]cell) string {
	var b strings.Builder
	b.WriteString("Every situation of a run and every event. Written by go test ./internal/rules/run -update; read the diff.\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "\n== %s: %s\n", row[0].situation.name, statuses(row[0].was))
		refused := map[countersign.Code][]string{}
		var nothing []string
		for _, c := range row {
			switch {
			case c.err != nil:
				code := countersign.ErrorCode(c.err)
				refused[code] = append(refused[code], c.column.name)
			case c.moves():
				fmt.Fprintf(&b, "%-62s | %-33s | %s | %s\n", c.column.name, c.status(), c.steps(), c.effects())
			default:
				nothing = append(nothing, c.column.name)
			}
		}
		if nothing != nil {
			fmt.Fprintf(&b, "changes nothing: %s\n", strings.Join(nothing, "; "))
		}
		for _, code := range sortedCodes(refused) {
			fmt.Fprintf(&b, "refused, %s: %s\n", code, strings.Join(refused[code], "; "))
		}
	}
	return b.String()
}

func sortedCodes(m map[countersign.Code][]string) []countersign.Code {
	var codes []countersign.Code
	for c := range m {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}

// noted is a check of one cell that fails: the matrix goes on, since its difference says more.
type noted struct {
	fataler
	cell  string
	wrong *[]string
}

func (n noted) Fatalf(format string, args ...any) {
	*n.wrong = append(*n.wrong, n.cell+": "+fmt.Sprintf(format, args...))
}

func TestMatrix(t *testing.T) {
	rows, wrong := matrix(t)
	golden.Want(t, filepath.Join("testdata", "matrix.txt"), written(rows), *update)
	if wrong != nil {
		t.Errorf("%d checks of what must hold after every event failed; the first of %s", len(wrong), wrong[0])
	}
	t.Run("document", func(t *testing.T) { wantDocument(t, rows) })
}
