package test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// outcomes are what a receiver can do and what the contract makes of it, for a
// side effect and for a read.
var outcomes = []struct {
	name   string
	reply  func(w *world) harness.Reply
	effect string // status of the run where the step has a side effect
	code   string // error code where it is not RECOVERY_REQUIRED
}{
	{"400", answering(400), "FAILED", "receiver_refused"},
	{"401", answering(401), "FAILED", "receiver_refused"},
	{"404", answering(404), "FAILED", "receiver_refused"},
	{"409 at the first attempt", answering(409), "FAILED", "receiver_refused"},
	{"422 with a broken body", func(*world) harness.Reply { return harness.Answering(422, `{"`) }, "FAILED", "receiver_refused"},
	{"429", answering(429), "FAILED", "receiver_refused"},
	{"408", answering(408), "RECOVERY_REQUIRED", "outcome_unknown"},
	{"500", answering(500), "RECOVERY_REQUIRED", "outcome_unknown"},
	{"503", answering(503), "RECOVERY_REQUIRED", "outcome_unknown"},
	{"302", func(w *world) harness.Reply { return harness.Redirecting(302, w.shop.Origin()+"/elsewhere") }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"307", func(w *world) harness.Reply { return harness.Redirecting(307, "/elsewhere") }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"304", answering(304), "RECOVERY_REQUIRED", "outcome_unknown"},
	{"broken JSON", func(*world) harness.Reply { return harness.Answering(200, `{"ok":tru`) }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"no JSON", func(*world) harness.Reply { return harness.Typed(200, "text/html", `<html>`) }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"duplicate keys", func(*world) harness.Reply { return harness.Answering(200, `{"a":1,"a":2}`) }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"bad UTF-8", func(*world) harness.Reply { return harness.Answering(200, "{\"a\":\"\xff\"}") }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"too deep", func(*world) harness.Reply {
		return harness.Answering(200, strings.Repeat("[", 65)+strings.Repeat("]", 65))
	}, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"over 1 MiB", func(*world) harness.Reply { return harness.Answering(200, `"`+strings.Repeat("x", limit)+`"`) }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"connection closed", func(*world) harness.Reply { return harness.HangingUp() }, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"short body", func(*world) harness.Reply {
		return harness.Cutting("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\":true}")
	}, "RECOVERY_REQUIRED", "outcome_unknown"},
	{"timeout", func(*world) harness.Reply { return harness.Hanging() }, "RECOVERY_REQUIRED", "outcome_unknown"},
}

func answering(status int) func(*world) harness.Reply {
	return func(*world) harness.Reply { return harness.Answering(status, `{}`) }
}

func TestOutcomesOfASideEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			seen := len(w.shop.Seen("POST", "/rush"))
			w.shop.On("POST", "/rush", o.reply(w))
			run := w.reaches(t, w.run(t, step("s", "rush", doc{"n": 1}), step("never", "note", nil)), o.effect)
			run.Is(t, "steps.0.status", o.effect).Is(t, "steps.0.error.code", o.code).Is(t, "steps.0.attempt", 1)
			if o.effect == "FAILED" {
				run.Has(t, "error", o.code+": ").Is(t, "steps.1.status", "SKIPPED")
			} else {
				id := run.At("id").Text()
				run.Is(t, "steps.1.status", "PENDING").Is(t, "waitingFor.kind", "reconcile").Is(t, "waitingFor.role", "APPROVER").Is(t, "waitingFor.operation", "POST /runs/"+id+"/reconcile").Is(t, "waitingFor.stepId", "s")
				w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": "e"}).OK(t)
			}
			if n := len(w.shop.Seen("POST", "/rush")) - seen; n != 1 {
				t.Errorf("it was delivered %d times", n)
			}
		})
	}
	if n := len(w.shop.Seen("GET", "/elsewhere")) + len(w.shop.Seen("POST", "/elsewhere")); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

func TestOutcomesOfARead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			w.shop.On("GET", "/hasty", o.reply(w))
			run := w.reaches(t, w.run(t, step("s", "hasty", nil), step("never", "note", nil)), "FAILED")
			run.Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", o.code).Has(t, "error", o.code+": ").Is(t, "steps.1.status", "SKIPPED")
		})
	}
}

func TestA2xxIsJudgedByItsBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		reply  harness.Reply
		output any
	}{
		"empty":                  {harness.Raw("HTTP/1.1 204 No Content\r\n\r\n"), nil},
		"empty 200":              {harness.Answering(200, ""), nil},
		"null":                   {harness.Answering(200, "null"), nil},
		"a number":               {harness.Answering(202, "12345678901234567890.50"), number("12345678901234567890.50")},
		"JSON called text":       {harness.Typed(200, "text/plain", ` {"a":[1,"x",null]} `), doc{"a": []any{1, "x", nil}}},
		"chunked":                {harness.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n0\r\n\r\n"), doc{"a": 1}},
		"until the end of input": {harness.Cutting("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":1}"), doc{"a": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w.shop.On("POST", "/notes", c.reply)
			w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED").Is(t, "steps.0.output", c.output).Is(t, "unverifiedSteps", 1)
		})
	}
}

