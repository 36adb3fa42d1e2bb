package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func modelPath(id string) string { return "/models/" + url.PathEscape(id) }

// Models lists the tenant's models, by id.
func (c *Client) Models(ctx context.Context, p Paging) (*countersign.Page[countersign.Model], error) {
	return list[countersign.Model](ctx, c, "/models", p.query())
}

// AllModels walks all pages of [Client.Models].
func (c *Client) AllModels(ctx context.Context) iter.Seq2[countersign.Model, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Model], error) { return c.Models(ctx, p) })
}

// Model reads a model with its document.
func (c *Client) Model(ctx context.Context, id string) (*countersign.Model, error) {
	return get[countersign.Model](ctx, c, modelPath(id))
}

// SaveModel creates or updates a model (OPERATOR).
func (c *Client) SaveModel(ctx context.Context, id string, w countersign.ModelWrite) (*countersign.Model, error) {
	return put[countersign.Model](ctx, c, modelPath(id), w)
}

// ValidateModel lists the errors and warnings of a model's content (contract 4).
func (c *Client) ValidateModel(ctx context.Context, id string) (*countersign.Validation, error) {
	return post[countersign.Validation](ctx, c, modelPath(id)+"/validate", nil)
}

// SimulateModel simulates a scenario without calling any capability (contract 4).
func (c *Client) SimulateModel(ctx context.Context, id string, w countersign.SimulationRequest) (*countersign.Simulation, error) {
	return post[countersign.Simulation](ctx, c, modelPath(id)+"/simulate", w)
}

// CompilePlan makes a plan from a scenario's actions (OPERATOR; contract 5). An invalid plan is
// stored with the status INVALID and its validationErrors.
func (c *Client) CompilePlan(ctx context.Context, modelID string, w countersign.CompileRequest) (*countersign.Plan, error) {
	return post[countersign.Plan](ctx, c, modelPath(modelID)+"/compile-plan", w)
}

// SuspendModel prevents every further step of the plans that were made from the model (ADMIN).
func (c *Client) SuspendModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/suspend", countersign.Reason{Reason: reason})
}

// ResumeModel allows making plans from a model again (ADMIN).
func (c *Client) ResumeModel(ctx context.Context, id, reason string) (*countersign.Model, error) {
	return post[countersign.Model](ctx, c, modelPath(id)+"/resume", countersign.Reason{Reason: reason})
}
