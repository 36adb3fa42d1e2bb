package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// settling is a world whose one payment is uncertain, at a shop with a settlement.
func settling(t *testing.T, mode string) *world {
	t.Helper()
	p := order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)})
	p.ProjectSnapshots[0].Settlement = &countersign.Settlement{Path: "/settlement", Mode: mode}
	w := newWorld(t, p)
	w.project.AnswerKeys = "key-1 key-2"
	w.must(run.Resumed{})
	w.must(w.answer("pay", unknown("timeout")))
	return w
}

// statement is a signed answer to a question about the payment's key.
func statement(text string) request.Outcome {
	text = strings.Replace(text, "KEY", "run-1.pay", 1)
	o := answered(200, strings.ReplaceAll(text, "OLD", dawn.Add(-time.Hour).Format(time.RFC3339)))
	o.AnsweredBy = &countersign.AnsweredBy{KeyID: "id-1"}
	o.Response.Signed = &countersign.AnswerEvidence{Timestamp: "1", Signature: "v1 2 ab"}
	return o
}

// asks puts a question and has it answered.
func (w *world) asks(e run.Asking, o request.Outcome) {
	w.t.Helper()
	q := w.must(e).Question
	r := run.Statement(o, q.Key, q.Sent)
	r.N = q.N
	w.must(run.Asked{Step: q.Step, Record: r, Withdraw: e.By != ""})
}

func (w *world) ends(t *testing.T, status countersign.RunStatus, code countersign.Code) {
	t.Helper()
	s := w.step("pay")
	if w.run.Status != status || code == "" != (s.Error == nil) || code != "" && s.Error.Code != code {
		t.Fatalf("%s, %s, %+v", w.run.Status, s.Status, s.Error)
	}
}

const (
	unseen    = `{"key":"KEY","state":"UNSEEN","at":"OLD","since":"OLD","more":1}`
	gone      = `{"key":"KEY","state":"WITHDRAWN","since":"OLD"}`
	paid      = `{"key":"KEY","state":"DONE","statusCode":201,"body":{"result":{"id":"p-1"}},"since":"OLD"}`
	refusal   = `{"key":"KEY","state":"DONE","statusCode":422,"body":{"error":"limit"},"since":"OLD"}`
	otherwise = `{"key":"KEY","state":"DONE","statusCode":200,"body":{"id":"p-1"},"since":"OLD"}`
	noJSON    = `{"key":"KEY","state":"DONE","statusCode":200,"text":"paid","since":"OLD"}`
)

