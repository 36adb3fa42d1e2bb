package demo

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

const teamRevision = 1 // as the demo stores it; an idempotency key belongs to one request, including the revision

// teamRefund refunds another order by the team, and then asks for an input that the refunder's
// manifest forbids.
func (d *demo) teamRefund(ctx context.Context) error {
	team, err := findOrSave(ctx, d.operator.Team, d.operator.SaveTeam, sample.TeamID, sample.Team(d.agents.assessor.ID, d.agents.refunder.ID))
	if err != nil {
		return err
	}
	d.showTeam(team)
	d.teamRun, err = d.live(ctx, teamOrder("demo-team-refund", nil))
	if err != nil {
		return err
	}
	d.showEnd("the team's run", d.teamRun)
	return d.overrideFixed(ctx)
}

// teamOrder starts a LIVE run of the team; inputs override those of its steps.
func teamOrder(key string, inputs map[string]map[string]countersign.Value) order {
	return func(ctx context.Context, c caller, n int) (*client.Started, error) {
		return c.StartTeamRun(ctx, sample.TeamID, countersign.TeamRunStart{ExpectedRevision: teamRevision, Mode: countersign.ModeLive, Inputs: inputs}, keyOf(key, n))
	}
}

func (d *demo) showTeam(t countersign.Team) {
	d.print.row("team", "%s, revision %d", t.ID, t.Revision)
	for _, s := range t.Steps {
		d.print.row(s.ID, "%s by the %s", s.Capability, d.agents.name(s.AgentID))
		for _, input := range slices.Sorted(maps.Keys(s.InputBindings)) {
			b := s.InputBindings[input]
			d.print.row("", "%s comes from %s.%s, once that is verified", input, b.StepID, b.Field)
		}
	}
}

// showFixed prints the inputs of a step that the manifest fixes.
func (d *demo) showFixed(p *countersign.Plan, s *countersign.Step) {
	for _, a := range p.Agents {
		if a.ID != s.AgentID {
			continue
		}
		fixed := a.ExecutorInputs[s.Capability]
		for _, input := range slices.Sorted(maps.Keys(fixed)) {
			d.print.row("", "%s %s is fixed by the %s's manifest", input, fixed[input].Raw(), d.agents.name(a.ID))
		}
	}
}

// overrideFixed asks for the same run in another currency. The service refuses it before
// there is a run, so its key stays unused and each demo can ask again.
func (d *demo) overrideFixed(ctx context.Context) error {
	const other = "USD"
	d.print.say("Somebody asks for the same run with the refund in %s:", other)
	before := len(d.shop.Received())
	_, err := teamOrder("demo-team-override", map[string]map[string]countersign.Value{
		sample.ActionRefund: {"currency": countersign.String(other)},
	})(ctx, d.operator, 0)
	refusal, err := d.refused(err, countersign.CodeInvalidRequest, "a fixed input can't be overridden")
	if err != nil {
		return err
	}
	if refusal != nil {
		d.print.row("refused", "%s", refusal.Code)
		d.print.row("", "%s", refusal.Message)
	}
	sent := len(d.shop.Received()) - before
	d.holds(sent == 0, "a refused start sends nothing; the shop received %d requests", sent)
	d.print.row("shop's log", "%s since", count(sent, "request", "requests"))
	return nil
}
