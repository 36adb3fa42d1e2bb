package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestALiveRunIsComparedWithItsRehearsal: the digests of rehearsed and sent requests agree, the last rehearsal counts, and bound inputs are
// filled in.
func TestALiveRunIsComparedWithItsRehearsal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := []doc{step("a", "note", doc{"text": "x"}), bound("b", "note", "text", "a", "ok")}
	dry, live := planOf(steps...), planOf(steps...)
	dry["mode"], live["mode"] = "DRY_RUN", "LIVE"
	rehearse := func(key string) string {
		id := w.operator.Post("/runs", doc{"planId": w.ready(t, dry)}, keyed(key)).OK(t).At("id").Text()
		w.reaches(t, id, "COMPLETED")
		return id
	}
	run := w.operator.Post("/runs", doc{"planId": w.ready(t, live)}, keyed("live")).OK(t)
	id := run.At("id").Text()
	w.reaches(t, id, "COMPLETED")
	w.viewer.Get("/runs/"+id+"/rehearsal").OK(t).Is(t, "verdict", "NONE").Is(t, "rehearsalId", harness.Absent)
	rehearse("one")
	last := rehearse("two")
	found := w.viewer.Get("/runs/" + id + "/rehearsal").OK(t)
	found.Is(t, "verdict", "SAME").Is(t, "rehearsalId", last).Is(t, "planDigest", run.At("planDigest"))
	found.Is(t, "steps.0.verdict", "SAME").Is(t, "steps.0.sentDigest", found.At("steps.0.rehearsedDigest"))
	found.Is(t, "steps.1.verdict", "SAME").Is(t, "steps.1.rehearsedDigest", nil).Is(t, "steps.1.bound", []string{"text"})
	w.viewer.Get("/runs/"+last+"/rehearsal").Refused(t, "state_conflict", "rehearsal")
}
