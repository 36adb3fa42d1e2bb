package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func groupPath(id string) string { return "/groups/" + url.PathEscape(id) }

// Groups lists the groups of users whom approval rules name, by id.
func (c *Client) Groups(ctx context.Context, p Paging) (*countersign.Page[countersign.Group], error) {
	return list[countersign.Group](ctx, c, "/groups", p.query())
}

// AllGroups walks all pages of [Client.Groups].
func (c *Client) AllGroups(ctx context.Context) iter.Seq2[countersign.Group, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Group], error) { return c.Groups(ctx, p) })
}

// Group reads a group with its members.
func (c *Client) Group(ctx context.Context, id string) (*countersign.Group, error) {
	return get[countersign.Group](ctx, c, groupPath(id))
}

// SaveGroup creates or updates a group (ADMIN).
func (c *Client) SaveGroup(ctx context.Context, id string, w countersign.GroupWrite) (*countersign.Group, error) {
	return put[countersign.Group](ctx, c, groupPath(id), w)
}

// DeleteGroup deletes a group that no rule names (ADMIN).
func (c *Client) DeleteGroup(ctx context.Context, id string) (*countersign.Group, error) {
	return remove[countersign.Group](ctx, c, groupPath(id), "")
}
