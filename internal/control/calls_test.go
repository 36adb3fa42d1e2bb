package control_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// asksFor makes the same LIVE call of an agent, for a task and perhaps again.
func (f *fixture) asksFor(id, task, again string) (control.Started, error) {
	start := countersign.AgentRunStart{Mode: countersign.ModeLive, Capability: "ping", Expectation: done}
	return f.service.CallAgent(background, as("acme"), id, start, countersign.AgentWords{Task: task, Again: again}, 0)
}

var (
	approvedByBen = run.Decided{Decision: countersign.ApprovalApproved, Reason: "r", By: "user:ben@acme.example"}
	rejectedByBen = run.Decided{Decision: countersign.ApprovalRejected, Reason: "r", By: "user:ben@acme.example"}
	lostAnswer    = run.Returned{Attempt: 1, Outcome: request.Outcome{Certainty: request.Unknown, Cause: "no answer"}}
)

// becomesUncertain is the run of a call whose answer is lost.
func (f *fixture) becomesUncertain(id, task string) string {
	f.t.Helper()
	started, err := f.asksFor(id, task, "")
	f.must(err)
	return f.applied(started.Run.ID, run.Resumed{}, approvedByBen, run.Resumed{}, lostAnswer).ID
}

// TestWhileACallIsOpenItIsNotMadeAgain, by whichever agent and however it is asked for; the same
// call finds its run.
func TestWhileACallIsOpenItIsNotMadeAgain(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("one"), item("two"))
	open := h.becomesUncertain(ids[0], "a")
	if same, err := h.asksFor(ids[0], "a", ""); err != nil || same.Run.ID != open {
		t.Errorf("the same call is %s, %v", same.Run.ID, err)
	}
	for _, id := range ids {
		for _, task := range []string{"a", "b", ""} {
			_, err := h.asksFor(id, task, "once more")
			var refused *control.OpenCallError
			if !errors.As(err, &refused) || refused.RunID != open || countersign.ErrorCode(err) != countersign.CodeStateConflict {
				t.Errorf("%s for %q: %v", id, task, err)
			}
		}
	}
	limited := as("acme")
	limited.Agents = ids[1:]
	limited.Roles = []countersign.Role{countersign.RoleOperator}
	start := countersign.AgentRunStart{Mode: countersign.ModeLive, Capability: "ping", Expectation: done}
	var refused *control.OpenCallError
	if _, err := h.service.CallAgent(background, limited, ids[1], start, countersign.AgentWords{Again: "x"}, 0); !errors.As(err, &refused) || refused.RunID != "" {
		t.Errorf("a token of another agent is told of %+v", refused)
	}

	other, err := h.asksFor(ids[1], "b", "")
	h.must(err)
	r := h.applied(other.Run.ID, run.Resumed{})
	ap := h.approvalOf(r.ApprovalID)
	if r.Status != countersign.RunWaitingApproval || fmt.Sprint(r.OpenAlike) != "["+open+"]" || fmt.Sprint(ap.OpenAlike) != "["+open+"]" || !strings.Contains(strings.Join(ap.Reasons, " "), open) {
		t.Errorf("another agent's call is %s, says %v, and its approval %v because %q", r.Status, r.OpenAlike, ap.OpenAlike, ap.Reasons)
	}
	byAPI, err := h.startPing(ids[0], countersign.ModeLive, "k")
	if err != nil || fmt.Sprint(byAPI.Run.OpenAlike) != "["+open+"]" {
		t.Errorf("a start by the API says %v, %v", byAPI.Run.OpenAlike, err)
	}
	dry := start
	dry.Mode = countersign.ModeDryRun
	if _, err := h.service.CallAgent(background, as("acme"), ids[0], dry, countersign.AgentWords{Again: "x"}, 0); err != nil {
		t.Errorf("a rehearsal is held up: %v", err)
	}

	h.applied(open, run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "e"}, By: "user:ben@acme.example"})
	if again, err := h.asksFor(ids[0], "a", "it was another customer"); err != nil || again.Replayed || len(again.Run.OpenAlike) != 0 {
		t.Errorf("once it is known: %+v, %v", again.Run.OpenAlike, err)
	}
	if left := h.marks("alike/"); left != 0 {
		t.Errorf("%d marks are left", left)
	}
}

