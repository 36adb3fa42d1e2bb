package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func approvalPath(id string) string { return "/approvals/" + url.PathEscape(id) }

// ApprovalFilter selects the approvals to list.
type ApprovalFilter struct {
	Paging
	Status countersign.ApprovalStatus
	RunID  string

	ProjectID   string
	AgentID     string
	RequestedBy string // user:… or token:…
	Group       string
	Text        string // anywhere in what you are shown
	Order       string // oldest, expires or amount; "" is the newest first
}

// Approvals lists approvals, the newest first unless the filter says otherwise.
func (c *Client) Approvals(ctx context.Context, f ApprovalFilter) (*countersign.Page[countersign.Approval], error) {
	q := f.query()
	set(q, "status", string(f.Status))
	set(q, "runId", f.RunID)
	set(q, "projectId", f.ProjectID)
	set(q, "agentId", f.AgentID)
	set(q, "requestedBy", f.RequestedBy)
	set(q, "group", f.Group)
	set(q, "q", f.Text)
	set(q, "order", f.Order)
	return list[countersign.Approval](ctx, c, "/approvals", q)
}

// AllApprovals walks all pages of [Client.Approvals].
func (c *Client) AllApprovals(ctx context.Context, f ApprovalFilter) iter.Seq2[countersign.Approval, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.Approval], error) {
		f.Paging = p
		return c.Approvals(ctx, f)
	})
}

// Approval reads an approval with the exact request that would be sent.
func (c *Client) Approval(ctx context.Context, id string) (*countersign.Approval, error) {
	return get[countersign.Approval](ctx, c, approvalPath(id))
}

// Decide approves or rejects, with a reason (APPROVER, never the principal that started the
// run).
func (c *Client) Decide(ctx context.Context, id string, w countersign.Decision) (*countersign.Approval, error) {
	return post[countersign.Approval](ctx, c, approvalPath(id)+"/decision", w)
}

// LookAgain reads the state that the approval is asked for against again (APPROVER who may decide
// it). It decides nothing.
func (c *Client) LookAgain(ctx context.Context, id string) (*countersign.Approval, error) {
	return post[countersign.Approval](ctx, c, approvalPath(id)+"/look", nil)
}
