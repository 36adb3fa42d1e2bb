package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func projectPath(id string) string { return "/projects/" + url.PathEscape(id) }

// Projects lists the projects in scope, by id.
func (c *Client) Projects(ctx context.Context, p Paging) (*countersign.Page[countersign.Project], error) {
	return list[countersign.Project](ctx, c, "/projects", p.query())
}

// AllProjects walks all pages of [Client.Projects].
func (c *Client) AllProjects(ctx context.Context) iter.Seq2[countersign.Project, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Project], error) { return c.Projects(ctx, p) })
}

// Project reads a project.
func (c *Client) Project(ctx context.Context, id string) (*countersign.Project, error) {
	return get[countersign.Project](ctx, c, projectPath(id))
}

// SaveProject registers or edits a project (ADMIN). It is disabled afterwards:
// see [Client.CheckProjectHealth] and [Client.EnableProject].
func (c *Client) SaveProject(ctx context.Context, id string, w countersign.ProjectWrite) (*countersign.Project, error) {
	return put[countersign.Project](ctx, c, projectPath(id), w)
}

// CheckProjectHealth has the service call the project's health path (ADMIN). It shows only that the
// project is reachable.
func (c *Client) CheckProjectHealth(ctx context.Context, id string) (*countersign.HealthCheck, error) {
	return post[countersign.HealthCheck](ctx, c, projectPath(id)+"/health-check", nil)
}

// RecordConformance stores the verdicts of a check of a capability's receiver at the project's
// current revision (ADMIN). The service decides whether they prove anything.
func (c *Client) RecordConformance(ctx context.Context, id string, w countersign.ConformanceWrite) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/conformance", w)
}

// PutAnswerKeys changes the keys by which a project's receiver signs its answers (ADMIN), also under
// unfinished runs.
func (c *Client) PutAnswerKeys(ctx context.Context, id string, w countersign.AnswerKeysWrite) (*countersign.Project, error) {
	return put[countersign.Project](ctx, c, projectPath(id)+"/answer-keys", w)
}

// EnableProject allows LIVE runs to use a project whose current revision passed its health check
// (ADMIN).
func (c *Client) EnableProject(ctx context.Context, id string, w countersign.Toggle) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/enable", w)
}

// DisableProject prevents LIVE runs from using a project (ADMIN).
func (c *Client) DisableProject(ctx context.Context, id string, w countersign.Toggle) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/disable", w)
}

// ValidateProject lists contradictions and gaps in a project's approval rules, each with inputs that
// show it (contract 11).
func (c *Client) ValidateProject(ctx context.Context, id string) (*countersign.Validation, error) {
	return post[countersign.Validation](ctx, c, projectPath(id)+"/validate", nil)
}

// StartProjectRun runs one capability of a project, without a model (OPERATOR).
func (c *Client) StartProjectRun(ctx context.Context, projectID string, w countersign.ProjectRunStart, options ...StartOption) (*Started, error) {
	return c.start(ctx, projectPath(projectID)+"/runs", w, options)
}

// WhatIf says what another gate of a capability would have done with its past LIVE runs. It
// changes nothing.
func (c *Client) WhatIf(ctx context.Context, projectID string, w countersign.WhatIfRequest) (*countersign.WhatIf, error) {
	return post[countersign.WhatIf](ctx, c, projectPath(projectID)+"/what-if", w)
}

// ProjectBudgets says what is used of the budgets of a project's capabilities.
func (c *Client) ProjectBudgets(ctx context.Context, projectID string) (*countersign.BudgetUses, error) {
	return get[countersign.BudgetUses](ctx, c, "/budgets?projectId="+url.QueryEscape(projectID))
}

// AgentBudgets says what is used of an agent's budgets.
func (c *Client) AgentBudgets(ctx context.Context, agentID string) (*countersign.BudgetUses, error) {
	return get[countersign.BudgetUses](ctx, c, "/budgets?agentId="+url.QueryEscape(agentID))
}