// TestACallFindsWhatWasSentBehindOneThatWasNot: a call that is made again and cancelled before
// it sends anything doesn't hide from a repeat what was sent before it.
func TestACallFindsWhatWasSentBehindOneThatWasNot(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.admitted(item("one"))[0]
		start := func(again string, replayed bool) string {
			t.Helper()
			out, err := h.asksFor(id, "a", again)
			if err != nil || out.Replayed != replayed {
				t.Fatalf("again %q: %+v, %v", again, out.Replayed, err)
			}
			return out.Run.ID
		}
		cancelled := func(runID string) {
			t.Helper()
			h.applied(runID, run.CancelAsked{Reason: "r", By: "user:ben@acme.example"})
		}
		first := start("", false)
		h.applied(first, run.Resumed{}, approvedByBen, run.Resumed{},
			run.Returned{Attempt: 1, Outcome: request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 200}, Body: countersign.RawValue(`{"state":"done"}`)}})
		later(time.Hour)
		second, third := start("once more", false), start("and once more", false)
		cancelled(third)
		if found := start("", true); found != second {
			t.Errorf("while the second goes on, the same call is %s, not %s", found, second)
		}
		cancelled(second)
		for range 2 {
			if found := start("", true); found != first {
				t.Errorf("the same call is %s, not %s", found, first)
			}
		}
		later(countersign.RepeatedCall)
		fourth := start("", false)
		cancelled(fourth)
		if fifth := start("", false); fifth == fourth {
			t.Error("what was never sent answers a call")
		}
	})
}

// TestAnOpenCallIsSeenAtTheGateToo: what was known when the run was started may have changed.
func TestAnOpenCallIsSeenAtTheGateToo(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("one"), item("two"))
	second, err := h.asksFor(ids[1], "", "")
	h.must(err)
	open := h.becomesUncertain(ids[0], "")
	r := h.applied(second.Run.ID, run.Resumed{})
	if fmt.Sprint(r.OpenAlike) != "["+open+"]" || fmt.Sprint(h.approvalOf(r.ApprovalID).OpenAlike) != "["+open+"]" {
		t.Errorf("the run says %v", r.OpenAlike)
	}
}

// TestAMarkThatAnOlderReleaseLeftHoldsNobodyUp: the run itself says what it is.
func TestAMarkThatAnOlderReleaseLeftHoldsNobodyUp(t *testing.T) {
	h := open(t)
	id := h.admitted(item("one"))[0]
	open := h.becomesUncertain(id, "")
	h.becomesUncertainBeside(id)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		r, version, err := records.Runs.Get(tx, "acme", open)
		if err != nil {
			return err
		}
		r.Status, r.WaitingFor = countersign.RunCancelled, nil
		_, err = records.Runs.Put(tx, "acme", open, r, version)
		return err
	}))
	if _, err := h.asksFor(id, "b", "once more"); err != nil {
		t.Errorf("%v", err)
	}
}

// becomesUncertainBeside makes a run uncertain whose call is another.
func (f *fixture) becomesUncertainBeside(id string) {
	f.t.Helper()
	start := countersign.AgentRunStart{Mode: countersign.ModeLive, Capability: "note", Inputs: values("text", `"x"`), Expectation: done}
	started, err := f.service.CallAgent(background, as("acme"), id, start, countersign.AgentWords{}, 0)
	f.must(err)
	f.applied(started.Run.ID, run.Resumed{}, approvedByBen, run.Resumed{}, lostAnswer)
}

