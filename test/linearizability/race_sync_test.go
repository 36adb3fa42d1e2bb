package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestOfTwoManifestsOfOneRevisionOneCounts: two concurrent manifests describe an agent differently at the same revision, each
// together with an agent of its own, several times over. One manifest is stored completely and nothing of the other.
func TestOfTwoManifestsOfOneRevisionOneCounts(t *testing.T) {
	race(t, narrow, 1, func(h *fixture, n int) {
		own := []string{newID("left"), newID("right")}
		both := newID("both")
		says := []string{"helps", "sells"}
		errs := all(6, func(i int) error {
			names := []string{own[i%2], both}
			if n%2 == 0 { // the order of agents doesn't matter
				names = []string{both, own[i%2]}
			}
			_, err := h.control.SyncAgents(background(), ada, shop, manifest(1, says[i%2], names...))
			return err
		})
		winner := 0
		if errs[1] == nil {
			winner = 1
		}
		if count(every(errs, winner), "") != 3 || count(every(errs, 1-winner), countersign.CodeManifestConflict) != 3 {
			h.t.Fatalf("the manifests were answered %v", errs)
		}
		h.wantAgent(both, says[winner])
		h.wantAgent(own[winner], says[winner])
		if _, err := h.control.Agent(background(), ada, agentID(own[1-winner])); !oneOf(err, countersign.CodeNotFound) {
			h.t.Errorf("the other manifest left an agent: %v", err)
		}
	})
}

// wantAgent: the agent is as one of the manifests describes it, and was changed once.
func (f *fixture) wantAgent(name, goal string) {
	f.t.Helper()
	a, err := f.control.Agent(background(), ada, agentID(name))
	f.must(err)
	if records := f.log("agent/" + a.ID); a.Goal != goal || a.Revision != 1 || len(records) != 1 {
		f.t.Errorf("agent %s at revision %d %s, after %d changes; want one, and that it %s", name, a.Revision, a.Goal, len(records), goal)
	}
}
