package test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestEventsBeginWithThePresentStateAndEndWithTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	stream := w.viewer.Events(t, "/runs/"+id+"/events")
	first, ok := stream.Next(t)
	if !ok || first.Name != "run" {
		t.Fatalf("the first event is %+v", first)
	}
	first.Data.Is(t, "id", id).Is(t, "status", "WAITING_APPROVAL").Is(t, "waitingFor.kind", "approval")
	w.approve(t, id)
	rest := stream.Rest(t)
	if len(rest) == 0 {
		t.Fatal("nothing followed")
	}
	before := first
	for _, e := range rest {
		if e.Name != "run" || e.Data.At("revision").Int() <= before.Data.At("revision").Int() || e.ID != strconv.Itoa(e.Data.At("revision").Int()) {
			t.Errorf("%s %s: revision %s after %s", e.Name, e.ID, e.Data.At("revision"), before.Data.At("revision"))
		}
		before = e
	}
	whole := w.viewer.Get("/runs/" + id).OK(t)
	before.Data.Is(t, "status", "COMPLETED").Is(t, "revision", whole.At("revision"))
}

func TestEventsCarryTheListForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("n", "note", doc{"text": "x"}))
	w.reaches(t, id, "COMPLETED")
	events := w.viewer.Events(t, "/runs/"+id+"/events").Rest(t)
	if len(events) != 1 {
		t.Fatalf("a run that has ended gave %d events", len(events))
	}
	listed := w.viewer.Get("/runs").OK(t).At("items.0")
	keys, want := events[0].Data.Keys(), listed.Keys()
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		t.Errorf("an event has %v, a list %v", keys, want)
	}
	events[0].Data.Is(t, "steps", listed.At("steps")).Is(t, "planSnapshot", harness.Absent).Is(t, "steps.0.output", harness.Absent)
}

func TestAfterLastEventIDThePresentStateComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	for _, last := range []string{"0", "1", "999999", "nonsense"} {
		stream := w.viewer.Events(t, "/runs/"+id+"/events", harness.Header("Last-Event-ID: "+last))
		e, ok := stream.Next(t)
		if stream.Close(); !ok {
			t.Fatalf("after %s nothing came", last)
		}
		e.Data.Is(t, "status", "WAITING_APPROVAL")
	}
}

func TestEveryViewerSeesEveryChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("a", "refund", doc{"orderId": "o"}), step("b", "note", nil))
	w.approval(t, id)
	streams := []*harness.Stream{w.viewer.Events(t, "/runs/"+id+"/events"), w.operator.Aliased().Events(t, "/runs/"+id+"/events")}
	w.approve(t, id)
	for _, s := range streams {
		events := s.Rest(t)
		if last := events[len(events)-1]; last.Data.At("status").Text() != "COMPLETED" {
			t.Errorf("the last event is %s", last.Data)
		}
	}
}

func TestEventsOfARunThatIsNotThereOrOutOfScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("n", "note", nil))
	w.viewer.Get("/runs/none/events").Refused(t, "not_found")
	w.As("").Get("/runs/"+id+"/events").Refused(t, "unauthenticated")
	limited, _ := w.token(t, doc{"roles": []string{"VIEWER"}, "projectIds": []string{"default-other"}})
	limited.Get("/runs/"+id+"/events").Refused(t, "project_scope")
}

func TestEventsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	stream := w.viewer.Events(t, "/runs/"+id+"/events")
	if _, ok := stream.Next(t); !ok {
		t.Fatal("there is no first event")
	}
	w.Terminate()
	if rest := stream.Rest(t); len(rest) > 0 {
		t.Errorf("the stop gave events: %v", rest)
	}
	if status := w.Wait(); status != 0 {
		t.Errorf("the server exited with %d", status)
	}
}

func TestEventsEndWithTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	c, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	stream := c.Events(t, "/runs/"+id+"/events")
	if _, ok := stream.Next(t); !ok {
		t.Fatal("there is no first event")
	}
	w.Admin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	w.cancel(t, id)
	if rest := stream.Rest(t); len(rest) > 0 {
		t.Errorf("a revoked token saw %s", rest[0].Data)
	}
}

func TestACommentKeepsAnIdleStreamOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	c, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	idle, revoked := w.viewer.Events(t, "/runs/"+id+"/events"), c.Events(t, "/runs/"+id+"/events")
	w.Admin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	if revoked.AwaitComment() {
		t.Error("the stream of a revoked token was kept open")
	}
	if !idle.AwaitComment() {
		t.Error("no comment came")
	}
	w.cancel(t, id)
	idle.Rest(t)
}

// TestEventsEndWithTheScope: an open stream ends when its principal may no longer read the run.
func TestEventsEndWithTheScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	w.approval(t, id)
	const email = "scope@example.com"
	b := w.person(t, email, "VIEWER")
	stream := w.As("").Events(t, "/runs/"+id+"/events", b.Cookie())
	if _, ok := stream.Next(t); !ok {
		t.Fatal("there is no first event")
	}
	w.Admin.Put("/users/"+email, doc{"roles": []string{"VIEWER"}, "projectIds": []string{"default-other"}}).OK(t)
	w.As("").Get("/runs/"+id, b.Cookie()).Refused(t, "project_scope")
	w.cancel(t, id)
	if rest := stream.Rest(t); len(rest) > 0 {
		t.Errorf("who lost the project saw %s", rest[0].Data)
	}
}
