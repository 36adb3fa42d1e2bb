package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestARefusalSaysWhy: the API's answer is stored. A viewer sees it if the capability has no sensitive field; nobody sees the credential.
func TestARefusalSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const why = `{"error":"the amount is over the limit"}`
	w.shop.On("POST", "/notes", harness.Answering(422, why))
	id := w.run(t, step("n", "note", nil))
	w.reaches(t, id, "FAILED").Is(t, "steps.0.response.body", why).Is(t, "steps.0.response.statusCode", 422).Is(t, "steps.0.mayHaveHappened", harness.Absent)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.response.body", why)
	mustSay(t, w.person(t, "mara@example.com", "APPROVER").Open("/runs/"+id), 200, "the amount is over the limit")

	w.shop.On("POST", "/notes", harness.Answering(503, "try later, "+harness.Secret))
	id = w.run(t, step("n", "note", nil))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.response.body", "try later, [credential]")

	w.shop.On("POST", "/notes", harness.Answering(400, strings.Repeat("x", 5000)))
	id = w.run(t, step("n", "note", nil))
	w.reaches(t, id, "FAILED").Is(t, "steps.0.response.body", strings.Repeat("x", 4096))
}

// TestAViewerSeesNothingOfARefusalWhereAFieldIsSensitive, since the refusal may quote the field.
func TestAViewerSeesNothingOfARefusalWhereAFieldIsSensitive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := harness.Project(w.shop.Origin())
	for _, c := range project["capabilities"].([]any) {
		if c := c.(doc); c["name"] == "note" {
			c["sensitive"] = []string{"text"}
			c["inputSchema"] = doc{"text": harness.Input("string", true)}
		}
	}
	w.register(t, "default-secretive", project)
	w.shop.On("POST", "/notes", harness.Answering(422, `the text "hidden-note" is too long`))
	id := w.run(t, on("default-secretive", step("n", "note", doc{"text": "hidden-note"})))
	w.reaches(t, id, "FAILED")
	w.operator.Get("/runs/"+id).OK(t).Is(t, "steps.0.response.body", `the text "hidden-note" is too long`)
	seen := w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.response.body", "•••")
	if strings.Contains(seen.String(), "hidden-note") {
		t.Errorf("a viewer sees %s", seen)
	}
}

// TestAnAnsweredSideEffectMayHaveHappened: the shop has paid, so the run must not look as if nothing had happened.
func TestAnAnsweredSideEffectMayHaveHappened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	w.shop.On("POST", "/notes", harness.Answering(200, `{"state":"pending"}`))
	w.shop.On("GET", "/patient", harness.Answering(200, `{"state":"pending"}`))
	expecting := func(s doc) doc {
		return harness.With(s, "expectation", doc{"field": "state", "equals": "done"})
	}
	id := w.run(t, expecting(step("n", "note", nil)))
	w.reaches(t, id, "FAILED").Is(t, "mayHaveHappened", true).Is(t, "steps.0.mayHaveHappened", true).Is(t, "steps.0.error.code", "expectation_not_met")
	mustSay(t, mara.Open("/runs/"+id), 200, "Answered, not as expected; it may have taken effect")
	found := false
	for _, r := range w.viewer.Get("/runs").OK(t).At("items").Items() {
		found = found || r.At("id").Text() == id && r.At("mayHaveHappened").String() == "true"
	}
	if !found {
		t.Error("the list doesn't say it")
	}
	read := w.run(t, expecting(step("p", "patient", nil)))
	w.reaches(t, read, "FAILED").Is(t, "mayHaveHappened", harness.Absent).Is(t, "steps.0.mayHaveHappened", harness.Absent)
}
