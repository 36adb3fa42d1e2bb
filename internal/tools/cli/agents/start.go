package agents

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Start is the command `agents start`.
type Start struct {
	ID         string `arg:"" help:"The agent's id."`
	Capability string `required:"" help:"The capability, one of the agent's." placeholder:"NAME"`
	runs.OneCall
	Revision int64 `help:"Only by this revision of the agent; else the current one. Give it where --key is to be repeated." placeholder:"N"`
	runs.Starting
}

// Run starts the agent's run.
func (s *Start) Run(t *terminal.Terminal) error {
	w, err := s.write(t)
	if err != nil {
		return err
	}
	return s.Start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		if w.ExpectedRevision == 0 {
			a, err := c.Agent(t.Context, s.ID)
			if err != nil {
				return nil, err
			}
			w.ExpectedRevision = a.Revision
		}
		started, err := c.StartAgentRun(t.Context, s.ID, w, key)
		return started, service.WithRevision(err)
	})
}

func (s *Start) write(t *terminal.Terminal) (countersign.AgentRunStart, error) {
	inputs, expectation, err := s.Typed(t)
	return countersign.AgentRunStart{ExpectedRevision: s.Revision, Mode: runs.ModeOf(s.Live), Capability: s.Capability, Inputs: inputs, Expectation: expectation, Reason: s.Reason}, err
}
