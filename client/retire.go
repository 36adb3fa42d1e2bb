package client

import (
	"context"

	"github.com/countersign/countersign"
)

// A retired record is hidden from lists, and nothing new can be made from it. It can still be read
// by its id; nothing is deleted (ADMIN).

// RetireModel retires a model: no plan made from it executes a further step.
func (c *Client) RetireModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreModel restores a retired model, at the revision that retiring made.
func (c *Client) RestoreModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireProject retires and disables a project that no unfinished run uses.
func (c *Client) RetireProject(ctx context.Context, id, reason string) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreProject restores a retired project, disabled.
func (c *Client) RestoreProject(ctx context.Context, id, reason string) (*countersign.Project, error) {
	return post[countersign.Project](ctx, c, projectPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireAgent retires an agent: none of its runs executes a further step.
func (c *Client) RetireAgent(ctx context.Context, id, reason string) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreAgent restores a retired agent; it is admitted if it was before.
func (c *Client) RestoreAgent(ctx context.Context, id, reason string) (*countersign.Agent, error) {
	return post[countersign.Agent](ctx, c, agentPath(id)+"/restore", countersign.Reason{Reason: reason})
}

// RetireTeam retires a team: none of its runs executes a further step.
func (c *Client) RetireTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/retire", countersign.Reason{Reason: reason})
}

// RestoreTeam restores a retired team, at the revision that retiring made.
func (c *Client) RestoreTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/restore", countersign.Reason{Reason: reason})
}
