package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// rehearsed makes a DRY_RUN of these steps and waits for its end.
func (w *world) rehearsed(t *testing.T, steps ...doc) json {
	t.Helper()
	return w.reaches(t, w.start(t, w.ready(t, harness.With(planOf(steps...), "mode", "DRY_RUN"))), "COMPLETED")
}

func TestADryRunOpensNoConnectionAndSimulatesEveryStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.shop.Connections()
	refund := step("pay", "refund", doc{"orderId": "ord-1", "amount": number("10.50")})
	refund["expectation"] = doc{"field": "status", "equals": "refunded"}
	run := w.rehearsed(t, step("look", "lookup", doc{"resourceId": "ord-1"}), refund, step("find", "search", doc{"q": "a b&c", "n": 1}))
	if now := w.shop.Connections(); now != before {
		t.Errorf("%d connections were opened", now-before)
	}
	run.Is(t, "mode", "DRY_RUN").Is(t, "approvalId", harness.Absent).Is(t, "error", harness.Absent).Is(t, "unverifiedSteps", 0)
	for i, s := range run.At("steps").Items() {
		s.Is(t, "status", "SIMULATED").Is(t, "output", nil).Is(t, "response", harness.Absent).Is(t, "verification.status", "SIMULATED")
		if len(s.At("requestDigest").Text()) != 64 {
			t.Errorf("step %d has the digest %s", i, s.At("requestDigest"))
		}
	}
	run.Is(t, "steps.0.request", doc{"method": "GET", "url": w.shop.Origin() + "/orders/ord-1", "query": doc{}, "body": nil})
	run.Is(t, "steps.1.request", doc{"method": "POST", "url": w.shop.Origin() + "/refunds", "query": doc{}, "body": doc{"orderId": "ord-1", "amount": number("10.50")}})
	run.Is(t, "steps.1.approvalRequired", true).Is(t, "steps.1.verification.expected", "refunded")
	run.Is(t, "steps.2.request.url", w.shop.Origin()+"/search?n=1&q=a%20b%26c").Is(t, "steps.2.request.query", doc{"n": 1, "q": "a b&c"})
	w.viewer.Get("/approvals").OK(t).Is(t, "total", 0)
}

func TestADryRunShowsWhatIsBoundAsItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := bound("path", "lookup", "resourceId", "first", "order.id")
	query := bound("query", "search", "q", "first", "order.id")
	body := bound("body", "note", "text", "first", "order.id")
	run := w.rehearsed(t, step("first", "note", nil), path, query, body)
	from := doc{"$from": "first.order.id"}
	run.Is(t, "steps.1.request.url", w.shop.Origin()+"/orders/{resourceId}").Is(t, "steps.1.input", doc{"resourceId": from})
	run.Is(t, "steps.2.request.url", w.shop.Origin()+"/search?q={q}").Is(t, "steps.2.request.query", doc{"q": from})
	run.Is(t, "steps.3.request.body", doc{"text": from})
	for _, i := range []string{"1", "2", "3"} {
		run.Is(t, "steps."+i+".requestDigest", nil)
	}
}

func TestADryRunNeedsNoCredential(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Stop()
	w.Restart(harness.Env(harness.SecretEnv, ""))
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "secretConfigured", false)
	w.rehearsed(t, step("n", "note", nil))
}

func TestTheDigestOfARehearsalIsThatOfTheLiveRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := step("pay", "refund", doc{"orderId": "ord-1"})
	rehearsal := w.rehearsed(t, s)
	live := w.run(t, s)
	w.approval(t, live)
	w.viewer.Get("/runs/"+live).OK(t).Is(t, "steps.0.requestDigest", rehearsal.At("steps.0.requestDigest")).Is(t, "steps.0.request", rehearsal.At("steps.0.request")).
		Is(t, "planDigest", rehearsal.At("planDigest"))
	w.viewer.Get("/approvals").OK(t).Is(t, "items.0.requestDigest", rehearsal.At("steps.0.requestDigest"))
}

func TestALocalEchoIsExecutedWithoutANetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-echo", doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": []any{
		harness.Capability("say", "POST", "/say/{who}", doc{"inputSchema": doc{"who": harness.Input("string", true), "text": harness.Input("string", false)}}),
	}})
	say := doc{"id": "s", "name": "s", "projectId": "default-echo", "capability": "say", "input": doc{"who": "bob", "text": "hi"},
		"expectation": doc{"field": "text", "equals": "hi", "statusCode": 200}}
	dry := w.rehearsed(t, say)
	dry.Is(t, "steps.0.request.url", "local-echo:/say/bob")
	before := w.shop.Connections()
	id := w.run(t, say)
	w.viewer.Get("/approvals/"+w.approval(t, id).At("id").Text()).OK(t).Is(t, "request.url", "local-echo:/say/bob").Is(t, "requestDigest", dry.At("steps.0.requestDigest"))
	w.approve(t, id)
	run := w.reaches(t, id, "COMPLETED").Is(t, "steps.0.output", doc{"who": "bob", "text": "hi"}).Is(t, "steps.0.response.statusCode", 200).Is(t, "steps.0.verification.status", "PASSED")
	if now := w.shop.Connections(); now != before {
		t.Errorf("%d connections were opened: %s", now-before, run)
	}
	lie := harness.With(say, "expectation.equals", "bye")
	id = w.run(t, lie)
	w.approve(t, id)
	w.reaches(t, id, "FAILED").Has(t, "error", "expectation_not_met")
}
