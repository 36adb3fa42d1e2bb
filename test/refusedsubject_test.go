package test

import (
	"slices"
	"strings"
	"testing"
)

// makesNew are the operations that make something whose id nobody knows while it is refused.
var makesNew = []string{"createToken", "createPlan", "compilePlan", "startRun", "startProjectRun", "startAgentRun", "startTeamRun"}

// TestARefusedWriteIsAboutWhatItIsAboutWhenItIsMade: each write of the document is refused to a VIEWER, before its use case, and then requested
// by who may. Both are recorded with one subject; and the refusal is recorded once.
func TestARefusedWriteIsAboutWhatItIsAboutWhenItIsMade(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	viewer, seen := s.token(t, doc{"roles": []string{"VIEWER"}})
	able, may := s.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}})
	latest := func(token json) (action, subject string) {
		rec := s.Admin.Get("/audit?limit=1&actor=token:" + token.At("id").Text()).OK(t).At("items.0")
		return rec.At("action").Text(), rec.At("subject").Text()
	}
	refused := map[string]string{} // subject by action
	for _, op := range s.Document().Operations {
		r := matrix[op.ID]
		if op.Method == "GET" || r.role == "" || r.role == "public" || r.role == theirSession || r.role == "realm" || op.ID == "heartbeat" {
			continue
		}
		id := s.ids[r.kind+string(own)]
		var body any
		if r.body != nil {
			body = r.body(id)
		} else if op.ID == "createPlan" {
			body = planOf()
		}
		viewer.Do(op.Method, op.About(id), body, key()).Refused(t, "role_required")
		action, before := latest(seen)
		if _, twice := refused[action]; twice {
			continue // counted with the first of this action
		}
		refused[action] = before
		able.Do(op.Method, op.About(id), body, key())
		did, after := latest(may)
		switch {
		case did != action: // it changes nothing, and is refused with a code that isn't recorded
		case slices.Contains(makesNew, op.ID):
			if kind, _, _ := strings.Cut(before, "/"); kind == "" {
				t.Errorf("%s is refused about nothing", op.ID)
			}
		case op.ID == "renewToken": // it is about the token that asks
			if before != "token/"+seen.At("id").Text() || after != "token/"+may.At("id").Text() {
				t.Errorf("%s is refused about %q, and made about %q", op.ID, before, after)
			}
		case before != after:
			t.Errorf("%s is refused about %q, and made about %q", op.ID, before, after)
		}
	}
	s.Stop() // writes what was counted
	s.Restart()
	times := map[string]int{}
	for _, rec := range s.Admin.Get("/audit?limit=200&actor=token:" + seen.At("id").Text()).OK(t).At("items").Items() {
		if !rec.At("count").Exists() {
			times[rec.At("action").Text()]++
		}
	}
	for action := range refused {
		if times[action] != 1 {
			t.Errorf("the first refusal of %s is recorded %d times", action, times[action])
		}
	}
}

// TestARefusedDecisionIsAboutItsRun: by role, by four eyes, and in a second attempt.
func TestARefusedDecisionIsAboutItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.asked(t, w.operator)
	decide, run := "/approvals/"+a.At("id").Text()+"/decision", "run/"+a.At("runId").Text()
	w.viewer.Post(decide, approved).Refused(t, "role_required")
	w.approver.Post(decide, approved).OK(t)
	w.approver.Post(decide, approved).Refused(t, "state_conflict")
	for _, rec := range w.Admin.Get("/audit?action=approvals.decide").OK(t).At("items").Items() {
		if rec.At("subject").Text() != run {
			t.Errorf("%s is about %s, not %s", rec.At("outcome").Text(), rec.At("subject").Text(), run)
		}
	}
	w.viewer.Post("/approvals/nothing/decision", approved).Refused(t, "role_required")
}

// TestANameStandsBesideWhoMadeARecord in answers of the API; the sealed record of the log has none.
func TestANameStandsBesideWhoMadeARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, made := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "name": "release desk"})
	by := "token:" + made.At("id").Text()
	c.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "createdBy", by).Is(t, "createdByName", "release desk")
	c.Post("/plans", planOf(step("n", "note", nil))).OK(t).Is(t, "createdBy", by).Is(t, "createdByName", "release desk")
	c.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).OK(t).Is(t, "createdByName", "release desk")
	w.viewer.Get("/plans").OK(t).Is(t, "items.0.createdByName", "release desk")
	w.Admin.Get("/audit?limit=1&actor="+by).OK(t).Is(t, "items.0.actorName", "release desk")
	if lines := w.Admin.Get("/audit/export?actor=" + by); strings.Contains(lines.String(), "actorName") {
		t.Error("the sealed record has a name")
	}
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}
