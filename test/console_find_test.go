package test

import (
	"strings"
	"testing"
)

// TestRecordsAreFoundByTheirNames, as one types and on the page of what was found; pages too, for
// whoever may open them.
func TestRecordsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic, ada := w.person(t, "vic@example.com", "VIEWER"), w.person(t, "ada@example.com", "ADMIN")
	agent := w.admitted(t, agentItem("Refund clerk", "note", ""))[0]
	w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	names := vic.Open("/search/names?q=reFUND")
	mustHold(t, names, `href="/console/projects/`+shop+`?q=refund#capabilities"`, `href="/console/agents/`+agent+`"`, `href="/console/models/refund"`)
	if names.Status != 200 || strings.Contains(names.Text, "<html") || len(names.Text) > 8000 {
		t.Errorf("it isn't a small part of a page: %d, %d bytes", names.Status, len(names.Text))
	}
	mustSay(t, vic.Open("/search?q=clerk"), 200, "Refund clerk", "Agent")
	mustNotHold(t, vic.Open("/search/names?q=r"), "<li>")
	mustNotHold(t, vic.Open("/search/names?q=stop"), "Stop LIVE steps")
	mustHold(t, ada.Open("/search/names?q=emergency"), `href="/console/settings#stop"`)
	mustSay(t, vic.Open("/search/names?q=nothing-has-this"), 200, "No name has it.")
}

// TestTheStopIsOnEveryPage of whoever may stop, and of nobody else.
func TestTheStopIsOnEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic, ada := w.person(t, "vic@example.com", "VIEWER"), w.person(t, "ada@example.com", "ADMIN")
	for _, path := range []string{"/", "/runs", "/more"} {
		mustHold(t, ada.Open(path), `href="/console/settings#stop"`, "Stop LIVE steps")
		mustNotHold(t, vic.Open(path), "/console/settings#stop")
	}
}

// TestTheOverviewHasNoNoise: projects that were never enabled need nobody's attention, and what
// ended alike is one row.
func TestTheOverviewHasNoNoise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "VIEWER")
	w.Admin.Put("/projects/default-draft", doc{"name": "A draft", "adapter": "LOCAL_ECHO", "capabilities": []any{}}).OK(t)
	w.Admin.Put("/projects/default-off", doc{"name": "Was on", "adapter": "LOCAL_ECHO", "capabilities": []any{}}).OK(t)
	w.Admin.Post("/projects/default-off/health-check", nil).OK(t)
	w.Admin.Post("/projects/default-off/enable", doc{"expectedRevision": 1}).OK(t)
	w.Admin.Post("/projects/default-off/disable", doc{"expectedRevision": 1, "reason": "closed"}).OK(t)
	for range 4 {
		w.reaches(t, w.run(t, step("n", "note", doc{})), "COMPLETED")
	}
	for range 7 {
		w.decidable(t)
	}
	p := vic.Open("/")
	mustSay(t, p, 200, "Was on is disabled", "and 3 runs before it that ended alike", "5 of 7", "Completed, not verified")
	mustNotHold(t, p, "A draft is disabled")
}
