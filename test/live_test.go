package test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func expecting(s doc, field string, equals any) doc {
	return harness.With(s, "expectation", doc{"field": field, "equals": equals})
}

func TestALiveRunGoesThroughApprovalAndVerification(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := `{"status":"refunded","id":"r-1","amount":10.0}`
	w.shop.On("POST", "/refunds", harness.Answering(201, answer))
	refund := expecting(step("refund", "refund", doc{"orderId": "ord-7", "amount": 10}), "status", "refunded")
	refund = harness.With(refund, "expectation.statusCode", 201)
	id := w.run(t, refund, harness.With(bound("note", "note", "amount", "refund", "amount"), "input", doc{"text": "done"}))
	approval := w.approval(t, id)
	waiting := w.viewer.Get("/runs/"+id).OK(t).Is(t, "waitingFor.kind", "approval").Is(t, "waitingFor.role", "APPROVER").Is(t, "waitingFor.stepId", "refund")
	waiting.Is(t, "waitingFor.operation", "POST /approvals/"+approval.At("id").Text()+"/decision").Is(t, "waitingFor.approvalId", approval.At("id")).Is(t, "approvalId", approval.At("id"))
	waiting.Is(t, "waitingFor.expiresAt", approval.At("expiresAt")).Is(t, "steps.0.status", "WAITING_APPROVAL").Is(t, "steps.0.request", approval.At("request"))
	approval.Is(t, "runId", id).Is(t, "stepId", "refund").Is(t, "status", "PENDING").Is(t, "projectId", shop).Is(t, "capability", "refund").Is(t, "inputSnapshot", doc{"orderId": "ord-7", "amount": 10})
	approval.Is(t, "request.url", w.shop.Origin()+"/refunds").Is(t, "requestedBy", waiting.At("requestedBy")).Is(t, "planId", waiting.At("planId"))
	w.approve(t, id)
	run := w.reaches(t, id, "COMPLETED").Is(t, "waitingFor", harness.Absent).Is(t, "unverifiedSteps", 1)
	run.Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.attempt", 1).Is(t, "steps.0.output.id", "r-1").Is(t, "steps.0.response.statusCode", 201).Is(t, "steps.0.response.bytes", len(answer))
	run.Is(t, "steps.0.verification", doc{"status": "PASSED", "field": "status", "expected": "refunded", "actual": "refunded", "statusCode": 201})
	sum := sha256.Sum256([]byte(answer))
	run.Is(t, "steps.0.response.bodySha256", hex.EncodeToString(sum[:]))
	run.Is(t, "steps.1.verification", doc{"status": "NOT_REQUESTED"}).Is(t, "steps.1.input", doc{"text": "done", "amount": number("10.0")})
	q := w.shop.Seen("POST", "/refunds")[0]
	if want := `{"amount":10,"orderId":"ord-7"}`; string(q.Body) != want {
		t.Errorf("the body was %s", q.Body)
	}
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"amount":10.0,"text":"done"}` {
		t.Errorf("the bound body was %s", got) // digit for digit
	}
	if run.At("completedAt").Text() == "" || run.At("steps.0.startedAt").Text() == "" || run.At("steps.0.completedAt").Text() == "" {
		t.Error(run)
	}
}

func TestStepsRunOneAtATimeInTopologicalOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	on := func(id string, deps ...string) doc {
		s := step(id, "note", doc{"id": id})
		if len(deps) > 0 {
			s["dependsOn"] = deps
		}
		return s
	}
	w.reaches(t, w.run(t, on("d", "b", "c"), on("b", "a"), on("x"), on("a"), on("c")), "COMPLETED")
	var order []string
	for _, q := range w.shop.Seen("POST", "/notes") {
		order = append(order, strings.Trim(strings.TrimPrefix(string(q.Body), `{"id":`), `"}`))
	}
	if got := strings.Join(order, ""); got != "xabcd" {
		t.Errorf("the order was %s", got) // ties in plan order
	}
}
