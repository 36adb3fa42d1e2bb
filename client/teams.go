package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func teamPath(id string) string { return "/teams/" + url.PathEscape(id) }

// Teams lists the teams in scope, by id.
func (c *Client) Teams(ctx context.Context, p Paging) (*countersign.Page[countersign.Team], error) {
	return list[countersign.Team](ctx, c, "/teams", p.query())
}

// AllTeams walks all pages of [Client.Teams].
func (c *Client) AllTeams(ctx context.Context) iter.Seq2[countersign.Team, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Team], error) { return c.Teams(ctx, p) })
}

// Team reads a team.
func (c *Client) Team(ctx context.Context, id string) (*countersign.Team, error) {
	return get[countersign.Team](ctx, c, teamPath(id))
}

// SaveTeam creates or updates a team of at least two admitted agents (OPERATOR;
// specification 2.16).
func (c *Client) SaveTeam(ctx context.Context, id string, w countersign.TeamWrite) (*countersign.Team, error) {
	return put[countersign.Team](ctx, c, teamPath(id), w)
}

// SuspendTeam prevents every further step of a team's runs (ADMIN).
func (c *Client) SuspendTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/suspend", countersign.Reason{Reason: reason})
}

// ResumeTeam allows runs of a team again (ADMIN).
func (c *Client) ResumeTeam(ctx context.Context, id, reason string) (*countersign.Team, error) {
	return post[countersign.Team](ctx, c, teamPath(id)+"/resume", countersign.Reason{Reason: reason})
}

// StartTeamRun runs a team's steps, one after the other (OPERATOR; specification
// 2.17).
func (c *Client) StartTeamRun(ctx context.Context, teamID string, w countersign.TeamRunStart, options ...StartOption) (*Started, error) {
	return c.start(ctx, teamPath(teamID)+"/runs", w, options)
}