// TestRunsOfAnOlderReleaseAreMarkedOnce: what is open or asks already counts as what comes later.
func TestRunsOfAnOlderReleaseAreMarkedOnce(t *testing.T) {
	h := open(t)
	id := h.admitted(item("one"))[0]
	open := h.becomesUncertain(id, "a")
	waits, err := h.asksFor(id, "b", "")
	h.must(err)
	h.applied(waits.Run.ID, run.Resumed{})
	n := h.marks("alike/") + h.marks("asking/")
	h.must(h.store.Update(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Meta, "acme", store.Query{})
		for _, row := range rows {
			err = errors.Join(err, tx.Delete(store.Meta, "acme", row.ID))
		}
		_, made := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
		return errors.Join(err, made)
	}))
	for range 2 {
		h.must(h.service.MarkRuns(background))
		if got := h.marks("alike/") + h.marks("asking/"); got != n || n != 2 {
			t.Errorf("%d marks, before %d", got, n)
		}
	}
	if _, err := h.asksFor(id, "a", "once more"); countersign.ErrorCode(err) != countersign.CodeStateConflict || !contains(err, open) {
		t.Errorf("%v", err)
	}
}

// TestACallThatWasRejectedTwiceIsRefused under any task; the second one is marked.
func TestACallThatWasRejectedTwiceIsRefused(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		ids := h.admitted(item("one"), item("two"))
		rejected := func(id, task, after string) string {
			started, err := h.asksFor(id, task, "")
			h.must(err)
			ap := h.approvalOf(h.applied(started.Run.ID, run.Resumed{}).ApprovalID)
			if ap.AskedAgainAfter != after {
				t.Errorf("the approval for %q is marked %q, not %q", task, ap.AskedAgainAfter, after)
			}
			h.applied(started.Run.ID, rejectedByBen)
			return ap.ID
		}
		first := rejected(ids[0], "a", "")
		later(time.Hour)
		rejected(ids[1], "b", first)
		for _, again := range []string{"", "please"} {
			if _, err := h.asksFor(ids[0], "c", again); countersign.ErrorCode(err) != countersign.CodeStateConflict || !contains(err, "rejected 2 times") {
				t.Errorf("%v", err)
			}
		}
		if same, err := h.asksFor(ids[0], "a", ""); err != nil || !same.Replayed {
			t.Errorf("the same call: %v", err)
		}
		if _, err := h.startPing(ids[0], countersign.ModeLive, "k"); err != nil {
			t.Errorf("a start by the API: %v", err)
		}
		later(countersign.RepeatedCall - time.Hour)
		if _, err := h.asksFor(ids[0], "c", ""); err != nil {
			t.Errorf("a day after the first: %v", err)
		}
	})
}

// TestAnAgentsWaitingRunsAreBoundedWhateverElse: those that will wait count, reads and rehearsals
// go on, and one that was decided makes room.
func TestAnAgentsRunsThatWaitAreBounded(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("one"), item("two"))
	var all []string
	for i := range countersign.MaxAskingRuns {
		h.clock.Add(int64(time.Second))
		started, err := h.asksFor(ids[0], fmt.Sprint(i), "")
		h.must(err)
		if all = append(all, started.Run.ID); i%2 == 0 {
			h.applied(started.Run.ID, run.Resumed{})
		}
	}
	before := h.everything("acme", store.Realm)
	_, err := h.asksFor(ids[0], "one more", "")
	wantCode(t, err, countersign.CodeQuotaExceeded)
	if want := "quota_exceeded: LIVE runs that wait for an approval: agent " + ids[0] + " may have 20 at most; the oldest is " + all[0] + ": have it decided, or cancel it"; err.Error() != want {
		t.Errorf("%v", err)
	}
	if _, err := h.startPing(ids[0], countersign.ModeLive, "k"); countersign.ErrorCode(err) != countersign.CodeQuotaExceeded {
		t.Errorf("by the API: %v", err)
	}
	if same, err := h.asksFor(ids[0], "3", ""); err != nil || same.Run.ID != all[3] {
		t.Errorf("a repeat finds %s, %v", same.Run.ID, err)
	}
	if now := h.everything("acme", store.Realm); strings.Count(now, "run-") != strings.Count(before, "run-") {
		t.Error("something was stored")
	}
	look := countersign.AgentRunStart{Mode: countersign.ModeLive, Capability: "look", Inputs: values("key", `"k"`)}
	if _, err := h.service.CallAgent(background, as("acme"), ids[0], look, countersign.AgentWords{}, 0); err != nil {
		t.Errorf("a read: %v", err)
	}
	if _, err := h.asksFor(ids[1], "", ""); err != nil {
		t.Errorf("another agent: %v", err)
	}
	h.applied(all[0], rejectedByBen)
	if _, err := h.asksFor(ids[0], "one more", ""); err != nil {
		t.Errorf("after a decision: %v", err)
	}
}

