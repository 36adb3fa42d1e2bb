package cli

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/exactjson"
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
func (s *AgentsStart) Run(t *Terminal) error {
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
		return started, withRevision(err)
	})
}

func (s *AgentsStart) write(t *Terminal) (countersign.AgentRunStart, error) {
	inputs, expectation, err := s.typed(t)
	return countersign.AgentRunStart{ExpectedRevision: s.Revision, Mode: modeOf(s.Live), Capability: s.Capability, Inputs: inputs, Expectation: expectation, Reason: s.Reason}, err
}

// ProjectsRun is the command `projects run`: it starts a run of one capability.
type ProjectsRun struct {
	ID         string `arg:"" help:"The project's id."`
	Capability string `required:"" help:"The capability." placeholder:"NAME"`
	OneCall
	Starting
}

// Run starts the run.
func (p *ProjectsRun) Run(t *Terminal) error {
	inputs, expectation, err := p.typed(t)
	if err != nil {
		return err
	}
	w := countersign.ProjectRunStart{Capability: p.Capability, Mode: modeOf(p.Live), Inputs: inputs, Expectation: expectation, Reason: p.Reason}
	return p.start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		return c.StartProjectRun(t.Context, p.ID, w, key)
	})
}

// OneCall is the flags of the commands that start a run of one capability.
type OneCall struct {
	Input        []string `sep:"none" help:"An input: name=TEXT or name:=JSON. Repeat it for each." placeholder:"NAME=TEXT"`
	Inputs       string   `help:"The inputs as a JSON object in a file; - is standard input." placeholder:"FILE"`
	Expect       string   `help:"What the output must be: field=TEXT or field:=JSON; judged besides what the capability expects. An agent's LIVE run needs one of the two." placeholder:"FIELD=TEXT"`
	ExpectStatus int64    `help:"The status that the answer must have, 200 to 299." placeholder:"N"`
	Live         bool     `help:"LIVE; else DRY_RUN, which sends nothing."`
}

func (o OneCall) typed(t *Terminal) (map[string]countersign.Value, *countersign.Expectation, error) {
	inputs := map[string]countersign.Value{}
	if o.Inputs != "" {
		if err := readDocument(t, o.Inputs, &inputs); err != nil {
			return nil, nil, err
		}
	}
	for _, pair := range o.Input {
		name, v, err := assignment("--input", pair)
		if err != nil {
			return nil, nil, err
		}
		inputs[name] = v
	}
	if o.Expect == "" {
		return inputs, nil, nil
	}
	field, v, err := assignment("--expect", o.Expect)
	return inputs, &countersign.Expectation{Field: field, Equals: v, StatusCode: o.ExpectStatus}, err
}

func modeOf(live bool) string {
	if live {
		return countersign.ModeLive
	}
	return countersign.ModeDryRun
}

// assignment parses name=TEXT, or name:=JSON for a value that is not text.
func assignment(flag, pair string) (name string, v countersign.Value, err error) {
	name, text, found := strings.Cut(pair, "=")
	name, isJSON := strings.CutSuffix(name, ":")
	switch {
	case !found || name == "":
		return "", v, Unusablef("%s %q: it must be name=TEXT or name:=JSON", flag, pair)
	case !isJSON:
		return name, countersign.String(text), nil
	}
	if err := exactjson.Check([]byte(text)); err != nil {
		return "", v, Unusablef("%s %s: what comes after := must be JSON: %v", flag, name, err)
	}
	return name, countersign.RawValue(text), nil
}
