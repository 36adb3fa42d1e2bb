package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestApprovalsOfTextThatDeceivesAreSound checks the pages of approvals whose bodies are long, or have hidden
// characters, bidirectional overrides and mixed scripts.
func TestApprovalsOfTextThatDeceivesAreSound(t *testing.T) {
	if !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	mara := s.token("APPROVER")
	s.all = s.token("ADMIN", "OPERATOR", "APPROVER")
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(t)
	project := s.project()
	project["capabilities"] = []any{harness.Capability("refund.create", "POST", "/refunds", doc{"title": "Refund {amount} to {customer.name}"})}
	s.admin.Put("/projects/default-titled", project).OK(t)
	s.admin.Post("/projects/default-titled/health-check", nil).OK(t)
	s.admin.Post("/projects/default-titled/enable", doc{"expectedRevision": 1}).OK(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"state":"succeeded"}`), harness.HangingUp())

	first := doc{"amount": json.Number("249.00"), "customer": doc{"name": "Ada Byron", "iban": "DE02 1203 0000 0000 2020 51"}, "reason": "returned"}
	s.decide(mara, s.asks(first), "APPROVED", "the goods are back")
	evil := doc{
		"amount":    json.Number("249.00"),
		"customer":  doc{"name": "Ada Byron", "iban": "DE02 1203 0000 0000 2020 15", "note": "pay\u202e0052\u202c\u200b now", "shop": "p\u0430ypal", "city": "Zu\u0308rich"},
		"comment":   "שלום, זה החזר של 249.00",
		"items":     []any{doc{"id": "A-1", "n": 1, "tags": []any{"returned", "whole"}}, doc{"id": "A-2", "n": 2, "tags": []any{}}},
		"re\u202ef": true,
		"reason":    strings.Repeat("The customer sent all of it back. ", 6) + "249",
	}
	s.decide(mara, s.asks(evil), "APPROVED", "looked at")
	again := s.reaches(s.asks(evil), "WAITING_APPROVAL").At("approvalId").Text()
	long := doc{"amount": json.Number("1.00"), "customer": doc{"name": "Ada Byron"}}
	rows := make([]any, 40)
	for i := range rows {
		rows[i] = doc{"sku": "A-48213", "price": json.Number("24.90"), "text": strings.Repeat("returned whole and unused ", 80)}
	}
	long["rows"] = rows
	parts := s.reaches(s.asks(long), "WAITING_APPROVAL").At("approvalId").Text()

	p := newTab(t, h.Server)
	p.signIn(s.mail("mara"))
	p.look("approval that deceives", "/approvals/"+again)
	p.look("approval in parts", "/approvals/"+parts)
	p.look("approval's last part", "/approvals/"+parts+"?part=9")
	p.look("approvals of others", "/approvals")
}

// asks starts a run of one refund, which waits for an approval.
func (s *stage) asks(body doc) string {
	s.t.Helper()
	step := s.step("refund", "Refund payment", "refund.create", body, doc{"projectId": "default-titled", "expectation": doc{"field": "state", "equals": "succeeded"}})
	plan := doc{"name": "Refund", "modelId": "refund-agent", "modelRevision": 1, "mode": "LIVE", "steps": []any{step}}
	return s.start(s.all.Post("/plans", plan).OK(s.t).Is(s.t, "validationErrors", []string{}).At("id").Text())
}
