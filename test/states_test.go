package test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// capabilityNamed finds a capability of a project's document.
func capabilityNamed(all []any, name string) doc {
	for _, c := range all {
		if c.(doc)["name"] == name {
			return c.(doc)
		}
	}
	return nil
}

// TestAnAgentIsToldOnlyThatAStateDidntHoldOrHasChanged, over MCP and by its token: never a value, unless
// the read is one of its own capabilities.
func TestAnAgentIsToldOnlyThatAStateDidntHoldOrHasChanged(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{"expectation": doc{"field": "status", "equals": "done"}})
	d.becomes(`{"state":"returned","total":4711.59}`)
	ids := w.admitted(t, agentItem("clerk", "refund", "refund"), harness.With(agentItem("reader", "", "refund"), "capabilities", []any{"refund", "order"}))
	clerk, _ := w.agentToken(t, ids[0])
	reader, _ := w.agentToken(t, ids[1])
	a, b := w.enters(t, clerk, ids[0]), w.enters(t, reader, ids[1])
	call := func(by agentByMCP, who *harness.Client, order string) (run json, approval json) {
		t.Helper()
		answer := by.runs("refund", doc{"resourceId": order, "amount": 1}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
		noneOf(t, answer.String(), "4711.59")
		run = who.Get("/runs/" + answer.At("runId").Text()).OK(t)
		return run, w.Admin.Get("/approvals/" + run.At("waitingFor.approvalId").Text()).OK(t)
	}
	run, approval := call(a, clerk, "A-1")
	noneOf(t, run.String(), "4711.59", approval.At("stateDigest").Text())
	run.Is(t, "steps.0.looks.0.capability", "order").Is(t, "steps.0.looks.0.values", harness.Absent)
	own, _ := call(b, reader, "A-2")
	own.Is(t, "steps.0.looks.0.values.total", number("4711.59"))

	d.becomes(`{"state":"returned","total":4712.60}`)
	w.approver.Post("/approvals/"+approval.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
	w.asksAnew(t, run.At("id").Text(), approval.At("id").Text()).Is(t, "changed.0.field", "total")
	changed := a.runs("run_status", doc{"runId": run.At("id").Text()}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
	noneOf(t, changed.String(), "4711.59", "4712.60")
	noneOf(t, clerk.Get("/runs/"+run.At("id").Text()).OK(t).String(), "4711.59", "4712.60")

	d.becomes(`{"state":"refunded-4713","total":1}`)
	failed, _ := a.call("refund", doc{"resourceId": "A-3", "amount": 1})
	failed.Is(t, "outcome", "REFUSED").Has(t, "error", "precondition_failed")
	noneOf(t, failed.String(), "4713")
	d.becomes(`{"state":"returned"}`)
	unknown, _ := a.call("refund", doc{"resourceId": "A-4", "amount": 1})
	unknown.Is(t, "outcome", "REFUSED").Has(t, "error", "precondition_unknown")

	// What a precondition held back was never sent: the same call is a new run, and a rehearsal tells no condition.
	d.becomes(`{"state":"returned","total":1}`)
	again := a.runs("refund", doc{"resourceId": "A-3", "amount": 1}).Is(t, "outcome", "WAITING_FOR_A_PERSON").Is(t, "replayed", false)
	if again.At("runId").Text() == failed.At("runId").Text() {
		t.Error("what was held back is found again")
	}
	rehearsed := w.rehearses(t, clerk, ids[0]).runs("refund", doc{"resourceId": "A-5", "amount": 1}).Is(t, "outcome", "REHEARSED")
	clerk.Get("/runs/"+rehearsed.At("runId").Text()).OK(t).Is(t, "steps.0.wouldCheck", doc{"capability": "order", "fields": []any{"state", "total"}})
}

// TestAViewerSeesNothingOfASensitiveState: values, which field changed, the condition and the digests are
// masked, and both codes read precondition_unknown.
func TestAViewerSeesNothingOfASensitiveState(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	w.viewer = w.principal(t, "VIEWER")
	p := doc{
		"name": "Returns", "adapter": "HTTP_JSON", "baseUrl": d.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"capabilities": conditionally(doc{}), "expectedRevision": 1,
	}
	capabilityNamed(p["capabilities"].([]any), "order")["sensitive"] = []any{"total"}
	w.register(t, shop, p)
	d.becomes(`{"state":"returned","total":4711.59}`)
	id := w.run(t, step("pay", "refund", doc{"resourceId": "A-1"}))
	first := w.asksAnew(t, id, "")
	d.becomes(`{"state":"returned","total":4712.60}`)
	w.approver.Post("/approvals/"+first.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
	second := w.asksAnew(t, id, first.At("id").Text()).Is(t, "changed.0.then", number("4711.59"))
	secrets := []string{"4711.59", "4712.60", first.At("stateDigest").Text(), second.At("stateDigest").Text()}
	seen := w.viewer.Get("/approvals/"+second.At("id").Text()).OK(t).Is(t, "state.values.total", "•••").Is(t, "changed.0.field", "•••")
	noneOf(t, seen.String(), secrets...)
	noneOf(t, w.viewer.Get("/runs/"+id).OK(t).String(), secrets...)
	noneOf(t, w.viewer.Get("/projects/"+shop).OK(t).String(), `"returned"`)
	w.approver.Post("/approvals/"+second.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
	w.reaches(t, id, "COMPLETED")
	noneOf(t, w.viewer.Get("/runs/"+id+"/receipt").OK(t).String(), secrets...)

	d.becomes(`{"state":"refunded","total":1}`)
	held := w.run(t, step("pay", "refund", doc{"resourceId": "A-2"}))
	w.reaches(t, held, "FAILED").Is(t, "steps.0.error.code", "precondition_failed")
	w.viewer.Get("/runs/"+held).OK(t).Is(t, "steps.0.error.code", "precondition_unknown").Has(t, "error", "precondition_unknown: •••")
}

// TestAnEchoLooksAtItsOwnEcho: the inputs that the read takes are what it finds.
func TestAnEchoLooksAtItsOwnEcho(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-echo", doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": conditionally(doc{
		"approval":     "NONE",
		"precondition": doc{"capability": "order", "fields": []any{"resourceId"}, "when": doc{"kind": "predicate", "variableId": "resourceId", "operator": "eq", "value": "A-1"}},
	})})
	call := func(order string) doc { return within("default-echo", step("pay", "refund", doc{"resourceId": order})) }
	w.reaches(t, w.run(t, call("A-1")), "COMPLETED").Is(t, "steps.0.looks.0.values.resourceId", "A-1")
	w.reaches(t, w.run(t, call("A-2")), "FAILED").Is(t, "steps.0.error.code", "precondition_failed")
}

// TestEachLookCountsInTheBudgetOfTheRead, is signed and audited like a probe.
func TestEachLookCountsInTheBudgetOfTheRead(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	p := doc{
		"name": "Returns", "adapter": "HTTP_JSON", "baseUrl": d.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"capabilities": conditionally(doc{"approval": "NONE"}), "expectedRevision": 1,
	}
	capabilityNamed(p["capabilities"].([]any), "order")["budgets"] = []any{doc{"count": 2, "window": "720h", "then": "DENY", "reason": "so often"}}
	w.register(t, shop, p)
	for _, order := range []string{"A-1", "A-2"} {
		w.reaches(t, w.run(t, step("pay", "refund", doc{"resourceId": order})), "COMPLETED")
	}
	id := w.run(t, step("pay", "refund", doc{"resourceId": "A-3"}))
	w.reaches(t, id, "FAILED").Is(t, "steps.0.error.code", "precondition_unknown").Is(t, "mayHaveHappened", harness.Absent)
	d.has(t, 2, 2)
	looks := w.tenantAdmin.Get("/audit?action=steps.look").OK(t).Is(t, "total", 2).Is(t, "items.0.actor", "system").Is(t, "items.0.step", "pay")
	if key := looks.At("items.0.reason").Text(); !strings.HasSuffix(key, ".pay~look-1") {
		t.Errorf("the record names the key %q", key)
	}
	w.tenantAdmin.Get("/audit?action=steps.looked").OK(t).Is(t, "total", 2).Has(t, "items.0.reason", "~look-1: answered 200")
}

// TestAPasskeySignsTheStateToo: `countersign decision v2`, and one that signed the request alone is refused.
func TestAPasskeySignsTheStateToo(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := &world{Server: harness.Start(t, harness.Set("CONNECTION_ORIGINS", d.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret), harness.Set("PUBLIC_URL", keyOrigin))}
	w.Keep(harness.Secret)
	w.operator, w.approver, w.tenantAdmin, w.viewer = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER"), w.principal(t, "ADMIN"), w.principal(t, "VIEWER")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	w.register(t, shop, doc{
		"name": "Returns", "adapter": "HTTP_JSON", "baseUrl": d.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}, "capabilities": conditionally(doc{}),
	})
	w.Admin.Put("/settings", doc{"decisionAssertion": "PASSKEY", "reason": "policy 7.2"}).OK(t)
	ada := w.signer(t, "ada@example.com")
	id := w.run(t, step("pay", "refund", doc{"resourceId": "A-1"}))
	a := w.asksAnew(t, id, "")
	name, request, state := a.At("id").Text(), a.At("requestDigest").Text(), a.At("stateDigest").Text()
	ada.decides(t, a, answered("APPROVED", "seen", ada.device.Sign(challenge(name, request, "APPROVED", "seen")))).Refused(t, "assertion_invalid")
	why := sha256.Sum256([]byte("seen"))
	v2 := sha256.Sum256([]byte("countersign decision v2\n" + name + "\n" + request + "\n" + state + "\nAPPROVED\n" + hex.EncodeToString(why[:])))
	ada.decides(t, a, answered("APPROVED", "seen", ada.device.Sign(v2[:]))).OK(t)
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.stateDigest", state)
	w.holds(t, w.Admin, id).Is(t, "summary", "valid")
}

