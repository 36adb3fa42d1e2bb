package test

import (
	"testing"
)

// TestAnotherPolicyIsTriedOnTheRunsThatThereWere: the output names the runs that would need no approval.
func TestAnotherPolicyIsTriedOnTheRunsThatThereWere(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	plan := s.ready(t, planOf(step("n", "note", nil), after(step("r", "refund", doc{"orderId": "o"}), "n")))
	id := s.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text()
	s.reaches(t, id, "WAITING_APPROVAL")
	approval := s.viewer.Get("/runs/" + id).OK(t).At("approvalId").Text()
	s.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "no such order"}).OK(t)
	s.reaches(t, id, "FAILED")

	found := s.asked(t, "policy", "what-if", "--set", shop+"/refund=NONE", "--set", shop+"/note=ALWAYS")
	found.Is(t, "runs", 1).Is(t, "steps", 2).Is(t, "asked", 1).Is(t, "wouldAsk", 1)
	found.Is(t, "capabilities.0.name", shop+"/note").Is(t, "capabilities.0.more", 1)
	found.Is(t, "capabilities.1.fewer", 1).Is(t, "capabilities.1.rejected", []string{id})
	prints(t, s.command(t, 0, "policy", "what-if", "--all", "NONE").Out, "rejected by a person, and would have been sent: "+id)
	s.command(t, 2, "policy", "what-if")
	s.command(t, 2, "policy", "what-if", "--set", "refund=NONE")
	s.command(t, 2, "policy", "what-if", "--set", shop+"/refund=SOMETIMES")
}

func TestTheCommandLineComparesARunWithItsRehearsal(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dry, live := planOf(step("n", "note", nil)), planOf(step("n", "note", nil))
	dry["mode"] = "DRY_RUN"
	run := func(plan doc, key string) string {
		id := s.operator.Post("/runs", doc{"planId": s.ready(t, plan)}, keyed(key)).OK(t).At("id").Text()
		s.reaches(t, id, "COMPLETED")
		return id
	}
	id := run(live, "live")
	prints(t, s.command(t, 1, "runs", "rehearsal", id).Out, "NONE: no rehearsal")
	rehearsal := run(dry, "dry")
	prints(t, s.command(t, 0, "runs", "rehearsal", id).Out, rehearsal, "SAME: it sends what was rehearsed")
	s.command(t, 3, "runs", "rehearsal", rehearsal)
}
