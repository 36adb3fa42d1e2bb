package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func delegationPath(email string) string { return "/delegations/" + url.PathEscape(email) }

// Delegations lists who decides approvals in whose place, by who is away.
func (c *Client) Delegations(ctx context.Context, p Paging) (*countersign.Page[countersign.Delegation], error) {
	return list[countersign.Delegation](ctx, c, "/delegations", p.query())
}

// AllDelegations walks all pages of [Client.Delegations].
func (c *Client) AllDelegations(ctx context.Context) iter.Seq2[countersign.Delegation, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Delegation], error) { return c.Delegations(ctx, p) })
}

// Delegate lets another user decide in place of one who is away: who is away themself, or
// an ADMIN for them.
func (c *Client) Delegate(ctx context.Context, email string, w countersign.DelegationWrite) (*countersign.Delegation, error) {
	return put[countersign.Delegation](ctx, c, delegationPath(email), w)
}

// EndDelegation ends a user's delegation.
func (c *Client) EndDelegation(ctx context.Context, email string) (*countersign.Delegation, error) {
	return remove[countersign.Delegation](ctx, c, delegationPath(email), "")
}
