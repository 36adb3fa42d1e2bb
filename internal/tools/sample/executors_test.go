package sample_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/tools/sample"
)

func TestManifestIsWhatABackEndMaySend(t *testing.T) {
	m := sample.Manifest()
	facts := registry.Facts{Project: shopProject(t), Models: map[string]registry.ModelOwner{sample.RefundModelID: {}}}
	if problems := registry.Check(&m, facts); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	text, err := countersign.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := exactjson.Decode(text, &countersign.Manifest{}); err != nil {
		t.Error(err)
	}
}

// executors is the team of the manifest's agents, as registered.
func executors(t *testing.T) plan.Executors {
	t.Helper()
	c := plan.Executors{Projects: map[string]plan.Source{projectID: {Project: shopProject(t), InScope: true}}}
	m := &countersign.Model{ID: sample.RefundModelID, Revision: 1, Document: sample.RefundModel()}
	for _, item := range sample.Manifest().Agents {
		a, _, err := registry.Sync(nil, projectID, item, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		c.Executors = append(c.Executors, plan.Executor{Agent: a, Model: m})
	}
	w := sample.Team(c.Executors[0].Agent.ID, c.Executors[1].Agent.ID)
	c.Team = &countersign.Team{ID: sample.TeamID, Name: w.Name, Members: w.Members, Steps: w.Steps}
	return c
}

func TestTeamPaysTheVerifiedTotalInTheFixedCurrency(t *testing.T) {
	p, problems := plan.ForTeam(executors(t), countersign.TeamRunStart{Mode: countersign.ModeLive}, plan.Creation{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	refund := p.Step(sample.ActionRefund)
	if got := refund.InputBindings["amount"]; got != (countersign.Binding{StepID: sample.ActionReadOrder, Field: "total"}) {
		t.Errorf("the amount is bound to %+v", got)
	}
	if got := refund.Input["currency"].Text(); got != sample.FixedCurrency {
		t.Errorf("it pays in %q", got)
	}
	for _, s := range p.Steps {
		if s.Expectation == nil {
			t.Errorf("nothing is asked of the answer to %s", s.ID)
		}
	}
}

func TestTeamsCurrencyCannotBeOverridden(t *testing.T) {
	start := countersign.TeamRunStart{Inputs: map[string]map[string]countersign.Value{
		sample.ActionRefund: {"currency": countersign.String("USD")},
	}}
	if _, problems := plan.ForTeam(executors(t), start, plan.Creation{}); len(problems) != 1 {
		t.Errorf("got %v", problems)
	}
}

func TestNoAgentOfTheTeamCanDoTheOthersPart(t *testing.T) {
	c := executors(t)
	steps := c.Team.Steps
	steps[0].AgentID, steps[1].AgentID = steps[1].AgentID, steps[0].AgentID
	if problems := plan.CheckTeam(nil, c); len(problems) != 2 {
		t.Errorf("got %v", problems)
	}
}
