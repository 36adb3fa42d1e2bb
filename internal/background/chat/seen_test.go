package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestNothingOfAnApprovalIsUnseen: who decides in a chat is shown every text of the record
// that could change the decision, one of a field that is added tomorrow too.
func TestNothingOfAnApprovalIsUnseen(t *testing.T) {
	var a countersign.Approval
	texts := marked.Fill(&a)
	a.Status = countersign.ApprovalPending
	q := questionOf(Ref{Tenant: "acme", Approval: a.ID, Digest: a.RequestDigest}, &a, countersign.ApprovalApproved, nil, "https://x/"+a.ID)
	m := messageOf(Ref{Tenant: "acme", Approval: a.ID, Digest: a.RequestDigest}, &a, control.Deciders{}, a.RequestedAt, "") // whose button asks the question
	for _, path := range marked.Missing(texts, fmt.Sprintf("%+v %+v", m, q), map[string]string{
		"request.query": "the URL has it", "planId": "the page has it", "runId": "the page has it", "stepId": "the page has it",
		"decisionReason": "not decided yet", "decidedBy": "not decided yet", "decidedByName": "not decided yet", "decidedByMakers": "not decided yet", "suggestedInput": "not decided yet",
		"decisions.assertion": "a proof for verifiers", "decisions.byMakers": "the page has it", "decisions.groups": "the page has it",
		"decisions.stateDigest": "a proof for verifiers", "decisions.via": "the page has it",
	}) {
		t.Errorf("the question leaves out %s", path)
	}
}

// TestNothingOfAChangeIsUnseen: nor by who decides a change. A channel is told nothing of the values.
func TestNothingOfAChangeIsUnseen(t *testing.T) {
	var c countersign.ProposedChange
	texts := marked.Fill(&c)
	c.Status = countersign.ChangeProposed
	ref := Ref{Tenant: "acme", Change: c.ID, Digest: c.Digest}
	q, m := changeQuestionOf(ref, &c, countersign.ApprovalApproved, "https://x/"+c.ID), changeMessageOf(ref, &c, nil, "")
	for _, path := range marked.Missing(texts, fmt.Sprintf("%+v %+v", m, q), map[string]string{
		"decisions.assertion": "a proof for verifiers", "decisions.byName": "the page has it", "decisions.byMakers": "the page has it", "decisions.groups": "the page has it", "decisions.via": "the page has it",
		"endedReason": "it hasn't ended", "status": "a message with buttons waits",
	}) {
		t.Errorf("the question leaves out %s", path)
	}
	told := fmt.Sprintf("%+v", m)
	for _, text := range texts {
		if strings.HasPrefix(text.Path, "diff.") && strings.Contains(strings.ToLower(told), text.Mark) {
			t.Errorf("a channel is told %s", text.Path)
		}
	}
}