func TestAnExpectationHoldsOnTheSelectedOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, c := range []struct {
		capability, answer, field string
		equals                    any
		passes                    bool
	}{
		{"note", `{"a":{"b":[10,{"c":true}]}}`, "a.b.1.c", true, true},
		{"note", `{"a.b":1,"a":{"b":2}}`, "a.b", 1, true}, // an exact key first
		{"note", `{"n":1}`, "n", number("1.0"), true},
		{"note", `{"n":1.50e1}`, "n", 15, true},
		{"note", `{"n":9007199254740993}`, "n", number("9007199254740992"), false},
		{"note", `{"n":"1"}`, "n", 1, false},
		{"note", `{"n":null}`, "n", nil, true},
		{"note", `{}`, "n", nil, false}, // null is not missing
		{"note", `{"o":{"x":1,"y":[1,2]}}`, "o", doc{"y": []any{1, 2}, "x": 1}, true},
		{"note", `{"l":[1,2]}`, "l", []any{2, 1}, false},
		{"note", `{"a":1}`, "$", doc{"a": 1}, true},
		{"note", `[1,2]`, "$", []any{1, 2}, true},
		{"note", `[1,2]`, "1", 2, true},
		{"note", `"x"`, "$", "x", true},
		{"note", `{"a":1}`, "b", 1, false},
		{"count", `{"result":7}`, "result", 7, true},
		{"count", `{"result":7}`, "$", 7, true},
		{"count", `{"result":{"n":7}}`, "n", 7, true},
		{"count", `{"result":{"n":7}}`, "result", doc{"n": 7}, true},
		{"count", `{"result":{"result":8}}`, "result", 8, true},
		{"count", `{"result":[{"n":7}]}`, "0.n", 7, true},
		{"count", `{"result":null}`, "result", nil, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w.shop.On("POST", map[string]string{"note": "/notes", "count": "/count"}[c.capability], harness.Answering(200, c.answer))
			id := w.run(t, expecting(step("s", c.capability, nil), c.field, c.equals))
			if c.passes {
				w.reaches(t, id, "COMPLETED").Is(t, "steps.0.verification.status", "PASSED").Is(t, "unverifiedSteps", 0)
				return
			}
			run := w.reaches(t, id, "FAILED").Has(t, "error", "expectation_not_met: ").Is(t, "steps.0.verification.status", "FAILED").Is(t, "steps.0.verification.field", c.field)
			run.Is(t, "steps.0.verification.expected", c.equals).Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "expectation_not_met")
		})
	}
}

func TestAnotherStatusCodeThanExpectedFailsTheStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(202, `{"a":1}`))
	run := w.reaches(t, w.run(t, harness.With(expecting(step("s", "note", nil), "a", 1), "expectation.statusCode", 200)), "FAILED")
	run.Has(t, "error", "expectation_not_met: ", "202", "200").Is(t, "steps.0.verification.status", "FAILED").Is(t, "steps.0.response.statusCode", 202).Is(t, "steps.0.output", doc{"a": 1})
}

func TestAMissingOutputFieldFailsTheStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, answer := range []string{`{}`, `{"other":1}`, `[]`, `"result"`, ``} {
		w.shop.On("POST", "/count", harness.Answering(200, answer))
		w.reaches(t, w.run(t, step("s", "count", nil)), "FAILED").Has(t, "error", "output_missing: ", "result").Is(t, "steps.0.error.code", "output_missing")
	}
}

func TestABoundValueThatDoesNotFitIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ answer, capability, input string }{
		"no id for the path":        {`{"v":"../x"}`, "lookup", "resourceId"},
		"an object for the path":    {`{"v":{}}`, "lookup", "resourceId"},
		"an array for the query":    {`{"v":[1]}`, "search", "q"},
		"null for the query":        {`{"v":null}`, "search", "q"},
		"a number for a string":     {`{"v":1}`, "refund", "orderId"},
		"a field that is not there": {`{"w":1}`, "note", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			w.shop.On("POST", "/notes", harness.Answering(200, c.answer))
			run := w.reaches(t, w.run(t, step("a", "note", nil), bound("b", c.capability, c.input, "a", "v")), "FAILED")
			run.Has(t, "error", "not_sent: ").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.status", "FAILED").Is(t, "steps.1.error.code", "not_sent").Is(t, "steps.1.attempt", 0)
		})
	}
}

func TestWhatNeverLeftIsFailedNotUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.Close()
	run := w.reaches(t, w.run(t, step("n", "note", nil)), "FAILED")
	run.Has(t, "error", "not_sent: ").Is(t, "steps.0.error.code", "not_sent").Is(t, "steps.0.response", harness.Absent)
}

func TestAnUnsetCredentialBlocksNothingUntilTheCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.Stop()
	w.Restart(harness.Env(harness.SecretEnv, ""))
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "enabled", true).Is(t, "secretConfigured", false)
	run := w.reaches(t, w.start(t, plan), "FAILED")
	run.Has(t, "error", "not_sent: ", harness.SecretEnv).Is(t, "steps.0.error.code", "not_sent")
	w.tenantAdmin.Post("/projects/"+shop+"/health-check", nil).OK(t).Is(t, "healthy", false).Has(t, "error", harness.SecretEnv)
}

func TestAnOriginTakenFromTheListIsNotCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.Stop()
	w.Restart(harness.Set("CONNECTION_ORIGINS", ""))
	before := w.shop.Connections()
	w.reaches(t, w.start(t, plan), "FAILED").Has(t, "error", "not_sent: ", w.shop.Origin())
	w.tenantAdmin.Post("/projects/"+shop+"/health-check", nil).OK(t).Is(t, "healthy", false)
	if now := w.shop.Connections(); now != before {
		t.Errorf("%d connections were opened", now-before)
	}
}

func TestARequestOverOneMebibyteIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(200, `{"v":"`+strings.Repeat("y", 10000)+`"}`))
	big := harness.With(bound("b", "note", "more", "a", "v"), "input", doc{"text": strings.Repeat("x", limit-5000)})
	run := w.reaches(t, w.run(t, step("a", "note", nil), big), "FAILED")
	run.Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.error.code", "not_sent").Is(t, "steps.1.attempt", 0)
}
