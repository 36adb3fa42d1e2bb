package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func escalating(after string, groups ...string) doc {
	return harness.With(several(0, "finance"), "escalate", doc{"after": after, "groups": groups})
}

func TestMembersOfASecondGroupDecideOnlyOnceNobodyHasForAWhile(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	bea := w.person(t, "bea@example.com", "APPROVER")
	w.person(t, "ann@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com")
	w.group(t, "board", 0, "bea@example.com")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", escalating("720h", "board")))
	a := w.approval(t, w.run(t, pay("p", "5", nil))).Is(t, "groups", []string{"finance"}).Is(t, "escalations.0.groups", []string{"board"}).Is(t, "escalations.0.for", []string{"finance"})
	w.decision(t, bea, a.At("id").Text(), approved).Refused(t, "role_required", "finance")
	w.operator.Post("/runs/"+a.At("runId").Text()+"/cancel", doc{"reason": "r"}).OK(t)

	w.Admin.Put("/projects/"+ruled, harness.With(payRules(w.shop.Origin(), "NONE", escalating("1s", "board")), "expectedRevision", 1)).OK(t)
	if !w.weakens(t, "project/"+ruled) {
		t.Error("an earlier escalation weakens the gate")
	}
	w.enable(t, ruled, 2)
	a = w.approval(t, w.run(t, pay("p", "5", nil)))
	w.viewer.Get("/runs/"+a.At("runId").Text()).OK(t).Is(t, "waitingFor.escalatesAt", a.At("escalations.0.at"))
	var answer *harness.Answer
	harness.Until(t, "the second group may decide", func() bool {
		answer = w.decision(t, bea, a.At("id").Text(), approved)
		return answer.Status == 200
	})
	answer.OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.groups", []string{"finance"}).Is(t, "decisions.0.escalated", []string{"board"})
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	w.holds(t, w.viewer, a.At("runId").Text())
}

func TestAnEscalationIsRecordedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group(t, "finance", 0)
	w.group(t, "board", 0)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", escalating("1s", "board")))
	id := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	var log json
	harness.Until(t, "the escalation to be recorded", func() bool {
		log = w.tenantAdmin.Get("/audit?subject=approval/" + id + "&action=approval.escalate").OK(t)
		return log.At("total").Int() > 0
	})
	log.Is(t, "total", 1).Is(t, "items.0.actor", "system").Is(t, "items.0.after", "board for finance")
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "PENDING") // it decides nothing
}

func TestAnEscalationThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group(t, "finance", 0)
	w.group(t, "board", 0)
	for part, r := range map[string]doc{
		"approvalRules[0].escalate.after":     escalating("0s", "board"),
		"approvalRules[0].escalate.groups":    escalating("1h"),
		"approvalRules[0].escalate.groups[0]": escalating("1h", "nobody"),
		"approvalRules[0].escalate.groups[1]": escalating("1h", "board", "board"),
		"approvalRules[0].escalate":           harness.Without(escalating("1h", "board"), "groups"),
	} {
		w.Admin.Put("/projects/"+ruled, payRules(w.shop.Origin(), "NONE", r)).Refused(t, "invalid_request", part)
	}
	w.Admin.Put("/projects/"+ruled, payRules(w.shop.Origin(), "NONE", escalating("1h", "finance"))).Refused(t, "invalid_request", "escalate.groups[0]")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", escalating("1h", "board")))
	w.Admin.Delete("/groups/board").Refused(t, "state_conflict", "escalate.groups[0]")
}
