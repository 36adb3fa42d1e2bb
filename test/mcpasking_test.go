package test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// asksWorld has an agent whose refunds wait for a person, whose notes don't, and that reads.
func asksWorld(t *testing.T, settings ...harness.Setting) (*world, string) {
	t.Helper()
	w := newWorld(t, settings...)
	w.expects(t)
	return w, w.admitted(t, harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"refund", "note", "lookup"}))[0]
}

// TestAnAgentsWaitingRunsAreBounded: one more LIVE start of a side effect is refused, names the
// oldest and stores nothing; a repeat finds its run, reads and rehearsals go on, and a decision makes room.
func TestAnAgentsWaitingRunsAreBounded(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t, harness.Set("MAX_PENDING_APPROVALS_PER_AGENT", "3"))
	a := w.enters(t, w.operator, id)
	call := func(n int) doc { return doc{"orderId": "o", "task": fmt.Sprint(n), "waitSeconds": 0} }
	var runs []string
	for n := range 3 {
		runs = append(runs, a.runs("refund", call(n)).At("runId").Text())
		harness.Until(t, "the run to wait", func() bool {
			return a.runs("run_status", doc{"runId": runs[n]}).At("outcome").Text() == "WAITING_FOR_A_PERSON"
		})
	}
	for _, tool := range []string{"refund", "note"} {
		arguments := doc{"task": "more"}
		if tool == "refund" {
			arguments["orderId"] = "o"
		}
		a.refuses(tool, arguments, "quota_exceeded", "wait for an approval", runs[0], "3")
	}
	w.operator.Post("/agents/"+id+"/runs", agentRun("LIVE", "note", doc{}), key()).Refused(t, "quota_exceeded", runs[0])
	if total := w.operator.Get("/runs").OK(t).At("total").Int(); total != 3 {
		t.Errorf("%d runs are stored", total)
	}
	a.runs("refund", call(1)).Is(t, "runId", runs[1]).Is(t, "replayed", true)
	a.runs("lookup", doc{"resourceId": "o"}).Is(t, "outcome", "DONE")
	w.rehearses(t, w.operator, id).runs("refund", harness.Without(call(9), "waitSeconds")).Is(t, "outcome", "REHEARSED")
	w.operator.Post("/runs/"+runs[2]+"/cancel", doc{"reason": "r"}).OK(t)
	a.runs("refund", call(4)).Is(t, "replayed", false)
}