// TestAReadIsReadAnew once its run has ended, and found as long as it goes on.
func TestAReadIsReadAnew(t *testing.T) {
	h := open(t)
	id := h.admitted(item("one"))[0]
	look := func() control.Started {
		t.Helper()
		out, err := h.service.CallAgent(background, as("acme"), id, countersign.AgentRunStart{Mode: countersign.ModeDryRun, Capability: "look", Inputs: values("key", `"k"`)}, countersign.AgentWords{}, 0)
		h.must(err)
		return out
	}
	first := look()
	if second := look(); !second.Replayed || second.Run.ID != first.Run.ID {
		t.Errorf("while it goes on: %s", second.Run.ID)
	}
	h.store.before = func() { h.applied(first.Run.ID, run.Resumed{}) } // it ends between two looks of one start
	if third := look(); third.Replayed || third.Run.ID == first.Run.ID {
		t.Errorf("after its end: %s", third.Run.ID)
	}
}

// TestACallWaitsForASlot as long as it says, stores nothing meanwhile, and starts when one is free.
func TestACallWaitsForASlot(t *testing.T) {
	inBubble(t, func() {
		h := openWith(t, 1)
		id := h.admitted(item("one"))[0]
		busy, err := h.asksFor(id, "busy", "")
		h.must(err)
		call := func(ctx context.Context, wait time.Duration) (control.Started, error) {
			start := countersign.AgentRunStart{Mode: countersign.ModeDryRun, Capability: "ping"}
			return h.service.CallAgent(ctx, as("acme"), id, start, countersign.AgentWords{}, wait)
		}
		before, began := h.everything("acme", store.Realm), time.Now()
		_, err = call(background, 10*time.Second)
		wantCode(t, err, countersign.CodeCapacity)
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second || h.everything("acme", store.Realm) != before {
			t.Errorf("it waited for %s, or something was stored", took)
		}
		gone, leave := context.WithTimeout(background, time.Second)
		defer leave()
		if _, err := call(gone, 10*time.Second); err == nil {
			t.Error("who left got a slot")
		}
		came := make(chan control.Started)
		go func() {
			out, err := call(background, 50*time.Second)
			h.must(err)
			came <- out
		}()
		later(5 * time.Second)
		h.applied(busy.Run.ID, run.CancelAsked{Reason: "r", By: "user:ben@acme.example"})
		if out := <-came; out.Replayed || out.Run.Status != countersign.RunReady {
			t.Errorf("%+v", out.Run)
		}
	})
}

// approvalOf reads an approval as it is stored.
func (f *fixture) approvalOf(id string) (ap countersign.Approval) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		rec, _, err := records.Approvals.Get(tx, "acme", id)
		if err == nil {
			ap = rec.Approval
		}
		return err
	}))
	return ap
}

// marks counts the tenant's marks that begin so.
func (f *fixture) marks(begin string) (n int) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Meta, "acme", store.Query{})
		n = 0
		for _, row := range rows {
			if strings.HasPrefix(row.ID, begin) {
				n++
			}
		}
		return err
	}))
	return n
}
