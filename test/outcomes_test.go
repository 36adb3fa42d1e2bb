package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// outcomes are a receiver's possible answers and the results by the contract, for a side effect and for a read.
var outcomes = []struct {
	name   string
	reply  func(w *world) harness.Reply
	effect string // status of the run if the step has a side effect
	code   string // error code if the run is not RECOVERY_REQUIRED
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
	{timeout, func(*world) harness.Reply { return harness.Hanging() }, "RECOVERY_REQUIRED", "outcome_unknown"},
}

// timeout is the only outcome for which the test waits, so its calls have a short timeout.
const timeout = "timeout"

func answering(status int) func(*world) harness.Reply {
	return func(*world) harness.Reply { return harness.Answering(status, `{}`) }
}

func TestOutcomesOfASideEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			name := "effect"
			if o.name == timeout {
				name = "rush"
			}
			seen := len(w.shop.Seen("POST", "/"+name))
			w.shop.On("POST", "/"+name, o.reply(w))
			run := w.reaches(t, w.run(t, step("s", name, doc{"n": 1}), step("never", "note", nil)), o.effect)
			run.Is(t, "steps.0.status", o.effect).Is(t, "steps.0.error.code", o.code).Is(t, "steps.0.attempt", 1)
			if o.effect == "FAILED" {
				run.Has(t, "error", o.code+": ").Is(t, "steps.1.status", "SKIPPED")
			} else {
				id := run.At("id").Text()
				run.Is(t, "steps.1.status", "PENDING").Is(t, "waitingFor.kind", "reconcile").Is(t, "waitingFor.role", "APPROVER").Is(t, "waitingFor.operation", "POST /runs/"+id+"/reconcile").Is(t, "waitingFor.stepId", "s")
				w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": "e"}).OK(t)
			}
			if n := len(w.shop.Seen("POST", "/"+name)) - seen; n != 1 {
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
			name := "search"
			if o.name == timeout {
				name = "hasty"
			}
			w.shop.On("GET", "/"+name, o.reply(w))
			run := w.reaches(t, w.run(t, step("s", name, nil), step("never", "note", nil)), "FAILED")
			run.Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", o.code).Has(t, "error", o.code+": ").Is(t, "steps.1.status", "SKIPPED")
		})
	}
}
