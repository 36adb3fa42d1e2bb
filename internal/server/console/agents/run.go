package agents

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Starting a run of one capability by an agent (contract 7).

type agentRunData struct {
	Agent      countersign.Agent
	Project    countersign.Project
	Capability *countersign.Capability
	Fixed      []fixedInput
	Key        string
	Mode       form.Field
	Inputs     []form.Field
	Expected   []form.Field
	Problem    *web.Problem
}

func agentRunPage(v *web.Request) (*web.Page, error) { return agentRunAgain(v, nil) }

// toRun reads the agent and the capability that the address names.
func toRun(v *web.Request) (a countersign.Agent, p countersign.Project, c *countersign.Capability, err error) {
	if err = v.May(access.StartAgentRun); err != nil {
		return a, p, nil, err
	}
	whole, err := v.Control.Agent(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return a, p, nil, err
	}
	a = whole.AgentRecord
	if p, err = v.Control.Project(v.R.Context(), v.Actor, a.ProjectID); err != nil {
		return a, p, nil, err
	}
	if c = p.Capability(v.Query("capability")); c == nil {
		err = countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.Query("capability"))
	}
	return a, p, c, err
}

func agentRunAgain(v *web.Request, err error) (*web.Page, error) {
	a, p, c, unread := toRun(v)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := agentRunData{Agent: a, Project: p, Capability: c, Key: form.StartKey(v, err), Mode: s.Mode(p.Enabled), Inputs: s.Inputs(c, a.ExecutorInputs[c.Name]), Expected: s.Expectation(nil, form.ExpectationHint(c))}
	for _, one := range agentCapabilities(a, p, true) {
		if one.Name == c.Name {
			d.Fixed = one.Fixed
		}
	}
	d.Problem = s.Problem()
	crumbs := []web.Crumb{{Word: "Agents", Href: "/agents"}, {Word: a.Name, Href: "/agents/" + a.ID}, {Word: "Run " + c.Name}}
	return &web.Page{Name: "agent-run", Title: "Run " + c.Name, Nav: "agents", Crumbs: crumbs, Data: d}, nil
}

func startAgentRun(v *web.Request) (string, error) {
	a, _, c, err := toRun(v)
	if err != nil {
		return "", err
	}
	run, err := runAgent(v, a, c)
	if err == nil {
		return "/runs/" + run, nil
	}
	return "", v.FormAgain(err, agentRunAgain)
}

func runAgent(v *web.Request, a countersign.Agent, c *countersign.Capability) (runID string, err error) {
	start := countersign.AgentRunStart{ExpectedRevision: v.FormRevision(), Mode: v.Form("mode"), Capability: c.Name}
	var unfit, unclear error
	start.Inputs, unfit = form.TypedInputs(v, c, a.ExecutorInputs[c.Name])
	start.Expectation, unclear = form.TypedExpectation(v)
	if err := web.Together(unfit, unclear, v.Chosen("mode")); err != nil {
		return "", err
	}
	started, err := v.Control.StartAgentRun(v.R.Context(), v.Actor, a.ID, start, form.StartKey(v, nil))
	return started.Run.ID, err
}
