package cli

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// AgentsStart is the command `agents start`.
type AgentsStart struct {
	ID         string `arg:"" help:"The agent's id."`
	Capability string `required:"" help:"The capability, one of the agent's." placeholder:"NAME"`
	OneCall
	Revision int64 `help:"Only by this revision of the agent; else the current one. Give it where --key is to be repeated." placeholder:"N"`
	Starting
}

// Run starts the agent's run.
func (s *AgentsStart) Run(t *terminal.Terminal) error {
	w, err := s.write(t)
	if err != nil {
		return err
	}
	return s.start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
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

func (s *AgentsStart) write(t *terminal.Terminal) (countersign.AgentRunStart, error) {
	inputs, expectation, err := s.typed(t)
	return countersign.AgentRunStart{ExpectedRevision: s.Revision, Mode: modeOf(s.Live), Capability: s.Capability, Inputs: inputs, Expectation: expectation, Reason: s.Reason}, err
}
