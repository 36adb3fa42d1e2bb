package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func changePath(id string) string { return "/changes/" + url.PathEscape(id) }

// Changes lists proposed changes, the newest first (ADMIN).
func (c *Client) Changes(ctx context.Context, p Paging) (*countersign.Page[countersign.ProposedChange], error) {
	return list[countersign.ProposedChange](ctx, c, "/changes", p.query())
}

// AllChanges walks all pages of [Client.Changes].
func (c *Client) AllChanges(ctx context.Context, p Paging) iter.Seq2[countersign.ProposedChange, error] {
	return walk(p, func(p Paging) (*countersign.Page[countersign.ProposedChange], error) { return c.Changes(ctx, p) })
}

// Change reads a proposed change (ADMIN).
func (c *Client) Change(ctx context.Context, id string) (*countersign.ProposedChange, error) {
	return get[countersign.ProposedChange](ctx, c, changePath(id))
}

// DecideChange approves or rejects a proposed change (ADMIN, never its proposer). The last approval
// makes it.
func (c *Client) DecideChange(ctx context.Context, id string, w countersign.ChangeDecision) (*countersign.ProposedChange, error) {
	return post[countersign.ProposedChange](ctx, c, changePath(id)+"/decision", w)
}

// WithdrawChange takes a change back, as its proposer.
func (c *Client) WithdrawChange(ctx context.Context, id string, w countersign.ChangeWithdrawal) (*countersign.ProposedChange, error) {
	return post[countersign.ProposedChange](ctx, c, changePath(id)+"/withdraw", w)
}

// Made is the answer of what was proposed and is made: of a token or of a sign-in link, whose secret only this
// answer has.
type Made struct {
	Token string `json:"token,omitempty"` // the secret of a token
	URL   string `json:"url,omitempty"`   // a sign-in link
	ID    string `json:"id,omitempty"`    // of the token
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"` // of the user whom the link signs in
}

// MakeChange makes, as its proposer, an approved change that answers a secret.
func (c *Client) MakeChange(ctx context.Context, id string) (*Made, error) {
	return post[Made](ctx, c, changePath(id)+"/make", struct{}{})
}
