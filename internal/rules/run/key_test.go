package run_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

func paying(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)}))
	return w.play(run.Resumed{})
}

// TestWhatTheLastAttemptCameToIsNotSaidOfTheKey: after CONFIRMED_NOT_EXECUTED the first sending
// may still arrive, however the step ends, unless it is COMPLETED.
func TestWhatTheLastAttemptCameToIsNotSaidOfTheKey(t *testing.T) {
	again := func(o outcome) func(w *world) {
		return func(w *world) {
			w.play(run.SlotGranted{}, run.Resumed{})
			w.must(w.returned(o))
		}
	}
	for name, c := range map[string]struct {
		end    func(w *world)
		status countersign.RunStatus
	}{
		"refused":          {again(answered(422, "")), countersign.RunFailed},
		"not sent":         {again(notSent("no such host")), countersign.RunFailed},
		"not as expected":  {again(answered(200, `{"state":"done"}`)), countersign.RunFailed},
		"drift":            {func(w *world) { w.model.Revision++; w.play(run.SlotGranted{}, run.Resumed{}) }, countersign.RunFailed},
		"project disabled": {func(w *world) { w.project.Disabled = true; w.play(run.SlotGranted{}, run.Resumed{}) }, countersign.RunFailed},
		"set aside":        {func(w *world) { w.play(run.SlotGranted{}, run.SetAside{}) }, countersign.RunFailed},
		"cancelled":        {func(w *world) { w.play(cancel()) }, countersign.RunCancelled},
		"abandoned": {func(w *world) {
			again(unknown("no answer within 10s"))(w)
			w.play(reconcile(countersign.Abandon))
		}, countersign.RunCancelled},
	} {
		w := paying(t)
		first := w.returned(answered(200, verified))
		w.play(w.returned(unknown("no answer within 10s")), reconcile(countersign.ConfirmedNotExecuted))
		if s := w.step("pay"); !w.run.MayHaveHappened || !s.MayHaveHappened {
			t.Errorf("%s: once it is confirmed as not executed, the run says %v and the step %v", name, w.run.MayHaveHappened, s.MayHaveHappened)
		}
		c.end(w)
		s := w.step("pay")
		if w.run.Status != c.status || !w.run.MayHaveHappened || !s.MayHaveHappened || !s.WasSent() || !w.run.HadEffect() {
			t.Errorf("%s: %s %q, mayHaveHappened %v and %v", name, w.run.Status, w.run.Error, w.run.MayHaveHappened, s.MayHaveHappened)
		}
		if w.run.HappenedWords() == "" || s.HappenedWords() == "" {
			t.Errorf("%s: no words say so", name)
		}
		w.must(first)
		if w.step("pay").Late == nil && name != "abandoned" {
			t.Errorf("%s: the late answer of the first sending is not kept", name)
		}
	}
}

// TestACompletedStepDidHappen: nothing is open about it any more.
func TestACompletedStepDidHappen(t *testing.T) {
	w := paying(t)
	w.play(w.returned(unknown("no answer within 10s")), reconcile(countersign.ConfirmedNotExecuted), run.SlotGranted{}, run.Resumed{})
	w.play(w.returned(answered(200, verified)))
	if w.run.Status != countersign.RunCompleted || w.run.MayHaveHappened || w.step("pay").MayHaveHappened {
		t.Errorf("%s, mayHaveHappened %v and %v", w.run.Status, w.run.MayHaveHappened, w.step("pay").MayHaveHappened)
	}
}

// TestACodeOfAStepThatWasNeverSentSaysSo: nothing may have happened.
func TestACodeOfAStepThatWasNeverSentSaysSo(t *testing.T) {
	w := paying(t)
	w.play(w.returned(notSent("no such host")))
	if s := w.step("pay"); s.WasSent() || w.run.HadEffect() || w.run.MayHaveHappened {
		t.Errorf("sent %v, had effect %v, mayHaveHappened %v", s.WasSent(), w.run.HadEffect(), w.run.MayHaveHappened)
	}
}

// TestA409OfAnotherRequestWithItsKeyIsUncertain at any attempt: proxies repeat requests. Any
// other 409 to a first attempt is a refusal.
func TestA409OfAnotherRequestWithItsKeyIsUncertain(t *testing.T) {
	for body, uncertain := range map[string]bool{
		`{"error":"in_progress","message":"x"}`:                      true,
		"\ufeff \n" + `{"message":{"error":"x"},"error":"in_doubt"}`: true,
		`{"error":"in_doubt","message":"cut off he`:                  true,
		`{"error":"conflict","error":"in_progress"}`:                 true,
		`{"error":"conflict","message":"in_progress"}`:               false,
		`{"message":{"error":"in_progress"}}`:                        false,
		`["in_progress"]`:                                            false, `{"error":{"in_progress":1}}`: false, `in_progress`: false, ``: false,
	} {
		w := paying(t)
		w.must(w.returned(answered(409, body)))
		if got := w.run.Status == countersign.RunRecoveryRequired; got != uncertain {
			t.Errorf("409 %s: %s %q", body, w.run.Status, w.run.Error)
		}
		if !uncertain && w.step("pay").Error.Code != countersign.CodeReceiverRefused {
			t.Errorf("409 %s: %v", body, w.step("pay").Error)
		}
	}
}

