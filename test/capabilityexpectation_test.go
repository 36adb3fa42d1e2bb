package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// judgedShop is a project whose capabilities have expectations.
const judgedShop = "default-judged"

func (w *world) judged(t *testing.T) {
	t.Helper()
	p := harness.Project(w.shop.Origin())
	ok := doc{"field": "ok", "equals": true}
	p["capabilities"] = []any{
		harness.Capability("note", "POST", "/notes", doc{"approval": "NONE", "expectation": ok}),
		harness.Capability("refund", "POST", "/refunds", doc{"expectation": ok}),
		harness.Capability("secret", "POST", "/notes", doc{"approval": "NONE", "sensitive": []string{"ok"}, "expectation": ok}),
		harness.Capability("bounded", "POST", "/effect", doc{"approval": "NONE", "inputSchema": doc{
			"amount":   doc{"type": "number", "required": true, "minimum": number("0.01"), "maximum": 500, "description": "in EUR"},
			"currency": doc{"type": "string", "required": false, "enum": []any{"EUR", "USD"}},
			"note":     doc{"type": "string", "required": false, "maxLength": 3, "pattern": "^[a-z]*$"},
		}}),
	}
	w.register(t, judgedShop, p)
}

func judgedStep(id, capability string, input doc) doc {
	return harness.With(step(id, capability, input), "projectId", judgedShop)
}

func TestACapabilitysExpectationJudgesEveryStepOfIt(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.judged(t)
	run := w.reaches(t, w.run(t, judgedStep("n", "note", nil)), "COMPLETED").Is(t, "unverifiedSteps", 0)
	run.Is(t, "steps.0.verification.status", "PASSED").Is(t, "steps.0.verification.field", "ok").Is(t, "steps.0.verification.checks", harness.Absent)
	w.holds(t, w.operator, run.At("id").Text())

	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":false,"n":5}`))
	both := expecting(judgedStep("n", "note", nil), "n", 5)
	run = w.reaches(t, w.run(t, both), "FAILED").Has(t, "error", "expectation_not_met: ok is false").Is(t, "mayHaveHappened", true)
	run.Is(t, "steps.0.verification.field", "ok").Is(t, "steps.0.verification.checks.0.status", "FAILED").Is(t, "steps.0.verification.checks.1.status", "PASSED")

	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"n":6}`))
	w.reaches(t, w.run(t, both), "FAILED").Has(t, "error", "expectation_not_met: n is 6")
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"n":5}`))
	w.reaches(t, w.run(t, both), "COMPLETED").Is(t, "steps.0.verification.checks.1.expected", 5)
}

func TestAnApprovalShowsWhatItsCapabilityAndItsStepExpect(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.judged(t)
	ok := doc{"field": "ok", "equals": true}
	w.approval(t, w.run(t, judgedStep("r", "refund", nil))).Is(t, "expectation", ok)
	id := w.run(t, expecting(judgedStep("r", "refund", nil), "ok", true))
	w.approval(t, id).Is(t, "expectation", []any{ok, ok})
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
	w.holds(t, w.operator, id)
}

// TestReconcilingMustMeetTheCapabilitysExpectation as well as the step's.
func TestReconcilingMustMeetTheCapabilitysExpectation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.judged(t)
	w.shop.On("POST", "/notes", harness.Answering(500, `{}`))
	id := w.reaches(t, w.run(t, judgedStep("n", "note", nil)), "RECOVERY_REQUIRED").At("id").Text()
	done := doc{"resolution": "CONFIRMED_COMPLETED", "evidence": "seen", "output": doc{"ok": false}}
	w.approver.Post("/runs/"+id+"/reconcile", done).Refused(t, "expectation_not_met", "ok is false")
	w.approver.Post("/runs/"+id+"/reconcile", harness.With(done, "output", doc{"ok": true})).OK(t)
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.verification.status", "PASSED")
}

func TestLiveAgentRunsOfACapabilityWithAnExpectationNeedNoneOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.judged(t)
	synced := syncTo(w.operator, judgedShop, agentItem("clerk", "note", "refund")).OK(t)
	id := synced.At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "fine"}).OK(t)
	live := harness.Without(agentRun("LIVE", "note", nil), "expectation")
	run := w.asks(id, live).OK(t)
	w.reaches(t, run.At("id").Text(), "COMPLETED").Is(t, "unverifiedSteps", 0)
}

func TestInputsOutsideTheirBoundsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.judged(t)
	for _, bad := range []struct {
		input doc
		why   string
	}{
		{doc{"amount": 0}, "steps[0].input.amount: must be at least 0.01"},
		{doc{"amount": number("500.000000000000000000001")}, "steps[0].input.amount: must be at most 500"},
		{doc{"amount": 1, "currency": "GBP"}, `steps[0].input.currency: must be one of "EUR", "USD"`},
		{doc{"amount": 1, "note": "abcd"}, "steps[0].input.note: must not be longer than 3 characters"},
		{doc{"amount": 1, "note": "A"}, "steps[0].input.note: must match the pattern ^[a-z]*$"},
	} {
		w.operator.Post("/plans", planOf(judgedStep("s", "bounded", bad.input))).OK(t).Is(t, "status", "INVALID").Is(t, "validationErrors", []string{bad.why})
	}
	w.reaches(t, w.run(t, judgedStep("s", "bounded", doc{"amount": number("500.00"), "currency": "EUR", "note": ""})), "COMPLETED")

	// A bound value is known only when the step begins: nothing is sent.
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"n":501}`))
	bound := harness.With(judgedStep("s", "bounded", nil), "dependsOn", []string{"n"})
	bound["inputBindings"] = doc{"amount": doc{"stepId": "n", "field": "n"}}
	before := len(w.shop.Seen("POST", "/effect"))
	w.reaches(t, w.run(t, judgedStep("n", "note", nil), bound), "FAILED").Has(t, "error", "not_sent: ", "amount", "at most 500")
	if now := len(w.shop.Seen("POST", "/effect")); now != before {
		t.Errorf("%d requests were sent", now-before)
	}
}

func TestConstraintsThatFitNoInputAreRefusedAtRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	for path, field := range map[string]doc{
		"minimum":   {"type": "string", "required": false, "minimum": 1},
		"maximum":   {"type": "number", "required": false, "minimum": 2, "maximum": 1},
		"maxLength": {"type": "string", "required": false, "maxLength": 0},
		"enum":      {"type": "string", "required": false, "enum": []any{}},
		"enum[0]":   {"type": "number", "required": false, "enum": []any{"1"}},
		"pattern":   {"type": "string", "required": false, "pattern": "("},
	} {
		p["capabilities"] = []any{harness.Capability("c", "POST", "/notes", doc{"inputSchema": doc{"a": field}})}
		w.Admin.Put("/projects/default-bad", p).Refused(t, "invalid_request", "capabilities[0].inputSchema.a."+path)
	}
	p["capabilities"] = []any{harness.Capability("c", "POST", "/notes", doc{"expectation": doc{"field": "", "equals": 1}})}
	w.Admin.Put("/projects/default-bad", p).Refused(t, "invalid_request", "capabilities[0].expectation.field")
}

func TestWhatASensitiveFieldMustBeIsMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.judged(t)
	id := w.run(t, expecting(judgedStep("s", "secret", nil), "ok", true))
	w.reaches(t, id, "COMPLETED")
	w.viewer.Get("/projects/"+judgedShop).OK(t).Is(t, "capabilities.2.expectation.equals", "•••").Is(t, "capabilities.0.expectation.equals", true)
	run := w.viewer.Get("/runs/"+id).OK(t).Is(t, "planSnapshot.projectSnapshots.0.capabilities.2.expectation.equals", "•••")
	run.Is(t, "steps.0.verification.checks.0.expected", "•••").Is(t, "steps.0.verification.checks.1.actual", "•••")
	w.approver.Get("/projects/"+judgedShop).OK(t).Is(t, "capabilities.2.expectation.equals", true)
}

func TestRemovingOrChangingAnExpectationWeakens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	for i, change := range []struct {
		expectation any
		weakens     bool
	}{{nil, false}, {doc{"field": "ok", "equals": true}, false}, {doc{"field": "ok", "equals": 1}, true}, {doc{"field": "ok", "equals": number("1.0")}, false}, {nil, true}} {
		more := doc{"approval": "NONE", "description": number("1").String() + string(rune('a'+i))}
		if change.expectation != nil {
			more["expectation"] = change.expectation
		}
		p["capabilities"] = []any{harness.Capability("note", "POST", "/notes", more)}
		w.Admin.Put("/projects/default-edited", harness.With(p, "expectedRevision", i)).OK(t)
		if got := w.weakens(t, "project/default-edited"); got != change.weakens {
			t.Errorf("edit %d: weakens is %v", i, got)
		}
	}
}
