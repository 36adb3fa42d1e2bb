package outbound

import (
	"context"
	"crypto/rand"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// healthID stands for the run and the step in a health check's headers.
const healthID = "health-check"

// Health reads the project's health path with its authentication (contract 5).
// A 2xx means that it can be reached and nothing else (specification 4, rule 8);
// what its body holds doesn't matter.
func (c *Client) Health(ctx context.Context, tenant string, boundTo map[string]string, p *countersign.Project) countersign.HealthCheck {
	h := countersign.HealthCheck{ProjectID: p.ID, Revision: p.Revision, CheckedAt: c.now().UTC()}
	if p.Adapter == countersign.AdapterLocalEcho {
		h.Healthy, h.StatusCode = true, 200
		return h
	}
	m, err := c.healthMessage(tenant, boundTo, p)
	if err != nil {
		h.Error = causeOf(err)
		return h
	}
	a := c.perform(ctx, m, countersign.HealthTimeout)
	h.StatusCode, h.LatencyMs = a.status, a.took.Milliseconds()
	switch {
	case !a.head:
		h.Error = causeOf(a.err)
	case a.status < 200 || a.status > 299:
		h.Error = answered(a, maskerOf(m.credential))
	default:
		h.Healthy = true
	}
	return h
}

func (c *Client) healthMessage(tenant string, boundTo map[string]string, p *countersign.Project) (message, error) {
	path := p.HealthPath
	if path == "" {
		path = "/"
	}
	r, err := request.Build(nil, p, &countersign.Capability{Name: healthID, Method: "GET", Path: path}, nil)
	if err != nil {
		return message{}, cause(err.Error())
	}
	return c.message(request.Call{
		Tenant: tenant, BoundTo: boundTo, RunID: healthID, StepID: healthID, IdempotencyKey: healthID + "." + rand.Text(),
		Project: p, Request: r,
	})
}
