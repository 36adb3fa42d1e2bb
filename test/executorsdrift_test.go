package test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// crew is a team with its own model: two agents that refund, with one step each, one after the other.
type crew struct {
	*world
	name string // of the model and the team
	item doc    // the first agent's, at source revision 1
	ids  []string
	team doc
}

func (w *world) crew(t *testing.T, name string) *crew {
	t.Helper()
	c := &crew{world: w, name: name, item: agentItem(name+"-one", "refund", name)}
	w.operator.Put("/models/"+name, doc{"document": harness.Model(name)}).OK(t)
	c.ids = w.admitted(t, c.item, agentItem(name+"-two", "refund", name))
	s := func(id string, by int) doc {
		return teamStep(id, c.ids[by], "refund", doc{"orderId": name + "-" + id})
	}
	c.team = teamOf(c.ids, s("first", 0), after(s("second", 1), "first"))
	w.operator.Put("/teams/"+name, c.team).OK(t)
	return c
}

// upset is a change that prevents every further step of an earlier plan, with the kind of the drift.
type upset struct {
	kind string
	of   func(t *testing.T, c *crew)
}

var changes = map[string]upset{
	"the agent is suspended": {"agent", func(t *testing.T, c *crew) { c.move(t, "/agents/"+c.ids[0], "suspend") }},
	"the agent was suspended": {"agent", func(t *testing.T, c *crew) {
		c.move(t, "/agents/"+c.ids[0], "suspend")
		c.move(t, "/agents/"+c.ids[0], "admit")
	}},
	"the agent changed": {"agent", func(t *testing.T, c *crew) { c.sync(t, at(2, harness.With(c.item, "goal", "more"))) }},
	"the agent changed and was admitted": {"agent", func(t *testing.T, c *crew) {
		c.sync(t, at(2, harness.With(c.item, "goal", "more")))
		c.move(t, "/agents/"+c.ids[0], "admit")
	}},
	"the model is suspended": {"model", func(t *testing.T, c *crew) { c.move(t, "/models/"+c.name, "suspend") }},
	"the model was suspended": {"model", func(t *testing.T, c *crew) {
		c.move(t, "/models/"+c.name, "suspend")
		c.move(t, "/models/"+c.name, "resume")
	}},
	"the model changed": {"model", func(t *testing.T, c *crew) {
		c.operator.Put("/models/"+c.name, doc{"document": harness.Model(c.name), "expectedRevision": 1}).OK(t)
	}},
}

var teamChanges = map[string]upset{
	"another member is suspended": {"agent", func(t *testing.T, c *crew) { c.move(t, "/agents/"+c.ids[1], "suspend") }},
	"the team is suspended":       {"team", func(t *testing.T, c *crew) { c.move(t, "/teams/"+c.name, "suspend") }},
	"the team was suspended": {"team", func(t *testing.T, c *crew) {
		c.move(t, "/teams/"+c.name, "suspend")
		c.move(t, "/teams/"+c.name, "resume")
	}},
	"the team changed": {"team", func(t *testing.T, c *crew) {
		c.operator.Put("/teams/"+c.name, revised(c.team, 1)).OK(t)
	}},
}

func (c *crew) move(t *testing.T, path, verb string) {
	t.Helper()
	c.tenantAdmin.Post(path+"/"+verb, doc{"reason": "r"}).OK(t)
}

// driftsOnApproval approves a run's step after a change: the request is never sent.
func (c *crew) driftsOnApproval(t *testing.T, runID, kind string) {
	t.Helper()
	plan := c.viewer.Get("/runs/" + runID).OK(t).At("planId").Text()
	c.viewer.Get("/plans/"+plan+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.0.kind", kind)
	sent := len(c.shop.Seen("POST", "/refunds"))
	c.approve(t, runID)
	run := c.reaches(t, runID, "FAILED").Has(t, "error", "drift: "+kind+" ").Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "drift").Is(t, "steps.0.attempt", 0)
	for _, s := range run.At("steps").Items()[1:] {
		s.Is(t, "status", "SKIPPED")
	}
	if now := len(c.shop.Seen("POST", "/refunds")); now != sent {
		t.Errorf("%d requests were sent", now-sent)
	}
}

