package cli

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// ProjectsRun is the command `projects run`: it starts a run of one capability.
type ProjectsRun struct {
	ID         string `arg:"" help:"The project's id."`
	Capability string `required:"" help:"The capability." placeholder:"NAME"`
	OneCall
	Starting
}

// Run starts the run.
func (p *ProjectsRun) Run(t *terminal.Terminal) error {
	inputs, expectation, err := p.typed(t)
	if err != nil {
		return err
	}
	w := countersign.ProjectRunStart{Capability: p.Capability, Mode: modeOf(p.Live), Inputs: inputs, Expectation: expectation, Reason: p.Reason}
	return p.start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		return c.StartProjectRun(t.Context, p.ID, w, key)
	})
}
