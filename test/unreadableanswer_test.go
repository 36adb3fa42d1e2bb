package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAnUnreadableAnswerIsEvidence: of a 2xx that can't be read the API and the console show why, and what it
// said.
func TestAnUnreadableAnswerIsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const body, why = `{"status":"paid","status":"open"}`, `the key "status" stands twice, the second time at byte 17`
	w.shop.On("POST", "/notes", harness.Answering(200, body))
	id := w.run(t, step("n", "note", nil))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.response.body", body).Is(t, "steps.0.error.code", "outcome_unknown").Is(t, "steps.0.error.message", "answer_unreadable: "+why)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.response.body", body).Is(t, "steps.0.error.message", "answer_unreadable: "+why)
	mara := w.person(t, "mara@example.com", "APPROVER")
	for _, page := range []string{"/runs/" + id, "/recovery/" + id} {
		mustSay(t, mara.Open(page), 200, "he answer can't be read: "+why, "paid")
	}
}

// TestARedirectAndALaterTimeAreTold.
func TestARedirectAndALaterTimeAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Raw("HTTP/1.1 308 Permanent Redirect\r\nLocation: https://shop.example/v2/notes?key=1\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"))
	id := w.run(t, step("n", "note", nil))
	const where = `the receiver answered 308, which does not say what happened: redirects are not followed; its Location is "https://shop.example/v2/notes" …`
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.error.message", where).Is(t, "steps.0.response.retryAfter", "30")
	mustSay(t, w.person(t, "mara@example.com", "APPROVER").Open("/recovery/"+id), 200, "Retry-After", "30", "https://shop.example/v2/notes")
}

// TestAViewerSeesNothingQuotedOfAnAnswerWhereAFieldIsSensitive: neither the body, nor a key of it, nor where it leads.
func TestAViewerSeesNothingQuotedOfAnAnswerWhereAFieldIsSensitive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	for _, c := range []struct {
		answer harness.Reply
		seen   string
	}{
		{harness.Answering(200, `{"`+secretCard+`":1,"`+secretCard+`":2}`), "answer_unreadable: …"},
		{harness.Raw("HTTP/1.1 302 Found\r\nLocation: /cards/" + secretCard + "\r\nContent-Length: 0\r\n\r\n"), "the receiver answered 302, which does not say what happened: redirects are not followed; its Location is …"},
	} {
		w.shop.On("POST", "/lost", c.answer)
		w.shop.On("GET", "/cards/"+secretCard+"/info", c.answer)
		id := w.run(t, within("default-private", step("s", "lost", doc{"card": secretCard})))
		w.reaches(t, id, "RECOVERY_REQUIRED")
		w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "s"}).OK(t)
		if all := w.approver.Get("/runs/" + id).OK(t); strings.Count(all.String(), secretCard) < 3 {
			t.Errorf("a reviewer doesn't see it: %s", all)
		}
		seen := w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.error.message", c.seen).Is(t, "steps.0.probes.0.error", c.seen)
		if strings.Contains(seen.String(), secretCard) {
			t.Errorf("a viewer sees %s", seen)
		}
		w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": "nobody knows"}).OK(t)
		if seen := w.viewer.Get("/runs/" + id).OK(t).String(); strings.Contains(seen, secretCard) {
			t.Errorf("a viewer sees %s", seen)
		}
	}
}
