package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func planPath(id string) string { return "/plans/" + url.PathEscape(id) }

// CreatePlan stores a plan (OPERATOR; contract 5). An invalid plan is stored with the status
// INVALID and its validationErrors.
func (c *Client) CreatePlan(ctx context.Context, w countersign.PlanWrite) (*countersign.Plan, error) {
	return post[countersign.Plan](ctx, c, "/plans", w)
}

// PlanFilter selects the plans to list.
type PlanFilter struct {
	Paging
	Status  string // countersign.PlanReady or PlanInvalid
	ModelID string
}

// Plans lists plans, the newest first.
func (c *Client) Plans(ctx context.Context, f PlanFilter) (*countersign.Page[countersign.Plan], error) {
	q := f.query()
	set(q, "status", f.Status)
	set(q, "modelId", f.ModelID)
	return list[countersign.Plan](ctx, c, "/plans", q)
}

// AllPlans walks all pages of [Client.Plans].
func (c *Client) AllPlans(ctx context.Context, f PlanFilter) iter.Seq2[countersign.Plan, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.Plan], error) {
		f.Paging = p
		return c.Plans(ctx, f)
	})
}

// Plan reads a plan with its snapshots.
func (c *Client) Plan(ctx context.Context, id string) (*countersign.Plan, error) {
	return get[countersign.Plan](ctx, c, planPath(id))
}

// PlanDrift lists what has changed since the plan was made.
func (c *Client) PlanDrift(ctx context.Context, id string) (*countersign.Drift, error) {
	return get[countersign.Drift](ctx, c, planPath(id)+"/drift")
}