func TestTheReceiversWordEndsAStep(t *testing.T) {
	for name, test := range map[string]struct {
		says   string
		status countersign.RunStatus
		code   countersign.Code
		may    bool
	}{
		"done":            {paid, countersign.RunCompleted, "", false},
		"refused":         {refusal, countersign.RunFailed, countersign.CodeReceiverRefused, false},
		"not as expected": {otherwise, countersign.RunFailed, countersign.CodeOutputMissing, true},
		"withdrawn":       {gone, countersign.RunFailed, countersign.CodeWithdrawn, false},
		"no JSON":         {noJSON, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"unknown":         {`{"key":"KEY","state":"UNKNOWN","since":"OLD"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"in progress":     {`{"key":"KEY","state":"IN_PROGRESS","since":"OLD"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"of another key":  {`{"key":"run-2.pay","state":"WITHDRAWN","since":"OLD"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"no since":        {`{"key":"KEY","state":"WITHDRAWN"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"a state of ours": {`{"key":"KEY","state":"FORGOTTEN","since":"OLD"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"no status":       {`{"key":"KEY","state":"DONE","body":{},"since":"OLD"}`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
		"no object":       {`[]`, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := settling(t, countersign.SettleAutomatic)
			w.asks(run.Asking{Step: -1}, statement(test.says))
			w.ends(t, test.status, test.code)
			if w.run.MayHaveHappened != test.may || (w.step("pay").SettledBy != nil) != (test.status != countersign.RunRecoveryRequired) {
				t.Errorf("%+v", w.run)
			}
		})
	}
}

// TestNothingButASignedStatementDecides: see H3 and H5 of the settlement model.
func TestNothingButASignedStatementDecides(t *testing.T) {
	young := strings.Replace(gone, "OLD", dawn.Add(-5*time.Minute).Format(time.RFC3339), 1)
	unsigned := statement(gone)
	unsigned.AnsweredBy, unsigned.Unsigned, unsigned.Certainty = nil, true, request.Unknown
	missing := statement(gone)
	missing.Response.StatusCode, missing.Body = 404, countersign.Value{}
	for name, o := range map[string]request.Outcome{"young": statement(young), "unsigned": unsigned, "404": missing, "lost": unknown("timeout")} {
		t.Run(name, func(t *testing.T) {
			w := settling(t, countersign.SettleAutomatic)
			w.asks(run.Asking{Step: -1}, o)
			w.ends(t, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown)
			if kept := w.step("pay").Settlements; len(kept) != 1 || kept[0].Decides() || (name == "young") != (kept[0].Said == countersign.KeyWithdrawn && kept[0].State == countersign.KeyUnknown) {
				t.Errorf("%+v", kept)
			}
		})
	}
}

func TestAQuestionIsAskedAgainLaterAndLaterForADay(t *testing.T) {
	w := settling(t, "")
	s := w.step("pay")
	if !s.NextAt.Equal(w.now) {
		t.Fatalf("first asked at %s", s.NextAt)
	}
	for n, pause := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		w.asks(run.Asking{Step: -1, Due: true}, statement(unseen))
		s = w.step("pay")
		if s.Questions != int64(n+1) || !s.NextAt.Equal(w.now.Add(pause*time.Second)) {
			t.Fatalf("question %d: next after %s", n+1, s.NextAt.Sub(w.now))
		}
		if w.must(run.Asking{Step: -1, Due: true}).Question != nil {
			t.Fatal("asked before it was time")
		}
		w.now = s.NextAt
	}
	if len(s.Settlements) != 1 {
		t.Errorf("%d statements that say the same are kept", len(s.Settlements))
	}
	w.now = dawn.Add(24*time.Hour - time.Minute)
	q := w.must(run.Asking{Step: -1, Due: true}).Question
	if s = w.step("pay"); !s.NextAt.IsZero() || q.IdempotencyKey != "run-1.pay~settle-11" || q.Request.Method != "GET" ||
		q.Request.URL != "https://api.example.com/settlement/run-1.pay?sent="+"1772355600" || strings.Join(q.AnswerKeys, ",") != "key-1,key-2" {
		t.Errorf("%s, %+v", s.NextAt, q)
	}
	if w.must(run.Asking{Step: -1}).Question == nil {
		t.Error("a start, or a reviewer, can't ask after a day")
	}
}

func TestAPersonSettlesByAStatement(t *testing.T) {
	confirm := func(n int64, action string) run.Settling {
		return run.Settling{Settle: countersign.Settle{StepID: "pay", N: n, Action: action, Reason: "seen"}, By: "user:bob@example.com"}
	}
	w := settling(t, countersign.SettlePropose)
	w.asks(run.Asking{Step: -1}, statement(paid))
	w.ends(t, countersign.RunRecoveryRequired, countersign.CodeOutcomeUnknown)
	if _, err := w.apply(confirm(7, "CONFIRM")); err == nil || err.Error() != "state_conflict: run run-1 is RECOVERY_REQUIRED; step pay has no statement 7" {
		t.Error(err)
	}
	blank := confirm(1, "CONFIRM")
	blank.Reason = " "
	if _, err := w.apply(blank); err == nil || err.Error() != "invalid_request: reason: it can't be blank" {
		t.Error(err)
	}
	w.must(confirm(1, "CONFIRM"))
	w.ends(t, countersign.RunCompleted, "")
	if _, err := w.apply(confirm(1, "CONFIRM")); err == nil || !strings.Contains(err.Error(), "only an uncertain step is settled") {
		t.Error(err)
	}

	w = settling(t, countersign.SettlePropose)
	w.asks(run.Asking{Step: -1}, statement(noJSON))
	if _, err := w.apply(confirm(1, "CONFIRM")); err == nil || !strings.Contains(err.Error(), "the answer that the receiver kept doesn't say what became of the step") {
		t.Error(err)
	}
	if _, err := w.apply(run.Asking{Step: 0, Withdraw: true, By: "user:bob@example.com", Reason: "r", N: 1}); err == nil || !strings.Contains(err.Error(), "statement 1 doesn't say that the receiver never saw the key; only then it is withdrawn") {
		t.Error(err)
	}

	w = settling(t, countersign.SettlePropose)
	w.asks(run.Asking{Step: -1}, statement(unseen))
	if _, err := w.apply(confirm(1, "CONFIRM")); err == nil || !strings.Contains(err.Error(), "statement 1 doesn't say what became of the key") {
		t.Error(err)
	}
	w.stopped = true
	if _, err := w.apply(run.Asking{Step: -1, Withdraw: true}); err == nil || !strings.Contains(err.Error(), "LIVE steps are stopped; the service asks, and withdraws nothing") {
		t.Error(err)
	}
	w.asks(run.Asking{Step: 0, Withdraw: true, By: "user:bob@example.com", Reason: "not wanted", N: 1}, statement(gone))
	w.ends(t, countersign.RunFailed, countersign.CodeWithdrawn)
}

func TestWithASettlementNothingIsSentTwiceUnderAKey(t *testing.T) {
	w := settling(t, "")
	w.must(reconcile(countersign.ConfirmedNotExecuted))
	w.ends(t, countersign.RunFailed, countersign.CodeNotExecuted)
	if !w.run.MayHaveHappened || len(w.calls) != 1 {
		t.Errorf("%+v", w.run)
	}
}

func TestACancelledRunThatSettlesIsCancelled(t *testing.T) {
	for says, may := range map[string]bool{paid: false, gone: false, refusal: false, otherwise: true} {
		p := order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)})
		p.ProjectSnapshots[0].Settlement = &countersign.Settlement{Path: "/settlement", Mode: countersign.SettleAutomatic}
		w := newWorld(t, p)
		w.must(run.Resumed{})
		w.must(cancel())
		if _, err := w.apply(run.Asking{Step: -1}); err == nil || err.Error() != "state_conflict: run run-1 is RECOVERY_REQUIRED; the answer may still come; its receiver is asked from 2026-03-01T09:00:15Z on" {
			t.Error(err)
		}
		if _, err := w.apply(run.Settling{Settle: countersign.Settle{StepID: "pay", N: 1, Reason: "r"}}); err == nil || !strings.Contains(err.Error(), "the answer to step pay may still come; settle it from 2026-03-01T09:00:15Z on") {
			t.Error(err)
		}
		w.now = w.answerBy
		w.asks(run.Asking{Step: -1, Due: true}, statement(says))
		if w.run.Status != countersign.RunCancelled || w.run.MayHaveHappened != may {
			t.Errorf("%s: %s, %v", says, w.run.Status, w.run.MayHaveHappened)
		}
	}
}

// TestAWithdrawnKeyAsTheAnswerOfACall: the receiver's signed word that nothing happened.
func TestAWithdrawnKeyAsTheAnswerOfACall(t *testing.T) {
	p := order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)})
	for signed, code := range map[bool]countersign.Code{true: countersign.CodeWithdrawn, false: countersign.CodeReceiverRefused} {
		w := newWorld(t, p)
		w.must(run.Resumed{})
		o := answered(410, `{"error":"key_withdrawn"}`)
		if signed {
			o.AnsweredBy = &countersign.AnsweredBy{KeyID: "id-1"}
		}
		w.must(w.answer("pay", o))
		w.ends(t, countersign.RunFailed, code)
		if w.run.MayHaveHappened || w.run.HadEffect() {
			t.Errorf("%+v", w.run)
		}
	}
}
