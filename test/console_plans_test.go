package test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestThePageOfALongPlanIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	var steps []doc
	for i := range 100 {
		s := step(fmt.Sprintf("step-%d", i), "refund", doc{"orderId": fmt.Sprintf("ord-%d", i)})
		if i > 0 {
			s["dependsOn"] = []string{fmt.Sprintf("step-%d", i-1)}
			s["inputBindings"] = doc{"amount": doc{"stepId": fmt.Sprintf("step-%d", i-1), "field": "amount"}}
		}
		s["expectation"] = doc{"field": "status", "equals": "succeeded"}
		steps = append(steps, s)
	}
	p := reads(t, ada.Open("/plans/"+w.ready(t, planOf(steps...))), 200, "100 steps ask for approval before anything is sent.", `id="step-100"`)
	if size := len(p.Text); size > 150_000 {
		t.Errorf("the page has %d bytes", size)
	}
}

func TestLongInputsAreShownOneStepAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	long := strings.Repeat("x", 5000)
	path := "/plans/" + w.ready(t, planOf(step("a", "note", doc{"text": long})))
	if p := reads(t, ada.Open(path), 200, "inputs of 4.9\u00a0KiB"); strings.Contains(p.Text, long) {
		t.Error("a long input stands in the list")
	}
	reads(t, ada.Open(path+"?step=a"), 200, long)
}

func TestErrorsStandBesideTheirStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	bad := planOf(step("a", "note", doc{"text": "t"}), step("b", "nothing", nil))
	bad["modelRevision"] = 7
	id := w.operator.Post("/plans", bad).OK(t).Is(t, "status", "INVALID").At("id").Text()
	p := reads(t, ada.Open("/plans/"+id), 200, "This plan can't run: it has 2\u00a0errors.", "model refund is at revision 1, not 7")
	_, b, _ := strings.Cut(p.Text, `id="step-2"`)
	if !strings.Contains(b, "has no capability nothing") {
		t.Errorf("the error is not beside its step: %s", b)
	}
	if strings.Contains(p.Text, id+"/runs") {
		t.Error("an invalid plan can be started")
	}
	reads(t, ada.Open("/plans?status=INVALID"), 200, id)
	if p := reads(t, ada.Open("/plans?status=READY"), 200, "Nothing matches."); strings.Contains(p.Text, id) {
		t.Error("the filter lets an invalid plan through")
	}
	reads(t, ada.Open("/plans?model=refund"), 200, id)
	reads(t, ada.Open("/plans?model=other"), 200, "Nothing matches.")
}

func TestAPlanThatDriftedSaysWhatChangedAndHasNoStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	path := "/plans/" + w.ready(t, planOf(step("a", "note", doc{"text": "t"})))
	before := ada.Open(path)
	start := formTo(t, before, path+"/runs", nil)
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 1}).OK(t)
	after := reads(t, ada.Open(path), 200, "This plan is out of date", "revision 2", "Copy to a new plan")
	if strings.Contains(after.Text, path+"/runs") {
		t.Error("a plan that drifted can be started")
	}
	reads(t, ada.Submit(path+"/runs", start), 409, "drift")
}

func TestAStartBeyondTheSlotsIsRefusedInWordsAndBurnsNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	ada := w.person(t, "ada@example.com", "OPERATOR")
	path := "/plans/" + w.ready(t, planOf(step("a", "note", doc{"text": "t"})))
	busy, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	p := ada.Open(path)
	again := reads(t, ada.Submit(path+"/runs", formTo(t, p, path+"/runs", nil)), 503, "No slot is free: 1 of 1 are in use; try again when a run has ended or waits.")
	close(gate)
	w.reaches(t, busy, "COMPLETED")
	key := formTo(t, again, path+"/runs", nil)
	if key.Get("key") != formTo(t, p, path+"/runs", nil).Get("key") {
		t.Error("the page shown again has another key")
	}
	started := ada.Submit(path+"/runs", key)
	w.reaches(t, strings.TrimPrefix(started.URL.Path, "/console/runs/"), "COMPLETED")
}

func TestARehearsedPlanIsPostedAgainAsLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	dry := planOf(step("a", "note", doc{"text": "249.00", "n": number("249.00")}))
	dry["mode"] = "DRY_RUN"
	id := w.ready(t, dry)
	reads(t, ada.Open("/plans/"+id), 200, "nothing is sent", "Make it live…")
	p := reads(t, ada.Open("/plans/new?from="+id+"&mode=LIVE"), 200, "Copied from")
	live := reads(t, ada.Submit("/plans", formTo(t, p, "/plans", url.Values{"plan": {textOf(t, p, "plan")}})), 200, "Ready to run live.", `"249.00"`)
	made := w.operator.Get(strings.TrimPrefix(live.URL.Path, "/console")).OK(t)
	made.Is(t, "mode", "LIVE").Is(t, "planDigest", w.operator.Get("/plans/"+id).OK(t).At("planDigest"))
	typed := url.Values{"plan": {`{"name": "x"}`}}
	p = reads(t, ada.Submit("/plans", formTo(t, ada.Open("/plans/new"), "/plans", typed)), 400, "Nothing was stored. Your text is kept.", "steps")
	if textOf(t, p, "plan") != `{"name": "x"}` {
		t.Error("the refused plan is another one")
	}
}
