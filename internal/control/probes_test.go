package control_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

var ben = approver("ben@acme.example")

// uncertain is a run whose only step is uncertain, and may be probed.
func (f *fixture) uncertain() string {
	f.t.Helper()
	ref := map[string]countersign.InputField{"ref": {Type: "string", Required: true}}
	f.must(refusalOf(f.service.PutProject(background, as("acme"), "acme-pay", countersign.ProjectWrite{Name: "pay", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "pay", Method: "POST", Path: "/pay", Approval: countersign.ApprovalNone, Probe: "look", InputSchema: ref}, {Name: "look", Method: "GET", Path: "/pay/{ref}", InputSchema: ref},
	}})))
	f.must(refusalOf(f.service.CheckHealth(background, as("acme"), "acme-pay")))
	f.must(refusalOf(f.service.EnableProject(background, as("acme"), "acme-pay", countersign.Toggle{ExpectedRevision: 1})))
	p, err := f.service.CreatePlan(background, as("acme"), countersign.PlanWrite{
		Name: "p", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive,
		Steps: []countersign.Step{{ID: "s", ProjectID: "acme-pay", Capability: "pay", Input: values("ref", `"r-1"`)}},
	})
	f.must(err)
	started, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, f.newID("key"))
	f.must(err)
	for _, e := range []run.Event{run.Resumed{}, run.Returned{Step: 0, Attempt: 1, Outcome: request.Outcome{Certainty: request.Unknown, Cause: "no answer"}}} {
		f.must(f.store.Update(background, func(tx store.Tx) error {
			_, err := f.repository.Apply(tx, runrepo.Ref{Tenant: "acme", RunID: started.Run.ID}, nil, e, runrepo.System)
			return err
		}))
	}
	f.answers = request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 200}, Body: countersign.RawValue(`{"state":"done"}`)}
	return started.Run.ID
}

// probes are those of a run's step, each checked to be answered.
func (f *fixture) probes(id string) (ns []int) {
	f.t.Helper()
	r, err := f.service.Run(background, as("acme"), id)
	f.must(err)
	for _, p := range r.Steps[0].Probes {
		if p.Unanswered() {
			f.t.Fatalf("probe %d has no answer", p.N)
		}
		ns = append(ns, p.N)
	}
	return ns
}

// audited are the reasons and outcomes of a run's records of an action.
func (f *fixture) audited(id, action string) (out []string) {
	for _, rec := range f.log("acme", 0) {
		if rec.Subject == "run/"+id && rec.Action == action {
			out = append(out, strings.TrimSpace(rec.Outcome+" "+rec.Reason))
		}
	}
	return out
}

// TestAProbeThatLeftIsKeptThoughItsRunWasReconciled meanwhile: what it saw may contradict that.
func TestAProbeThatLeftIsKeptThoughItsRunWasReconciled(t *testing.T) {
	h := open(t)
	id := h.uncertain()
	h.probed = func() {
		h.must(refusalOf(h.service.ReconcileRun(background, ben, id, countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "nobody knows"})))
	}
	if r, err := h.service.Probe(background, ben, id, "s"); err != nil || r.Status != countersign.RunCancelled {
		t.Errorf("%s: %v", r.Status, err)
	}
	if got := h.probes(id); !slices.Equal(got, []int{1}) {
		t.Errorf("kept are the probes %v", got)
	}
	if sent, kept := h.audited(id, "runs.probe"), h.audited(id, "steps.probe_answered"); !slices.Equal(sent, []string{"done " + id + ".s.probe-1"}) || !slices.Equal(kept, []string{"done " + id + ".s.probe-1: answered 200"}) {
		t.Errorf("audited are %q and %q", sent, kept)
	}
}