// TestADecisionOnAnotherRequestOrStateIsRefused, by the API and by a page that showed another one.
func TestADecisionOnAnotherRequestOrStateIsRefused(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	mara := w.person(t, "mara@example.com", "APPROVER")
	id := w.run(t, step("pay", "refund", doc{"resourceId": "A-1"}))
	a := w.asksAnew(t, id, "")
	path := "/approvals/" + a.At("id").Text()
	decision := doc{"decision": "APPROVED", "reason": "seen", "requestDigest": a.At("requestDigest").Text(), "stateDigest": a.At("stateDigest").Text()}
	for _, member := range []string{"requestDigest", "stateDigest"} {
		w.approver.Post(path+"/decision", harness.With(decision, member, strings.Repeat("0", 64))).Refused(t, "state_conflict", "another")
	}
	p := mara.Open(path)
	mustSay(t, p, 200, "59.00", "order")
	d.becomes(`{"state":"returned","total":60}`)
	w.approver.Post(path+"/look", nil).OK(t).Is(t, "state.values.total", 60).Is(t, "status", "PENDING")
	mustSay(t, mara.Submit(path+"/decision", sheetFields(p, "decision", "APPROVED", "reason", "59 is right")), 409, "state_conflict")
	w.approver.Post(path+"/decision", decision).Refused(t, "state_conflict", "another state")
	d.has(t, 2, 0)
}

