package test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/test/harness"
)

// next reads events until there is one of this name, and returns it.
func next(t *testing.T, s *harness.Stream, name string) json {
	t.Helper()
	for {
		e, ok := s.Next(t)
		if !ok {
			t.Fatalf("the stream ended before %s", name)
		}
		if e.Name == name {
			return e.Data
		}
	}
}

// until reads `waiting` until it says so.
func until(t *testing.T, s *harness.Stream, approvals, recoveries int) {
	t.Helper()
	for {
		is := next(t, s, "waiting")
		if is.At("approvals").Int() == approvals && is.At("recoveries").Int() == recoveries {
			is.Is(t, "changes", 0)
			return
		}
	}
}

// TestAStreamSaysWhatWaitsForItsReader at once and when it changes, whoever changes it, and no
// more once they may see nothing.
func TestAStreamSaysWhatWaitsForItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/effect", harness.HangingUp())
	both, record := w.token(t, doc{"roles": []string{"APPROVER"}})
	mine, theirs, looks := both.Events(t, "/events"), both.Aliased().Events(t, "/events"), w.viewer.Events(t, "/events")
	for _, s := range []*harness.Stream{mine, theirs, looks} {
		if e, ok := s.Next(t); !ok || e.Name != "waiting" || e.Data.String() != `{"approvals":0,"changes":0,"recoveries":0}` {
			t.Fatalf("the stream begins with %+v", e)
		}
	}
	run := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := w.approval(t, run).At("id").Text()
	until(t, mine, 1, 0)
	until(t, theirs, 1, 0)
	lost := w.run(t, step("e", "effect", nil))
	w.reaches(t, lost, "RECOVERY_REQUIRED")
	until(t, mine, 1, 1)
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	until(t, mine, 0, 1)

	seen := map[string]bool{}
	for !seen["run/"+run] || !seen["run/"+lost] || !seen["approval/"+approval] {
		one := next(t, looks, "changed")
		seen[one.At("kind").Text()+"/"+one.At("id").Text()] = true
	}
	w.Admin.Delete("/tokens/" + record.At("id").Text()).OK(t)
	mine.Rest(t)
	theirs.Rest(t)
	looks.Close()
}

// TestAStreamShowsNothingBeyondItsProjects, and whose rights become others begins anew.
func TestAStreamShowsNothingBeyondItsProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	limited, _ := w.token(t, doc{"roles": []string{"APPROVER"}, "projectIds": []string{"default-two"}})
	s := limited.Events(t, "/events")
	until(t, s, 0, 0)
	other := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, other)
	own := w.run(t, harness.With(step("r", "refund", doc{"orderId": "o"}), "projectId", "default-two"))
	w.approval(t, own)
	for {
		e, ok := s.Next(t)
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.Name == "changed" && e.Data.At("id").Text() == other {
			t.Error("it tells of a run beyond its projects")
		}
		if e.Name == "waiting" {
			e.Data.Is(t, "approvals", 1)
			break
		}
	}
	s.Close()
	agent := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	token, _ := w.agentToken(t, agent)
	token.Get("/events").Refused(t, "role_required")
	w.As("").Get("/events").Refused(t, "unauthenticated")
}

// TestAProcessHasSoManyStreams: one more is refused, and there is room when one is closed.
func TestAProcessHasSoManyStreams(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	var open []*harness.Stream
	for range countersign.MaxEventStreams {
		open = append(open, w.viewer.Events(t, "/events"))
	}
	w.approver.Get("/events").Refused(t, "capacity", "event streams")
	open[0].Close()
	harness.Until(t, "room for one more", func() bool {
		return w.approver.Do("HEAD", "/events", nil).Status == 200
	})
	for _, s := range open[1:] {
		s.Close()
	}
}

// TestAStreamCountsTheChangesThatItsReaderMayDecide.
func TestAStreamCountsTheChangesThatItsReaderMayDecide(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	ann := w.person(t, "ann@example.com", "ADMIN")
	ben := w.person(t, "ben@example.com", "ADMIN")
	w.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}).OK(t)
	streams := map[string]*harness.Stream{}
	for name, who := range map[string]*harness.Browser{"ann": ann, "ben": ben} {
		streams[name] = w.As("").Events(t, "/events", who.Cookie())
		next(t, streams[name], "waiting").Is(t, "changes", 0)
	}
	w.As("").Put("/users/cem@example.com", doc{"roles": []string{"APPROVER"}}, ann.Cookie(), w.csrf(t, ann)).Refused(t, "change_proposed")
	next(t, streams["ben"], "waiting").Is(t, "changes", 1)
	open := w.Admin.Get("/changes").OK(t).At("items.0.id").Text()
	w.As("").Post("/changes/"+open+"/decision", doc{"decision": "REJECTED", "reason": "no"}, ben.Cookie(), w.csrf(t, ben)).OK(t)
	next(t, streams["ben"], "waiting").Is(t, "changes", 0)
	for _, s := range streams {
		s.Close()
	}
}
