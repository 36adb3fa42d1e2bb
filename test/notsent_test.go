package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

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
	w := ownWorld(t)
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
	w := ownWorld(t)
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
