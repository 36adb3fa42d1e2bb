package browser

import (
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestPagesOfRulesAreSound looks at the pages on which rules, groups and delegations are
// edited, and at an approval that they bear on.
func TestPagesOfRulesAreSound(t *testing.T) {
	if !started(t) {
		return
	}
	t.Parallel()
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"ADMIN", "APPROVER"}}).OK(t)
	s.admin.Put("/groups/finance", doc{"name": "Finance", "members": []string{s.mail("mara"), s.mail("ada")}}).OK(t)
	s.admin.Put("/groups/board", doc{"name": "Board", "members": []string{}, "claim": "groups=board"}).OK(t)
	s.admin.Put("/users/"+s.mail("ines"), doc{"roles": []string{"OPERATOR", "APPROVER"}}).OK(t)
	s.admin.Put("/delegations/"+s.mail("mara"), doc{"delegate": s.mail("ines"), "until": time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339), "reason": "holidays"}).OK(t)
	compared := func(operator string, value any) doc {
		return doc{"kind": "predicate", "variableId": "amount", "operator": operator, "value": value}
	}
	project := harness.With(s.project(), "capabilities", []any{harness.Capability("refund.create", "POST", "/refunds", doc{
		"title": "Refund {amount} for order {orderId}", "approval": "RISK_BASED", "inputSchema": doc{"orderId": harness.Input("string", true), "amount": harness.Input("number", true)},
		"approvalRules": []any{
			doc{"when": doc{"kind": "group", "combinator": "AND", "conditions": []any{compared("gt", 0), compared("lte", 50)}}, "then": "ALLOW", "reason": "small sums are checked weekly"},
			doc{"when": compared("gt", 100), "then": "ASK", "approvals": 2, "groups": []string{"finance"}, "escalate": doc{"after": "4h", "groups": []string{"board"}}, "reason": "large sums take two of finance"},
			doc{"when": compared("gt", 1000), "then": "DENY", "reason": "over the limit of a day"},
		},
		"budgets": []any{doc{"sum": "amount", "most": 5000, "window": "24h", "then": "ASK", "reason": "more than usual"}},
	})})
	s.admin.Put("/projects/default-ruled", project).OK(t)
	s.admin.Post("/projects/default-ruled/health-check", nil).OK(t)
	s.admin.Post("/projects/default-ruled/enable", doc{"expectedRevision": 1}).OK(t)
	operator := s.admin.Post("/tokens", doc{"name": "shop-backend", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text()
	run := h.As(operator).Post("/projects/default-ruled/runs", doc{"capability": "refund.create", "mode": "LIVE", "inputs": doc{"orderId": "A-48213", "amount": 249}}, "Idempotency-Key: ruled").OK(t).At("id").Text()
	var approval string
	harness.Until(t, "the approval", func() bool {
		approval = s.admin.Get("/runs/" + run).OK(t).At("approvalId").Text()
		return approval != ""
	})
	p := newTab(t, h.Server)
	p.signIn(s.mail("ada"))
	p.look("groups", "/access/groups")
	p.look("group", "/access/groups/finance")
	p.look("away", "/access/away")
	p.look("rules", "/projects/default-ruled/capability?name=refund.create")
	p.look("ruled project", "/projects/default-ruled")
	p.look("ruled approval", "/approvals/"+approval)
}
