package runs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Again starts a run like an ended one, with other inputs.
type Again struct {
	ID  string   `arg:"" help:"The ended run's id."`
	Set []string `sep:"none" help:"An input that differs: step.name=TEXT or step.name:=JSON; the step may be left out where there is one. Repeat it for each." placeholder:"STEP.NAME=TEXT"`
	Yes bool     `help:"Start it without being asked; for LIVE runs."`
	Starting
}

// Run shows what changes, asks, and starts the run.
func (a *Again) Run(t *terminal.Terminal) error {
	c, err := a.Client(t)
	if err != nil {
		return err
	}
	r, err := c.Run(t.Context, a.ID)
	if err != nil {
		return err
	}
	p := r.PlanSnapshot
	switch {
	case !r.Status.IsTerminal():
		return terminal.Unusablef("run %s is %s: it has not ended", r.ID, r.Status)
	case p == nil:
		return terminal.Unusablef("run %s is archived: its plan is no longer here", r.ID)
	case p.Mode == countersign.ModeLive && strings.TrimSpace(a.Reason) == "":
		return terminal.Unusablef("--reason: say why the LIVE run %s is made again", r.ID)
	}
	inputs, changes, err := a.changed(p)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.Errs, changes)
	if p.Mode == countersign.ModeLive && !a.Yes {
		if err := terminal.Confirm(t, "Start the LIVE run again so?", "yes", "Look at the changes, then add --yes"); err != nil {
			return err
		}
	}
	revision, err := presentRevision(t, c, p)
	if err != nil {
		return err
	}
	a.Key = words.First(a.Key, client.NewKey())
	start := plan.OfRun(p, inputs, revision, a.Reason)
	return a.Start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		return startAgain(t, c, start, a.Key, a.Reason, key)
	})
}

// changed are the inputs of the steps that differ, and the same in words.
func (a *Again) changed(p *countersign.Plan) (map[string]map[string]countersign.Value, string, error) {
	all, said := plan.Inputs(p), []string{}
	for _, pair := range a.Set {
		name, v, err := typed.Assignment("--set", pair)
		if err != nil {
			return nil, "", err
		}
		step, field, named := strings.Cut(name, ".")
		if all[step] == nil || !named {
			if len(p.Steps) != 1 {
				return nil, "", terminal.Unusablef("--set %s: name the step first, one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
			}
			step, field = p.Steps[0].ID, name
		}
		was := "absent"
		if old, ok := all[step][field]; ok {
			was = words.Value(old)
		}
		said = append(said, fmt.Sprintf("%s.%s: %s -> %s", words.Plain(step), words.Plain(field), was, words.Value(v)))
		all[step][field] = v
	}
	if len(said) == 0 {
		return all, "nothing changes: the inputs are those of the earlier run", nil
	}
	return all, strings.Join(said, "\n"), nil
}

func presentRevision(t *terminal.Terminal, c *client.Client, p *countersign.Plan) (int64, error) {
	switch {
	case p.Team != nil:
		x, err := c.Team(t.Context, p.Team.ID)
		if err != nil {
			return 0, err
		}
		return x.Revision, nil
	case len(p.Agents) > 0:
		x, err := c.Agent(t.Context, p.Agents[0].ID)
		if err != nil {
			return 0, err
		}
		return x.Revision, nil
	case p.ModelID == "":
		return 0, nil
	}
	x, err := c.Model(t.Context, p.ModelID)
	if err != nil {
		return 0, err
	}
	return x.Revision, nil
}

func startAgain(t *terminal.Terminal, c *client.Client, start plan.Again, key, reason string, option client.StartOption) (*client.Started, error) {
	switch {
	case start.Team != nil:
		return c.StartTeamRun(t.Context, start.ID, *start.Team, option)
	case start.Agent != nil:
		return c.StartAgentRun(t.Context, start.ID, *start.Agent, option)
	case start.Call != nil:
		return c.StartProjectRun(t.Context, start.ID, *start.Call, option)
	}
	start.Plan.ID = "plan-of-" + key // the same key makes one plan and one run
	if !countersign.ValidID(start.Plan.ID) {
		return nil, terminal.Unusablef("--key %s: it becomes part of the plan's id: at most 120 letters, digits, dots, hyphens and underscores", key)
	}
	p, err := c.CreatePlan(t.Context, *start.Plan)
	if err != nil {
		return nil, err
	}
	if p.Status != countersign.PlanReady {
		return nil, fmt.Errorf("plan %s is INVALID: %s", p.ID, strings.Join(p.ValidationErrors, "; "))
	}
	return c.StartRun(t.Context, countersign.RunStart{PlanID: p.ID, Reason: reason}, option)
}
