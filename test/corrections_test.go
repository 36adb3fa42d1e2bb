package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// rejection is a decision that suggests other inputs.
func rejection(suggested any) doc {
	return doc{"decision": "REJECTED", "reason": "less", "suggestedInput": suggested}
}

func TestARejectionMaySayWhichInputsWouldBeApproved(t *testing.T) {
	t.Parallel()
	w := ownWorld(t) // a receipt contains the tenant's real name
	id := w.run(t, step("r", "refund", doc{"orderId": "o-1", "amount": 500}))
	approval := "/approvals/" + w.approval(t, id).Is(t, "suggestedInput", harness.Absent).At("id").Text()
	less := doc{"orderId": "o-1", "amount": number("5.50")}
	w.approver.Post(approval+"/decision", harness.With(approved, "suggestedInput", less)).Refused(t, "invalid_request", "suggestedInput", "REJECTED")
	for _, c := range []struct {
		part string // of the message
		bad  any
	}{
		{"suggestedInput", "less"},
		{"suggestedInput.orderId", doc{"amount": 5}},
		{"suggestedInput.amount", doc{"orderId": "o-1", "amount": "5"}},
		{"suggestedInput.currency", doc{"orderId": "o-1", "currency": "EUR"}},
	} {
		w.approver.Post(approval+"/decision", rejection(c.bad)).Refused(t, "invalid_request", c.part)
	}
	w.viewer.Get(approval).OK(t).Is(t, "status", "PENDING")
	w.approver.Post(approval+"/decision", rejection(less)).OK(t).Is(t, "suggestedInput", less)
	w.viewer.Get(approval).OK(t).Is(t, "status", "REJECTED").Is(t, "suggestedInput", less).Is(t, "inputSnapshot.amount", 500)
	w.reaches(t, id, "FAILED").Is(t, "steps.0.input.amount", 500)
	w.holds(t, w.operator, id)
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestARejectionSuggestsNothingUnlessItSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o-1"}))
	approval := "/approvals/" + w.approval(t, id).At("id").Text()
	w.approver.Post(approval+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t).Is(t, "suggestedInput", harness.Absent)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "suggestedInput", harness.Absent)
}

// TestAnAgentReadsTheSuggestionInRunStatus: it may not read approvals. The suggestion leaves out the inputs that its manifest fixes,
// since a call with such an input is refused.
func TestAnAgentReadsTheSuggestionInRunStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, fixing(agentItem("clerk", "refund", "refund"), doc{"refund": doc{"orderId": "o-1"}}))[0]
	token, _ := w.agentToken(t, id)
	a := w.enters(t, token, id)
	run := w.asks(id, agentRun("LIVE", "refund", doc{"amount": 500})).OK(t).At("id").Text()
	approval := w.approval(t, run).At("id").Text()
	a.runs("run_status", doc{"runId": run}).Is(t, "suggestedInput", harness.Absent)
	w.approver.Post("/approvals/"+approval+"/decision", rejection(doc{"orderId": "o-1", "amount": 5})).OK(t)
	w.reaches(t, run, "FAILED")
	a.runs("run_status", doc{"runId": run}).Is(t, "status", "FAILED").Is(t, "suggestedInput", doc{"amount": 5})
}

// TestASuggestionIsMaskedAsInputsAre: a reviewer may suggest another card, which a VIEWER must not see either.
func TestASuggestionIsMaskedAsInputsAre(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	viewer := w.principal(t, "VIEWER")
	approval, run := w.decidable(t, payment("p", "Mara", "5"))
	path := "/approvals/" + approval
	w.approver.Post(path+"/decision", rejection(doc{"to": doc{"name": "Mara"}, "amount": 4, "card": "card-9"})).OK(t).Is(t, "suggestedInput.card", "card-9")
	w.reaches(t, run, "FAILED")
	for _, where := range []string{path, "/approvals?runId=" + run, "/runs/" + run, "/runs/" + run + "/receipt"} {
		if seen := viewer.Get(where).OK(t).String(); strings.Contains(seen, "card-9") {
			t.Errorf("%s shows a VIEWER the suggested card", where)
		}
	}
	viewer.Get(path).OK(t).Is(t, "suggestedInput.amount", 4)
}

func TestTheConsoleTakesAndShowsASuggestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, _ := w.decidable(t, step("r", "refund", doc{"orderId": "o-1", "amount": 500}))
	path := "/approvals/" + approval
	page := mara.Open(path)
	mustSay(t, page, 200, "Reject and suggest other inputs")
	send := func(decision, suggested string) *harness.Page {
		return submitted(t, mara, mara.Open(path), path+"/decision", url.Values{"decision": {decision}, "reason": {"less"}, "suggested": {suggested}})
	}
	mustSay(t, send("REJECTED", `{"amount": "5"`), 400, "less", `{"amount": "5"`, "must be a JSON object")
	mustSay(t, send("REJECTED", `{"amount": "5"}`), 400, "suggestedInput.orderId")
	mustSay(t, send("APPROVED", `{"orderId": "o-1"}`), 400, "REJECTED")
	w.viewer.Get(path).OK(t).Is(t, "status", "PENDING")
	send("REJECTED", `{"orderId": "o-1", "amount": 5}`)
	w.viewer.Get(path).OK(t).Is(t, "status", "REJECTED").Is(t, "suggestedInput.amount", 5)
	mustSay(t, mara.Open(path), 200, "Would approve instead", "amount")
}

func TestTheCommandLineSuggestsWithARejectionOnly(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := strings.Fields(s.command(t, 5, "runs", "start", s.ready(t, refunding()), "--watch").Out)[0]
	id := s.approval(t, run).At("id").Text()
	decide := func(flags ...string) []string {
		return append([]string{"approvals", "decide", id, "--yes", "--reason", "less", "--profile", "approver"}, flags...)
	}
	prints(t, s.command(t, 2, decide("--approve", "--suggest", `{"orderId":"o"}`)...).Err, "--reject")
	prints(t, s.command(t, 2, decide("--reject", "--suggest", `[]`)...).Err, "--suggest")
	prints(t, s.command(t, 3, decide("--reject", "--suggest", `{"amount":5}`)...).Err, "suggestedInput.orderId")
	prints(t, s.command(t, 0, decide("--reject", "--suggest", "@"+s.file(t, "less.json", doc{"orderId": "o", "amount": 5}))...).Out, "REJECTED")
	prints(t, s.command(t, 0, "approvals", "show", id, "--profile", "approver").Out, "would approve", `"amount":5`)
}