// TestAnAdopterWaitsForTheCallOfTheOneBefore: that replica may only be cut off from the store,
// and still get its answer; a cancelled run's wait isn't over either.
func TestAnAdopterWaitsForTheCallOfTheOneBefore(t *testing.T) {
	for name, cancelled := range map[string]bool{"under way": false, "cancelled": true} {
		w := paying(t)
		until := w.answerBy
		if cancelled {
			w.play(cancel())
		}
		w.now = w.now.Add(11e9)
		w.play(run.Restarted{Adopted: true}, run.Restarted{Adopted: true}) // two replicas die one after the other
		if f := w.run.WaitingFor; w.run.Status != countersign.RunRecoveryRequired || f == nil || !f.NotBefore.Equal(until) {
			t.Fatalf("%s: %s, waits for %s, want until %s", name, w.run.Status, dumped(f), until)
		}
		for _, r := range resolutions {
			w.refused(r, countersign.CodeStateConflict)
		}
		w.now = until
		w.play(run.Expired{}, reconcile(countersign.Abandon))
	}
}

// TestAProbeThatLeftIsKept whatever became of the run meanwhile, and its number is given once.
func TestAProbeThatLeftIsKept(t *testing.T) {
	answer := func(w *world, n int) run.Probed {
		p := w.step("pay").Probes[n-1]
		p.Response, p.Output = &countersign.Response{StatusCode: 200}, countersign.RawValue(`{"state":"done"}`)
		return run.Probed{Step: 0, Probe: p}
	}
	for _, r := range []run.Event{nil, reconcile(countersign.ConfirmedCompleted, values(t, verified)), reconcile(countersign.ConfirmedNotExecuted), reconcile(countersign.Abandon)} {
		w := paying(t)
		w.play(w.returned(unknown("no answer within 10s")))
		ask := run.Probing{Step: 0, Probe: countersign.ProbeRecord{By: "user:bob@example.com", At: w.now, Capability: "look"}, Digest: "d"}
		res := w.must(ask)
		if n := res.Notes; len(n) != 1 || n[0].Action != "runs.probe" || n[0].Reason != "run-1.pay.probe-1" || n[0].Digest != "d" {
			t.Fatalf("the intent is audited as %s", dumped(n))
		}
		first := answer(w, 1)
		w.must(ask)
		w.must(answer(w, 2)) // the second one begins and ends while the first is under way
		if r != nil {
			w.play(r)
		}
		was := w.run.Status
		res = w.must(first)
		ps := w.step("pay").Probes
		if len(ps) != 2 || ps[0].N != 1 || ps[1].N != 2 || ps[0].Unanswered() || w.run.Status != was || len(res.Notes) != 1 {
			t.Errorf("after %T: %s, probes %s, audit %s", r, w.run.Status, dumped(ps), dumped(res.Notes))
		}
		if again := w.must(first); !again.Unchanged() {
			t.Errorf("one probe was answered twice")
		}
	}
}

// TestAReconcileKeepsWhatContradictsTheRequest, and the audit log names it.
func TestAReconcileKeepsWhatContradictsTheRequest(t *testing.T) {
	w := paying(t)
	w.play(w.returned(unknown("no answer within 10s")))
	res := w.must(reconcile(countersign.ConfirmedCompleted, values(t, `{"result":{"state":"done"},"amount":249}`)))
	if d := w.step("pay").Reconciliation.Differs; len(d) != 1 || d[0].Field != "amount" || d[0].Sent.Raw() != "5" || d[0].Found.Raw() != "249" {
		t.Errorf("differs: %s", dumped(d))
	}
	if n := res.Notes[0]; n.Reason != "CONFIRMED_COMPLETED: ticket 7 (differs from what was sent: amount)" {
		t.Errorf("the audit log says %q", n.Reason)
	}
}

// TestWhatIsSetAsideSaysWhatOfItWasSent: a step whose outcome can't be committed was sent, and one that was sent before isn't sent again.
func TestWhatIsSetAsideSaysWhatOfItWasSent(t *testing.T) {
	read := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "look", Capability: "look", Input: values(t, `{"resourceId":"o-1"}`)}))
	for name, c := range map[string]struct {
		w      *world
		play   func(w *world)
		status countersign.RunStatus
		says   string
	}{
		"nothing":                 {newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)})), func(*world) {}, countersign.RunFailed, "nothing of it was sent"},
		"a read under way":        {read, func(w *world) { w.play(run.Resumed{}) }, countersign.RunFailed, "the answer to its read, which changes nothing, is lost"},
		"a side effect under way": {paying(t), func(*world) {}, countersign.RunRecoveryRequired, "could not be committed"},
		"sent before": {paying(t), func(w *world) {
			w.play(w.returned(unknown("no answer within 10s")), reconcile(countersign.ConfirmedNotExecuted), run.SlotGranted{})
		}, countersign.RunFailed, "it was not sent again"},
	} {
		c.play(c.w)
		c.w.play(run.SetAside{})
		st := c.w.run.Steps[0]
		if c.w.run.Status != c.status || st.Error == nil || !strings.Contains(st.Error.Message, c.says) {
			t.Errorf("%s: %s %s", name, c.w.run.Status, dumped(st.Error))
		}
	}
}

// TestNobodyResolvesWhatWasSetAsideWhileItsAnswerMayCome: whoever sets a run aside may not be who sends.
func TestNobodyResolvesWhatWasSetAsideWhileItsAnswerMayCome(t *testing.T) {
	w := paying(t)
	w.play(run.SetAside{})
	if until := w.run.WaitingFor.NotBefore; !until.Equal(w.answerBy) {
		t.Fatalf("it may be resolved from %s on, and an answer may come until %s", until, w.answerBy)
	}
	if _, err := w.apply(reconcile(countersign.Abandon)); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("resolved at once: %v", err)
	}
	w.now = w.answerBy
	w.must(reconcile(countersign.Abandon))
}