// TestNoTwoProbesShareAKey: two processes probe at once, and one whose answer can't be stored is
// followed by another.
func TestNoTwoProbesShareAKey(t *testing.T) {
	h := open(t)
	id := h.uncertain()
	other := h.on(h.store)
	nested := false
	h.probed = func() {
		if !nested {
			nested = true
			h.must(refusalOf(other.Probe(background, ben, id, "s")))
		}
	}
	h.must(refusalOf(h.service.Probe(background, ben, id, "s")))
	h.probed = nil
	h.must(refusalOf(h.service.Probe(background, ben, id, "s")))
	if got := h.probes(id); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("kept are the probes %v", got)
	}
	if keys := h.audited(id, "runs.probe"); len(keys) != 3 || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 3 {
		t.Errorf("their keys are %q", keys)
	}
}

// TestAProbeWhoseAnswerCannotBeStoredHasItsNumber: its intent is committed before it leaves.
func TestAProbeWhoseAnswerCannotBeStoredHasItsNumber(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.uncertain()
		h.probed = func() { h.store.full.Store(true) }
		_, err := h.service.Probe(background, ben, id, "s")
		if countersign.ErrorCode(err) != countersign.CodeUnavailable || !strings.Contains(err.Error(), id+".s.probe-1 was sent") {
			t.Errorf("%v", err)
		}
		h.store.full.Store(false)
		h.probed = nil
		h.must(refusalOf(h.service.Probe(background, ben, id, "s")))
		if keys := h.audited(id, "runs.probe"); !slices.Equal(keys, []string{"done " + id + ".s.probe-1", "done " + id + ".s.probe-2"}) {
			t.Errorf("their keys are %q", keys)
		}
	})
}

// TestASecondProbeAtOnceIsRefusedOnTheRecord.
func TestASecondProbeAtOnceIsRefusedOnTheRecord(t *testing.T) {
	h := open(t)
	id := h.uncertain()
	var second error
	h.probed = func() { second = refusalOf(h.service.Probe(background, ben, id, "s")) }
	h.must(refusalOf(h.service.Probe(background, ben, id, "s")))
	if countersign.ErrorCode(second) != countersign.CodeStateConflict {
		t.Errorf("%v", second)
	}
	if got := h.audited(id, "runs.probe"); len(got) != 2 || !slices.Contains(got, "refused: state_conflict") {
		t.Errorf("audited is %q", got)
	}
}

// TestAHealthCheckThatLeftIsAudited though the project changed meanwhile.
func TestAHealthCheckThatLeftIsAudited(t *testing.T) {
	h := open(t)
	h.checked = func() {
		h.checked = nil
		h.must(refusalOf(h.service.PutProject(background, as("acme"), "acme-one", countersign.ProjectWrite{Name: "one", ExpectedRevision: 1, Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
			{Name: "ping", Method: "GET", Path: "/other"},
		}})))
	}
	from := len(h.log("acme", 0))
	if _, err := h.service.CheckHealth(background, as("acme"), "acme-one"); countersign.ErrorCode(err) != countersign.CodeRevisionConflict {
		t.Errorf("%v", err)
	}
	found := 0
	for _, rec := range h.log("acme", from) {
		if rec.Action == "projects.health_check" && rec.Outcome == countersign.AuditDone && rec.After == "healthy" && rec.Reason == "of revision 1, which is 2 now" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d records say what was sent", found)
	}
}

// TestReconcileWaitsForACallOfThisVeryProcess, whatever the clock says.
func TestReconcileWaitsForACallOfThisVeryProcess(t *testing.T) {
	h := open(t)
	id := h.uncertain()
	h.calls.Store(true)
	h.clock.Store(int64(time.Hour))
	abandon := countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "nobody knows"}
	_, err := h.service.ReconcileRun(background, ben, id, abandon)
	if want := "state_conflict: run " + id + " is RECOVERY_REQUIRED; the call of its step is under way in this very process; say what became of it when it has ended"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	h.calls.Store(false)
	h.must(refusalOf(h.service.ReconcileRun(background, ben, id, abandon)))
}
