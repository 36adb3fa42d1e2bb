package test

import "testing"

// TestFromARehearsalToTheLiveRunAndBack is one link each.
func TestFromARehearsalToTheLiveRunAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opal := w.person(t, "opal@example.com", "OPERATOR")
	live := w.ready(t, planOf(step("n", "note", nil)))
	mustHold(t, opal.Open("/plans/"+live), "/console/plans/+form?from="+live+"&amp;mode=DRY_RUN")
	mustHold(t, opal.Open("/plans/+form?from="+live+"&mode=DRY_RUN"), `value="DRY_RUN" checked`)
	dry := planOf(step("n", "note", nil))
	dry["mode"] = "DRY_RUN"
	rehearsal := w.ready(t, dry)
	run := w.start(t, rehearsal)
	w.reaches(t, run, "COMPLETED")
	p := opal.Open("/runs/" + run)
	mustSay(t, p, 200, "Rehearsed")
	mustHold(t, p, "/console/plans/+form?from="+rehearsal+"&amp;mode=LIVE")
	mustNotHold(t, w.person(t, "vic@example.com", "VIEWER").Open("/runs/"+run), "mode=LIVE")
}

// TestARunsStepsStandInTime, with a person's wait apart from the call, and what nobody proved is
// not green.
func TestARunsStepsStandInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vic := w.person(t, "vic@example.com", "VIEWER")
	_, run := w.decidable(t)
	p := vic.Open("/runs/" + run)
	mustHold(t, p, `class="t-w"`, `id="gh"`)
	mustNotHold(t, p, `class="t-rj"`)
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED")
	p = vic.Open("/runs/" + run)
	mustHold(t, p, `class="t-w"`, `class="t-rj"`)
	mustSay(t, p, 200, "Completed, not verified", "bars: 0 to")
}
