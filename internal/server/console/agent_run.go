package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// Starting a run of one capability by an agent (contract 7).

type agentRunData struct {
	Agent      countersign.Agent
	Project    countersign.Project
	Capability *countersign.Capability
	Fixed      []fixedInput
	Key        string
	Mode       field
	Inputs     []field
	Expected   []field
	Problem    *problem
}

func agentRunPage(v *pageRequest) (*page, error) { return v.agentRunAgain(nil) }

// toRun reads the agent and the capability that the address names.
func (v *pageRequest) toRun() (a countersign.Agent, p countersign.Project, c *countersign.Capability, err error) {
	if err = v.may(access.StartAgentRun); err != nil {
		return a, p, nil, err
	}
	whole, err := v.control.Agent(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return a, p, nil, err
	}
	a = whole.AgentRecord
	if p, err = v.control.Project(v.r.Context(), v.actor, a.ProjectID); err != nil {
		return a, p, nil, err
	}
	if c = p.Capability(v.query("capability")); c == nil {
		err = countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.query("capability"))
	}
	return a, p, c, err
}

func (v *pageRequest) agentRunAgain(err error) (*page, error) {
	a, p, c, unread := v.toRun()
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(err, "")
	d := agentRunData{Agent: a, Project: p, Capability: c, Key: v.startKey(err), Mode: s.mode(p.Enabled), Inputs: s.inputs(c, a.ExecutorInputs[c.Name]), Expected: s.expectation(nil, expectationHint(c))}
	for _, one := range agentCapabilities(a, p, true) {
		if one.Name == c.Name {
			d.Fixed = one.Fixed
		}
	}
	d.Problem = s.problem()
	crumbs := []crumb{{Word: "Agents", Href: "/agents"}, {Word: a.Name, Href: "/agents/" + a.ID}, {Word: "Run " + c.Name}}
	return &page{name: "agent-run", Title: "Run " + c.Name, Nav: "agents", Crumbs: crumbs, Data: d}, nil
}

func startAgentRun(v *pageRequest) (string, error) {
	a, _, c, err := v.toRun()
	if err != nil {
		return "", err
	}
	run, err := v.runAgent(a, c)
	if err == nil {
		return "/runs/" + run, nil
	}
	return "", v.formAgain(err, (*pageRequest).agentRunAgain)
}

func (v *pageRequest) runAgent(a countersign.Agent, c *countersign.Capability) (runID string, err error) {
	start := countersign.AgentRunStart{ExpectedRevision: v.formRevision(), Mode: v.form("mode"), Capability: c.Name}
	var unfit, unclear error
	start.Inputs, unfit = v.typedInputs(c, a.ExecutorInputs[c.Name])
	start.Expectation, unclear = v.typedExpectation()
	if err := together(unfit, unclear, v.chosen("mode")); err != nil {
		return "", err
	}
	started, err := v.control.StartAgentRun(v.r.Context(), v.actor, a.ID, start, v.startKey(nil))
	return started.Run.ID, err
}