// TestACallThatIsRejectedTwiceAsksNobodyAgain under any task, by whichever agent; the second
// approval says after which rejection it asks.
func TestACallThatIsRejectedTwiceAsksNobodyAgain(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	other := w.admitted(t, agentItem("other", "refund", "refund"))[0]
	a, b := w.enters(t, w.operator, id), w.enters(t, w.operator, other)
	reject := func(by agentByMCP, task string, marked any) string {
		t.Helper()
		approval := by.runs("refund", doc{"orderId": "o", "task": task}).At("waitingFor.approvalId").Text()
		w.approver.Get("/approvals/"+approval).OK(t).Is(t, "askedAgainAfter", marked)
		w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
		return approval
	}
	first := reject(a, "1", harness.Absent)
	a.runs("refund", doc{"orderId": "o", "task": "1"}).Is(t, "outcome", "REFUSED").Is(t, "replayed", true).Has(t, "message", "in other words")
	reject(b, "2", first)
	for _, arguments := range []doc{{"task": "3"}, {"task": "3", "again": "please"}, {}} {
		for _, by := range []agentByMCP{a, b} {
			by.refuses("refund", harness.With(arguments, "orderId", "o"), "state_conflict", "rejected 2 times")
		}
	}
	a.runs("refund", doc{"orderId": "another"}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
}

// TestAReadThatIsRejectedTwiceAsksNobodyAgain: a person said no to what it would tell, too.
func TestAReadThatIsRejectedTwiceAsksNobodyAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.enters(t, w.operator, w.admitted(t, agentItem("clerk", "guarded", "refund"))[0])
	var marked any = harness.Absent
	for range 2 { // the same call is a new run: a read is never answered from one that has ended
		approval := a.runs("guarded", doc{"n": 1}).Is(t, "replayed", false).At("waitingFor.approvalId").Text()
		w.approver.Get("/approvals/"+approval).OK(t).Is(t, "askedAgainAfter", marked)
		w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
		marked = approval
	}
	for _, arguments := range []doc{{"n": 1}, {"n": number("1.0"), "task": "another"}, {"n": 1, "again": "please"}} {
		a.refuses("guarded", arguments, "state_conflict", "rejected 2 times")
	}
	a.runs("guarded", doc{"n": 2}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
	if seen := w.shop.Seen("GET", "/guarded"); len(seen) != 0 {
		t.Errorf("%d reads were sent", len(seen))
	}
}

// TestWhileACallIsOpenAPersonIsAsked: nobody knows what became of it, so none like it goes out
// unasked over MCP, and again is refused; starts by other doors say what is open.
func TestWhileACallIsOpenAPersonIsAsked(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	a, b := w.enters(t, w.operator, id), w.enters(t, w.operator, other)
	w.shop.On("POST", "/notes", harness.HangingUp())
	open := a.runs("note", doc{"n": 1}).Is(t, "outcome", "UNKNOWN").Has(t, "message", "don't do it again").At("runId").Text()
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true}`))
	a.runs("note", doc{"n": 1}).Is(t, "runId", open).Is(t, "replayed", true).Is(t, "outcome", "UNKNOWN")
	for _, by := range []agentByMCP{a, b} {
		refused, is := by.call("note", doc{"n": 1, "again": "the connection closed"})
		if !is {
			t.Errorf("it is done again: %s", refused)
		}
		refused.Is(t, "outcome", "UNKNOWN").Is(t, "error", "state_conflict").Is(t, "runId", open).Is(t, "url", w.URL+"/console/recovery/"+open)
	}
	token, _ := w.agentToken(t, other)
	refused, _ := w.enters(t, token, other).call("note", doc{"n": 1, "again": "the connection closed"})
	refused.Is(t, "outcome", "UNKNOWN").Is(t, "runId", nil).Is(t, "url", nil)
	sent := len(w.shop.Seen("POST", "/notes"))
	for n, by := range map[string]agentByMCP{"another task": a, "another agent": b} {
		asked := by.runs("note", doc{"n": number("1.0"), "task": n}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
		w.viewer.Get("/runs/"+asked.At("runId").Text()).OK(t).Is(t, "openAlike", []string{open})
		w.approver.Get("/approvals/"+asked.At("waitingFor.approvalId").Text()).OK(t).Is(t, "openAlike", []string{open}).Has(t, "reasons.0", open)
	}
	if now := len(w.shop.Seen("POST", "/notes")); now != sent {
		t.Errorf("%d notes were sent while one was open", now-sent)
	}
	a.runs("note", doc{"n": 2}).Is(t, "outcome", "DONE")
	w.rehearses(t, w.operator, id).runs("note", doc{"n": 1}).Is(t, "outcome", "REHEARSED")
	started := w.asks(id, harness.With(agentRun("LIVE", "note", doc{"n": 1}), "expectation", doc{"field": "ok", "equals": true})).OK(t).Is(t, "openAlike", []string{open})
	w.reaches(t, started.At("id").Text(), "COMPLETED")
	w.approver.Post("/runs/"+open+"/reconcile", doc{"resolution": "CONFIRMED_COMPLETED", "evidence": "the shop has it", "output": doc{"ok": true}}).OK(t)
	a.runs("note", doc{"n": 1, "again": "for another customer"}).Is(t, "outcome", "DONE")
}

// TestACallSaysHowLongItWaits, for a slot and for a person; one that waits stores nothing.
func TestACallSaysHowLongItWaits(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	a := w.enters(t, w.operator, id)
	waiting := a.runs("refund", doc{"orderId": "o", "waitSeconds": 0}).At("runId").Text()
	approval := w.approval(t, waiting).At("id").Text()
	ended := make(chan json)
	go func() { ended <- a.runs("run_status", doc{"runId": waiting, "waitSeconds": 50}) }()
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
	(<-ended).Is(t, "outcome", "DONE").Is(t, "runId", waiting)

	gate := make(chan struct{})
	w.shop.On("POST", "/notes", harness.After(gate, harness.Answering(200, `{"ok":true}`)), harness.Answering(200, `{"ok":true}`))
	busy := a.runs("note", doc{"n": 1, "waitSeconds": 0}).Is(t, "outcome", "RUNNING").Has(t, "message", "do nothing else").At("runId").Text()
	refused, is := a.call("note", doc{"n": 2, "waitSeconds": 0})
	if !is {
		t.Errorf("it got a slot: %s", refused)
	}
	refused.Is(t, "outcome", "REFUSED").Is(t, "error", "capacity").Has(t, "message", "the very same call again")
	if refused.At("retryAfter").Int() <= 0 {
		t.Errorf("%s", refused)
	}
	go func() { ended <- a.runs("note", doc{"n": 2, "waitSeconds": 50}) }()
	close(gate)
	if got := <-ended; got.Is(t, "outcome", "DONE").At("runId").Text() == busy {
		t.Errorf("%s", got)
	}
}

// TestAReadIsAnsweredByTheAPIEachTime.
func TestAReadIsAnsweredByTheAPIEachTime(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	a := w.enters(t, w.operator, id)
	first := a.runs("lookup", doc{"resourceId": "o"}).Is(t, "outcome", "DONE").Is(t, "replayed", false)
	second := a.runs("lookup", doc{"resourceId": "o"}).Is(t, "outcome", "DONE").Is(t, "replayed", false)
	if first.At("runId").Text() == second.At("runId").Text() || !first.At("startedAt").Exists() || !first.At("endedAt").Exists() {
		t.Errorf("%s and %s", first, second)
	}
}

// TestWhatTheAPIRefusedIsTold, quoted.
func TestWhatTheAPIRefusedIsTold(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(422, `{"error":"paid back already"}`))
	a := w.enters(t, w.operator, id)
	refused := a.runs("note", doc{}).Is(t, "outcome", "REFUSED").Is(t, "steps.0.response.statusCode", 422).Has(t, "steps.0.response.body", "API's own words", "paid back already")
	a.runs("note", doc{}).Is(t, "runId", refused.At("runId").Text()) // it was sent
}

// TestWhatWasNeverSentIsCalledAnew: the API was away, or nobody decided in time.
func TestWhatWasNeverSentIsCalledAnew(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	a := w.enters(t, w.operator, id)
	cancelled := a.runs("refund", doc{"orderId": "o"}).At("runId").Text()
	w.operator.Post("/runs/"+cancelled+"/cancel", doc{"reason": "r"}).OK(t)
	a.runs("run_status", doc{"runId": cancelled}).Is(t, "outcome", "STOPPED").Has(t, "message", "before anything was sent")
	if again := a.runs("refund", doc{"orderId": "o"}).Is(t, "replayed", false); again.At("runId").Text() == cancelled {
		t.Errorf("%s", again)
	}
}
