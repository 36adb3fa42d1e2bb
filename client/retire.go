package client

import (
	"context"

	"github.com/countersign/countersign"
)

// What is retired is hidden from lists, and nothing new is made of it. It can be read
// by its id, and nothing is deleted (ADMIN).

// RetireModel retires a model: no plan made of it so far takes a further step.
func (c *Client) RetireModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreModel brings a retired model back, at the revision that retiring made.
func (c *Client) RestoreModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireProject retires and disables a project that no unfinished run uses.
func (c *Client) RetireProject(ctx context.Context, id, reason string) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreProject brings a retired project back, disabled.
func (c *Client) RestoreProject(ctx context.Context, id, reason string) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireAgent retires an agent: no run of it takes a further step.
func (c *Client) RetireAgent(ctx context.Context, id, reason string) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreAgent brings a retired agent back, admitted if it was.
func (c *Client) RestoreAgent(ctx context.Context, id, reason string) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireTeam retires a team: no run of it takes a further step.
func (c *Client) RetireTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreTeam brings a retired team back, at the revision that retiring made.
func (c *Client) RestoreTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/restore", countersign.Reason{Reason: reason})
}
