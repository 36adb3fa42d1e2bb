package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestAChangeThatWasMadeIsNotDenied: the caller's context ends right after the commit. The answer must not be
// `unavailable`, which says that nothing was changed.
func TestAChangeThatWasMadeIsNotDenied(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			opened, err := s.open(t)
			if err != nil {
				t.Fatal(err)
			}
			h := newFixture(t, opened, narrow)
			defer h.close()
			for what, ask := range h.changes() {
				if err := ask(); err != nil {
					t.Errorf("%s was answered %v", what, err)
				}
			}
		})
	}
}

// changes are the operations that read their answer after the change.
func (f *fixture) changes() map[string]func() error {
	f.t.Helper()
	uncertain, err := f.uncertain()
	f.must(err)
	undecided, err := f.undecided(refund)
	f.must(err)
	return map[string]func() error{
		"a start": func() error {
			_, err := f.control.StartRun(brief(), ann, countersign.RunStart{PlanID: f.plans[note]}, newID("key"))
			return err
		},
		"an agent's start": func() error {
			_, err := f.control.StartAgentRun(brief(), ann, agentID("payer"), agentStart(1, note), newID("key"))
			return err
		},
		"a reconcile": func() error {
			_, err := f.control.ReconcileRun(brief(), reviewer(0), uncertain.ID, resolution(countersign.Abandon, ""))
			return err
		},
		"a cancel": func() error {
			_, err := f.control.CancelRun(brief(), ann, undecided.ID, "not wanted")
			return err
		},
		"a manifest": func() error {
			_, err := f.control.SyncAgents(brief(), ada, shop, manifest(1, "helps", newID("a")))
			return err
		},
		"a model": func() error {
			id := newID("m")
			_, err := f.control.PutModel(brief(), ada, id, modelWrite(id, "Model", 0))
			return err
		},
	}
}
