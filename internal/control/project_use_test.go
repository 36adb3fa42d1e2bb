package control_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAStrandedRunKeepsNoProjectFromBeingEdited: it sends nothing any more. The page of a
// project with such a run failed, since nothing moves the run.
func TestAStrandedRunKeepsNoProjectFromBeingEdited(t *testing.T) {
	h := open(t)
	u := records.Unfinished{TenantID: "acme", RunID: "run-lost", Projects: []string{"acme-one"}, State: records.Stranded, Since: time.Unix(0, 0)}
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID("acme", "run-lost"), &u, 0)
		return err
	}))
	use, err := h.service.ProjectUse(background, as("acme"), "acme-one")
	h.must(err)
	if use.Any() {
		t.Errorf("%+v", use)
	}
}

// TestAnEditsTurnReadsTheSameHoweverManyRunsAreUnfinished, whether they use the project or
// another, and whether it is accepted or refused.
func TestAnEditsTurnReadsTheSameHoweverManyRunsAreUnfinished(t *testing.T) {
	edits := map[string]func(h *fixture, project string, revision int64) error{
		"edit": func(h *fixture, project string, revision int64) error {
			_, err := h.service.PutProject(background, as("acme"), project, countersign.ProjectWrite{Name: fmt.Sprint("n", revision), Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
				{Name: "ping", Method: "POST", Path: "/ping"},
			}, ExpectedRevision: revision})
			return err
		},
		"retire": func(h *fixture, project string, _ int64) error {
			_, err := h.service.RetireProject(background, as("acme"), project, "r")
			return err
		},
	}
	for name, edit := range edits {
		for project, refused := range map[string]countersign.Code{"acme-one": countersign.CodeProjectInUse, "acme-idle": ""} {
			cost := func(runs int) int {
				h := open(t)
				h.must(edits["edit"](h, "acme-idle", 0))
				for range runs {
					h.started(as("acme"))
				}
				return h.reading(func() {
					if err := edit(h, project, 1); countersign.ErrorCode(err) != refused {
						t.Fatalf("%s of %s: %v", name, project, err)
					}
				}).turns
			}
			if few, many := cost(2), cost(40); many > few {
				t.Errorf("%s of %s: its turn reads %d rows beside 2 unfinished runs, %d beside 40", name, project, few, many)
			}
		}
	}
}

// startsBetween is a store in which runs are started between a look and the turn after it.
type startsBetween struct {
	store.Store
	start func()
}

func (s *startsBetween) Update(ctx context.Context, fn func(store.Tx) error) error {
	if start := s.start; start != nil {
		s.start = nil
		start()
	}
	return s.Store.Update(ctx, fn)
}

// TestARunThatStartsAfterTheLookKeepsItsProjectFromBeingEdited, among few or many others.
func TestARunThatStartsAfterTheLookKeepsItsProjectFromBeingEdited(t *testing.T) {
	for _, runs := range []int{1, 120} {
		h := open(t)
		between := &startsBetween{Store: h.store.Store}
		between.start = func() {
			h.elsewhere(func() {
				for range runs {
					h.started(as("acme"))
				}
			})
		}
		h.store.Store = between
		_, err := h.service.RetireProject(background, as("acme"), "acme-one", "r")
		wantCode(t, err, countersign.CodeProjectInUse)
	}
}
