package projects

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Run is the command `projects run`: it starts a run of one capability.
type Run struct {
	ID         string `arg:"" help:"The project's id."`
	Capability string `required:"" help:"The capability." placeholder:"NAME"`
	runs.OneCall
	runs.Starting
}

// Run starts the run.
func (p *Run) Run(t *terminal.Terminal) error {
	inputs, expectation, err := p.Typed(t)
	if err != nil {
		return err
	}
	w := countersign.ProjectRunStart{Capability: p.Capability, Mode: runs.ModeOf(p.Live), Inputs: inputs, Expectation: expectation, Reason: p.Reason}
	return p.Start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		return c.StartProjectRun(t.Context, p.ID, w, key)
	})
}
