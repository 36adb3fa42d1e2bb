package control_test

import (
	"bytes"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// TestAListedRunIsTheSameFromMemory as from the store, for whoever sees masked fields too, and
// costs no read of its steps.
func TestAListedRunIsTheSameFromMemory(t *testing.T) {
	h := open(t)
	const runs = 5
	for range runs {
		h.startOne(t, as("acme"))
	}
	viewer := as("acme")
	viewer.Roles = []countersign.Role{countersign.RoleViewer}
	list := func(a control.Actor) (doc []byte, cost reads) {
		cost = h.reading(func() {
			page, err := control.ListRuns(background, h.service, a, control.List{Limit: 20}, control.RunFilter{}, func(r countersign.Run) ([]byte, error) { return countersign.Marshal(&r) })
			h.must(err)
			if len(page.Items) != runs {
				t.Fatalf("%d of %d runs", len(page.Items), runs)
			}
			doc = bytes.Join(page.Items, nil)
		})
		return doc, cost
	}
	for _, a := range []control.Actor{as("acme"), viewer} {
		known, cheap := list(a)
		was := h.repository
		h.repository = runrepo.New(runrepo.Config{MaxActive: 1, NewID: h.newID}) // it remembers no run
		h.service = h.on(h.store)
		read, dear := list(a)
		h.repository = was
		h.service = h.on(h.store)
		if !bytes.Equal(known, read) {
			t.Errorf("from memory\n%s\nfrom the store\n%s", known, read)
		}
		if cheap.rows > 2*runs || dear.rows < cheap.rows+runs { // a run's row and who asked for it; besides its step
			t.Errorf("%d rows are read of %d runs, and %d without what is in memory", cheap.rows, runs, dear.rows)
		}
	}
}
