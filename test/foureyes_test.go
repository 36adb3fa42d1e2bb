package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// judges tries every operation under the four-eyes rule.
func (w *world) judges(t *testing.T, who *harness.Client, allowed bool, requester *harness.Client) {
	t.Helper()
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	id := requester.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text()
	approval := w.approval(t, id).At("id").Text()
	answer := who.Post("/approvals/"+approval+"/decision", approved)
	if allowed {
		answer.OK(t)
		w.reaches(t, id, "RECOVERY_REQUIRED")
		who.Post("/runs/"+id+"/probe", doc{"stepId": "r"}).OK(t)
		who.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t)
		return
	}
	answer.Refused(t, "self_approval")
	who.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "r"}).Refused(t, "self_approval")
	w.approve(t, id)
	w.reaches(t, id, "RECOVERY_REQUIRED")
	who.Post("/runs/"+id+"/probe", doc{"stepId": "r"}).Refused(t, "self_approval")
	who.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "self_approval")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t)
}

// made creates a token with another token than the bootstrap token.
func (w *world) made(t *testing.T, maker *harness.Client, write doc) *harness.Client {
	t.Helper()
	return w.As(maker.Post("/tokens", harness.With(write, "name", "made")).OK(t).At("token").Text())
}

func TestWhoeverAskedForARunNeverJudgesIt(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	both := []string{"ADMIN", "OPERATOR", "APPROVER"}
	all := w.principal(t, both...)
	child := w.made(t, all, doc{"roles": both})
	grandchild := w.made(t, child, doc{"roles": both})
	for _, email := range []string{"anne@example.com", "bob@example.com"} {
		w.Admin.Put("/users/"+email, doc{"roles": []string{"APPROVER"}}).OK(t)
	}
	anne := w.made(t, all, doc{"roles": both, "userEmail": "anne@example.com"})
	annesOther := w.made(t, child, doc{"roles": both, "userEmail": "Anne@Example.com"})
	throughAnnes := w.made(t, annesOther, doc{"roles": both})
	bob := w.made(t, w.tenantAdmin, doc{"roles": both, "userEmail": "bob@example.com"})
	for _, c := range []struct {
		name           string
		who, requester *harness.Client
		allowed        bool
	}{
		{"the same token", all, all, false},
		{"a token that the requester made", child, all, false},
		{"a token that a token of the requester made", grandchild, all, false},
		{"the requester's maker", all, child, true},
		{"another token of the same user", annesOther, anne, false},
		{"the same user the other way round", anne, annesOther, false},
		{"a token made through another token of the same user", throughAnnes, anne, false},
		{"another user", bob, anne, true},
		{"another token without a user", w.approver, w.operator, true},
		{"a sister token", child, w.made(t, all, doc{"roles": both}), true},
	} {
		t.Run(c.name, func(t *testing.T) { w.judges(t, c.who, c.allowed, c.requester) })
	}
}

func TestAnInstallationOfOnePersonMayAllowSelfApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("ALLOW_SELF_APPROVAL", "true"))
	all := w.principal(t, "OPERATOR", "APPROVER")
	w.judges(t, all, true, all)
}
