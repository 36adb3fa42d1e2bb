package control_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// limited is somebody of acme who sees these projects only.
func limited(projects ...string) control.Actor {
	a := as("acme")
	a.Projects = projects
	return a
}

// The figures are those of all agents in scope; the page is one of those that
// were asked for.
func TestAgentsAreCountedByLivenessAndNarrowedToOne(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		ids := h.sync(item("a"), item("b"), item("c"), item("d"))
		h.beat(ids[0], newHeartbeat("one", 1))
		h.beat(ids[0], newHeartbeat("two", 1))
		later(time.Hour)
		h.beat(ids[1], newHeartbeat("one", 1))
		one := control.List{Limit: 1}
		got, err := h.service.HeardAgents(background, as("acme"), one, countersign.LivenessUnknown)
		h.must(err)
		want := map[countersign.Liveness]int{countersign.LivenessOnline: 1, countersign.LivenessStale: 1, countersign.LivenessUnknown: 2}
		if diff := cmp.Diff(want, got.Counts); diff != "" {
			t.Error(diff)
		}
		if got.Page.Total != 2 || len(got.Page.Items) != 1 || got.Page.NextOffset == nil {
			t.Errorf("%+v", got.Page)
		}
		stale, err := h.service.HeardAgents(background, as("acme"), one, countersign.LivenessStale)
		h.must(err)
		if len(stale.Page.Items) != 1 || stale.Page.Items[0].ID != ids[0] || stale.Instances[ids[0]] != 2 {
			t.Errorf("%+v", stale)
		}
		beyond, err := h.service.HeardAgents(background, as("acme"), control.List{Limit: 1, Offset: 99}, "")
		h.must(err)
		if len(beyond.Page.Items) != 0 || beyond.Page.Total != 4 {
			t.Errorf("%+v", beyond.Page)
		}
		h.service.Close()
	})
}

func TestAgentsOutOfScopeAreNeitherCountedNorNamed(t *testing.T) {
	h := open(t)
	ids := h.sync(item("a"))
	for _, a := range []control.Actor{limited("acme-two"), as("beta")} {
		heard, err := h.service.HeardAgents(background, a, control.List{Limit: 10}, "")
		h.must(err)
		named, err := h.service.AgentsNamed(background, a, append(ids, "nobody"))
		h.must(err)
		if len(heard.Page.Items)+len(heard.Counts)+len(named) != 0 {
			t.Errorf("%s sees %+v %+v", a.ID, heard, named)
		}
	}
	named, err := h.service.AgentsNamed(background, limited("acme-one"), append([]string{"nobody"}, ids...))
	h.must(err)
	if len(named) != 1 || named[0].ID != ids[0] {
		t.Errorf("%+v", named)
	}
}

func TestUseOfAProjectNamesTheRunsInScope(t *testing.T) {
	h, ids := crewed(t)
	none, err := h.service.ProjectUse(background, as("acme"), "acme-one")
	h.must(err)
	if none.Any() {
		t.Errorf("%+v", none)
	}
	started, err := h.startPing(ids[0], countersign.ModeDryRun, "k")
	h.must(err)
	use, err := h.service.ProjectUse(background, as("acme"), "acme-one")
	h.must(err)
	if !use.Any() || len(use.Runs) != 1 || use.Runs[0].RunID != started.Run.ID || use.Runs[0].Moves != "it is running" {
		t.Errorf("%+v", use)
	}
	_, err = h.service.ProjectUse(background, as("beta"), "acme-one")
	wantCode(t, err, countersign.CodeNotFound)
	_, err = h.service.ProjectUse(background, limited("acme-two"), "acme-one")
	wantCode(t, err, countersign.CodeProjectScope)
}
