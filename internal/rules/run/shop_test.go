package run_test

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
)

// shop is the project that the test plans call.
func shop() *countersign.Project {
	capability := func(name, method, path string, more ...func(*countersign.Capability)) countersign.Capability {
		c := countersign.Capability{Name: name, Method: method, Path: path}
		for _, f := range more {
			f(&c)
		}
		return c
	}
	approval := func(policy string) func(*countersign.Capability) {
		return func(c *countersign.Capability) { c.Approval = policy }
	}
	result := func(c *countersign.Capability) { c.OutputField = "result" }
	idempotent := func(c *countersign.Capability) { c.Idempotent = true }
	return &countersign.Project{
		ID: "acme-shop", Revision: 3, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com",
		Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "SHOP_SECRET"}), Enabled: true,
		Capabilities: []countersign.Capability{
			capability("look", "GET", "/orders/{resourceId}"),
			capability("read", "GET", "/results/{resourceId}", result),
			capability("inspect", "GET", "/ledgers/{resourceId}", approval(countersign.ApprovalAlways)),
			capability("pay", "POST", "/payments", approval(countersign.ApprovalNone), result),
			capability("refund", "POST", "/refunds", result),
			capability("tag", "PUT", "/orders/{resourceId}/tag", approval(countersign.ApprovalRiskBased), idempotent),
			capability("remove", "DELETE", "/orders/{resourceId}", approval(countersign.ApprovalRiskBased), idempotent),
		},
	}
}

// order makes a plan of steps on the shop. A step without dependsOn depends on
// the one before.
func order(t fataler, mode string, steps ...countersign.Step) *countersign.Plan {
	t.Helper()
	for i := range steps {
		s := &steps[i]
		s.Name, s.ProjectID = "Step "+s.ID, "acme-shop"
		if i > 0 && s.DependsOn == nil {
			s.DependsOn = []string{steps[i-1].ID}
		}
	}
	w := countersign.PlanWrite{Name: "Refund an order", ModelID: "refunds", ModelRevision: 2, Steps: steps, Mode: mode}
	src := plan.Sources{
		Model:    &countersign.Model{ID: "refunds", Revision: 2},
		Projects: map[string]plan.Source{"acme-shop": {Project: shop(), InScope: true}},
	}
	p := plan.New(w, src, nil, plan.Creation{ID: "plan-1", By: "user:ada@example.com", Now: dawn})
	p.ProjectSnapshots = []countersign.Project{*shop()}
	return &p
}

type outcome = request.Outcome

// answered is a complete answer; a body counts for a 2xx only.
func answered(status int, body string) outcome {
	o := outcome{Certainty: request.Returned, Response: &countersign.Response{
		StatusCode: status, Bytes: countersign.ByteCount(len(body)), DurationMs: 12, BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body))),
	}}
	if status >= 200 && status < 300 {
		o.Body = countersign.RawValue(body)
	} else {
		o.Response.Body = body
	}
	return o
}

func notSent(cause string) outcome { return outcome{Certainty: request.NotSent, Cause: cause} }

func unknown(cause string) outcome { return outcome{Certainty: request.Unknown, Cause: cause} }

// values reads a JSON object as a map of inputs or outputs.
func values(t fataler, text string) map[string]countersign.Value {
	t.Helper()
	m, ok := countersign.RawValue(text).Object()
	if !ok {
		t.Fatalf("%s is no JSON object", text)
	}
	return m
}

func statuses(r *countersign.Run) string {
	words := make([]string, len(r.Steps))
	for i, s := range r.Steps {
		words[i] = string(s.Status)
	}
	return strings.Join(words, " ")
}