// TestWhoAskedForARunDoesntSettleIt: four eyes, as for reconcile; while stopped the service asks and
// withdraws nothing; keys change under an unfinished run, which is drift for none.
func TestWhoAskedForARunDoesntSettleIt(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	both := w.principal(t, "OPERATOR", "APPROVER")
	w.tenantAdmin.Post("/stop", doc{"reason": "look first"}).OK(t)
	held := w.run(t, step("pay", "pay", doc{"amount": 1}))
	other := "ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
	w.tenantAdmin.Put("/projects/"+shop+"/answer-keys", doc{"answerKeys": []any{other, b.key}}).OK(t)
	w.approver.Put("/projects/"+shop+"/answer-keys", doc{"answerKeys": []any{b.key}}).Refused(t, "role_required")
	w.tenantAdmin.Post("/go", doc{"reason": "looked"}).OK(t)
	w.reaches(t, held, "COMPLETED").Has(t, "steps.0.answeredBy.keyId", "")

	b.line = "never arrives"
	b.before = func() { w.tenantAdmin.Post("/stop", doc{"reason": "while it is on its way"}).OK(t) }
	id := both.Post("/projects/"+shop+"/runs", doc{"capability": "pay", "mode": "LIVE", "inputs": doc{}}, key()).OK(t).At("id").Text()
	run, n := w.says(t, id, "UNSEEN")
	run.Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.settledBy", harness.Absent)
	for _, action := range []string{"CONFIRM", "WITHDRAW"} {
		both.Post("/runs/"+id+"/settle", doc{"stepId": run.At("steps.0.id").Text(), "n": n, "action": action, "reason": "mine"}).Refused(t, "self_approval")
	}
	w.tenantAdmin.Get("/audit?action=steps.withdraw").OK(t).Is(t, "total", 0)
	w.tenantAdmin.Post("/go", doc{"reason": "looked"}).OK(t)
	w.settles(t, id, "FAILED").Is(t, "steps.0.error.code", "withdrawn").Is(t, "mayHaveHappened", harness.Absent)
	w.tenantAdmin.Get("/audit?action=steps.settle").OK(t).Is(t, "total", 1).Is(t, "items.0.actor", "system")
	b.had(t, 1)
}