func TestWhatChangesAfterAStartKeepsAnAgentsApprovedStepFromBeingSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := 0
	for name, change := range changes {
		n++
		t.Run(name, func(t *testing.T) {
			c := w.crew(t, fmt.Sprint("crew", n))
			run := w.asks(c.ids[0], agentRun("LIVE", "refund", doc{"orderId": "o"})).OK(t).At("id").Text()
			w.approval(t, run)
			change.of(t, c)
			c.driftsOnApproval(t, run, change.kind)
		})
	}
}

func TestWhatChangesAfterAStartKeepsATeamsApprovedStepFromBeingSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := map[string]upset{"the agent changed": changes["the agent changed"], "the model was suspended": changes["the model was suspended"]}
	maps.Copy(all, teamChanges)
	n := 0
	for name, change := range all {
		n++
		t.Run(name, func(t *testing.T) {
			c := w.crew(t, fmt.Sprint("crew", n))
			run := w.teamRun(c.name, 1, nil).OK(t).At("id").Text()
			w.approval(t, run)
			change.of(t, c)
			c.driftsOnApproval(t, run, change.kind)
		})
	}
}

func TestACallInFlightEndsAsItEndsAndTheNextStepIsDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := 0
	for name, change := range map[string]upset{
		"the agent is suspended":      changes["the agent is suspended"],
		"the agent changed":           changes["the agent changed"],
		"the model is suspended":      changes["the model is suspended"],
		"another member is suspended": teamChanges["another member is suspended"],
		"the team changed":            teamChanges["the team changed"],
	} {
		n++
		t.Run(name, func(t *testing.T) {
			c, gate := w.crew(t, fmt.Sprint("crew", n)), make(chan struct{})
			w.shop.On("POST", "/refunds", harness.After(gate, harness.Answering(200, `{"ok":true}`)))
			sent := len(w.shop.Seen("POST", "/refunds"))
			run := w.teamRun(c.name, 1, nil).OK(t).At("id").Text()
			w.approve(t, run)
			w.shop.Await(t, "POST", "/refunds", sent+1)
			change.of(t, c)
			w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RUNNING") // blocking here doesn't stop the source
			close(gate)
			done := w.reaches(t, run, "FAILED").Has(t, "error", "drift: "+change.kind+" ").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.output", doc{"ok": true})
			done.Is(t, "steps.1.status", "FAILED").Is(t, "steps.1.error.code", "drift").Is(t, "steps.1.approvalId", harness.Absent)
			if now := len(w.shop.Seen("POST", "/refunds")); now != sent+1 {
				t.Errorf("%d requests were sent", now-sent)
			}
		})
	}
}

func TestAfterAChangeTheSameIsStartedAnewAtTheNewRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.crew(t, "crew")
	w.sync(t, at(2, harness.With(c.item, "executorInputs", doc{"refund": doc{"amount": 9}})))
	c.move(t, "/agents/"+c.ids[0], "admit")
	c.move(t, "/models/crew", "suspend")
	c.move(t, "/models/crew", "resume")
	c.move(t, "/teams/crew", "suspend")
	w.teamRun("crew", 2, nil).Refused(t, "drift", "crew")
	c.move(t, "/teams/crew", "resume")
	w.teamRun("crew", 1, nil).Refused(t, "revision_conflict", "2")
	run := w.teamRun("crew", 2, nil).OK(t).Is(t, "planSnapshot.agents.0.revision", 2).Is(t, "planSnapshot.agents.0.sourceRevision", 2).Is(t, "planSnapshot.models.0.revision", 2).At("id").Text()
	w.approve(t, run)
	harness.Until(t, "the second approval", func() bool {
		return w.viewer.Get("/runs/"+run).OK(t).At("waitingFor.stepId").Text() == "second"
	})
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.input", doc{"orderId": "crew-first", "amount": 9}).Is(t, "steps.1.input", doc{"orderId": "crew-second"})
}
