package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

// starters is how many starts are concurrent with an edit.
const starters = 4

// TestNoRunStartsOnAnEditedProject: several starts concurrent with one PUT. Either a LIVE run with a held call prevents the
// PUT, or the PUT prevents every start.
func TestNoRunStartsOnAnEditedProject(t *testing.T) {
	race(t, wide, 1, func(h *fixture, n int) {
		p := h.freshShop()
		plan := h.livePlan(step("pay", pay))
		runs, errs := h.startAgainst(func(i int) (countersign.Run, error) {
			if (i+n)%2 == 0 {
				out, err := h.control.StartAgentRun(background(), ann, agentID("payer"), agentStart(1, pay), newID("key"))
				return out.Run, err
			}
			out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: plan}, newID("key"))
			return out.Run, err
		}, p)
		edited := errs[starters] == nil
		for i, err := range errs[:starters] {
			switch {
			case err == nil && !edited:
				h.wantOn(h.finish(runs[i]), p.Revision)
			case edited && oneOf(err, countersign.CodeProjectDisabled): // this is checked before drift
			default:
				h.t.Errorf("the start was answered %v and the PUT %v", err, errs[starters])
			}
		}
		if !edited && !oneOf(errs[starters], countersign.CodeProjectInUse) {
			h.t.Errorf("the PUT was answered %v", errs[starters])
		}
	})
}

// TestNoRehearsalSeesItsProjectEdited: a DRY_RUN is short and may end before the PUT; but during the run the project doesn't
// change.
func TestNoRehearsalSeesItsProjectEdited(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		p := h.freshShop()
		plan := h.plan(desk, countersign.ModeDryRun, step("pay", pay), step("look", look, "pay"))
		runs, errs := h.startAgainst(func(int) (countersign.Run, error) {
			out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: plan}, newID("key"))
			return out.Run, err
		}, p)
		if !oneOf(errs[starters], "", countersign.CodeProjectInUse) {
			h.t.Errorf("the PUT was answered %v", errs[starters])
		}
		for i, err := range errs[:starters] {
			switch {
			case err == nil:
				h.wantOn(h.finish(runs[i]), p.Revision)
			case !oneOf(err, countersign.CodeDrift) || errs[starters] != nil:
				h.t.Errorf("the start was answered %v and the PUT %v", err, errs[starters])
			}
		}
	})
}

// freshShop returns the shop, enabled.
func (f *fixture) freshShop() countersign.Project {
	f.t.Helper()
	p, err := f.control.Project(background(), ada, shop)
	f.must(err)
	if !p.Enabled {
		f.enable(p.Revision)
	}
	return p
}

// startAgainst starts runs concurrently with an edit of the shop; the last error is that of the edit.
func (f *fixture) startAgainst(start func(i int) (countersign.Run, error), p countersign.Project) (runs []string, errs []error) {
	runs = make([]string, starters)
	errs = all(starters+1, func(i int) error {
		if i == starters {
			_, err := f.control.PutProject(background(), ada, shop, shopWrite(newID("Shop"), p.Revision))
			return err
		}
		r, err := start(i)
		runs[i] = r.ID
		return err
	})
	return runs, errs
}

// wantOn: the run is done, and was made from this revision of the shop.
func (f *fixture) wantOn(r countersign.Run, revision int64) {
	f.t.Helper()
	if r.Status != countersign.RunCompleted || r.PlanSnapshot.Projects[0].Revision != revision {
		f.t.Errorf("run %s of revision %d of the shop is %s, want revision %d", r.ID, r.PlanSnapshot.Projects[0].Revision, picture(&r), revision)
	}
}
