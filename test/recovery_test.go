package test

import (
	"bytes"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// reconcile is a reviewer's statement about an uncertain step.
func reconcile(resolution string, output doc) doc {
	body := doc{"resolution": resolution, "evidence": "looked at the ledger"}
	if output != nil {
		body["output"] = output
	}
	return body
}

func TestConfirmedCompletedCompletesTheStepAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/effect", harness.Answering(500, `{}`))
	id := w.run(t, expecting(step("a", "effect", nil), "id", "r-1"), bound("b", "note", "text", "a", "id"))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.error.code", "outcome_unknown").Is(t, "steps.0.response.statusCode", 500)
	run := w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"id": "r-1"})).OK(t)
	run.Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.output", doc{"id": "r-1"}).Is(t, "steps.0.verification.status", "PASSED").Is(t, "steps.0.error", harness.Absent)
	run.Is(t, "steps.0.reconciliation.resolution", "CONFIRMED_COMPLETED").Is(t, "steps.0.reconciliation.evidence", "looked at the ledger")
	if run.At("steps.0.reconciliation.by").Text() == "" || run.At("steps.0.reconciliation.at").Text() == "" {
		t.Error(run)
	}
	w.reaches(t, id, "COMPLETED")
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"text":"r-1"}` {
		t.Errorf("the bound body was %s", got)
	}
}

func TestAnUnmetExpectationRefusesTheReconcileAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/effect", harness.HangingUp())
	id := w.run(t, harness.With(expecting(step("a", "effect", nil), "id", "r-1"), "expectation.statusCode", 201))
	before := w.reaches(t, id, "RECOVERY_REQUIRED")
	for _, output := range []doc{nil, {}, {"id": "r-2"}, {"other": "r-1"}} {
		w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", output)).Refused(t, "expectation_not_met")
	}
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "revision", before.At("revision")).Is(t, "steps.0.reconciliation", harness.Absent)
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"id": "r-1"})).OK(t).Is(t, "status", "COMPLETED") // the expectation on the status code doesn't apply
}

func TestAConfirmedOutputIsSelectedAsAnAnswerWouldBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		output doc
		want   any
	}{
		{doc{"result": doc{"n": 1}}, doc{"n": 1}}, {doc{"n": 1}, doc{"n": 1}}, {nil, nil}, {doc{"result": nil}, nil},
	} {
		w.shop.On("POST", "/count", harness.Answering(500, `{}`))
		id := w.run(t, step("a", "count", nil))
		w.reaches(t, id, "RECOVERY_REQUIRED")
		run := w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", c.output)).OK(t).Is(t, "status", "COMPLETED")
		run.Is(t, "steps.0.output", c.want).Is(t, "unverifiedSteps", 1).Is(t, "steps.0.verification.status", "NOT_REQUESTED")
	}
}

func TestConfirmedNotExecutedSendsTheSameBytesUnderTheSameKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(503, `{}`), harness.Answering(200, `{"ok":true}`))
	id := w.run(t, step("n", "note", doc{"text": "hello", "n": number("1.0")}))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.shop.MayRepeat(id + ".n")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t)
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.attempt", 2).Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.output", doc{"ok": true}).Is(t, "steps.0.error", harness.Absent)
	sent := w.shop.Seen("POST", "/notes")
	if len(sent) != 2 || !bytes.Equal(sent[0].Body, sent[1].Body) || sent[0].Target != sent[1].Target {
		t.Fatalf("%d requests were sent", len(sent))
	}
	for _, q := range sent {
		if q.Header.Get("Idempotency-Key") != id+".n" {
			t.Errorf("the key is %s", q.Header.Get("Idempotency-Key"))
		}
	}
}

func TestConfirmedNotExecutedPassesTheApprovalGateAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`), harness.Answering(200, `{}`))
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	first := w.approval(t, id).At("id").Text()
	w.approve(t, id)
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.shop.MayRepeat(id + ".r")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t)
	second := w.approval(t, id).Is(t, "attempt", 2)
	if second.At("id").Text() == first {
		t.Error("the old approval let a second request out")
	}
	w.viewer.Get("/approvals/"+first).OK(t).Is(t, "status", "APPROVED").Is(t, "requestDigest", second.At("requestDigest"))
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
}

func TestA409FromTheSecondAttemptOnIsUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(500, `{}`), harness.Answering(409, `{}`))
	id := w.run(t, step("n", "note", nil))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.shop.MayRepeat(id + ".n")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t)
	w.shop.Await(t, "POST", "/notes", 2)
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.attempt", 2).Is(t, "steps.0.response.statusCode", 409)
}

func TestAbandonCancelsTheRunAndLeavesTheEffectUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/effect", harness.Answering(500, `{}`))
	id := w.run(t, step("a", "effect", nil), step("b", "note", nil))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	run := w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t).Is(t, "status", "CANCELLED").Has(t, "error", "abandoned: ")
	run.Is(t, "steps.0.status", "ABANDONED").Is(t, "steps.1.status", "CANCELLED").Is(t, "waitingFor", harness.Absent)
}

func TestOnlyAnUncertainRunIsReconciledAndOnlyWithEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	done := w.run(t, step("n", "note", nil))
	w.reaches(t, done, "COMPLETED")
	waiting := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, waiting)
	for _, id := range []string{done, waiting} {
		w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "state_conflict", id)
	}
	id := w.uncertain(t).At("id").Text()
	for _, bad := range []doc{
		{"resolution": "ABANDON", "evidence": " \n"}, {"resolution": "ABANDON", "evidence": ""}, {"resolution": "ABANDON"}, {"evidence": "e"},
		{"resolution": "COMPLETED", "evidence": "e"}, {"resolution": "ABANDON", "evidence": "e", "output": []any{}},
	} {
		w.approver.Post("/runs/"+id+"/reconcile", bad).Refused(t, "invalid_request")
	}
	w.approver.Post("/runs/none/reconcile", reconcile("ABANDON", nil)).Refused(t, "not_found")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t)
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "state_conflict")
}

func TestAnUncertainRunHoldsNoSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	w.uncertain(t)
	w.approval(t, w.run(t, step("r", "refund", doc{"orderId": "o"})))
	w.reaches(t, w.run(t, step("l", "lookup", doc{"resourceId": "o"})), "COMPLETED")
}

func TestAProbeReadsAndKeepsItsAnswerAndDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	w.shop.On("GET", "/refunds/ord-7", harness.Answering(200, `{"status":"refunded"}`), harness.Answering(404, `{}`))
	id := w.run(t, step("r", "refund", doc{"orderId": "ord-7", "amount": 5}))
	w.approve(t, id)
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t) // a probe is allowed then
	run := w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "r"}).OK(t).Is(t, "status", "RECOVERY_REQUIRED")
	run.Is(t, "steps.0.probes.0.n", 1).Is(t, "steps.0.probes.0.capability", "refund-status").Is(t, "steps.0.probes.0.output", doc{"status": "refunded"}).
		Is(t, "steps.0.probes.0.response.statusCode", 200).Is(t, "steps.0.probes.0.request.url", w.shop.Origin()+"/refunds/ord-7")
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "r"}).OK(t).Is(t, "steps.0.probes.1.n", 2).Is(t, "steps.0.probes.1.response.statusCode", 404)
	for i, q := range w.shop.Seen("GET", "/refunds/ord-7") {
		want := id + ".r.probe-" + string(rune('1'+i))
		if got := q.Header.Get("Idempotency-Key"); got != want {
			t.Errorf("the probe's key is %s, expected %s", got, want)
		}
		if err := harness.CheckSignature(q, harness.Secret); err != nil {
			t.Error(err)
		}
	}
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.status", "RECOVERY_REQUIRED")
}

func TestOnlyAnUncertainStepWithAProbeIsProbed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.uncertain(t).At("id").Text()
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "note"}).Refused(t, "state_conflict", "probe")
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "nothing"}).Refused(t, "invalid_request", "stepId")
	w.approver.Post("/runs/"+id+"/probe", doc{}).Refused(t, "invalid_request", "stepId")
	w.approver.Post("/runs/none/probe", doc{"stepId": "note"}).Refused(t, "not_found")
	waiting := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, waiting)
	w.approver.Post("/runs/"+waiting+"/probe", doc{"stepId": "r"}).Refused(t, "state_conflict")
}
