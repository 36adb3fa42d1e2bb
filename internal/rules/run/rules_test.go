package run_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// refused applies an event that is to be refused with the code.
func (w *world) refused(e run.Event, code countersign.Code) {
	w.t.Helper()
	if _, err := w.apply(e); countersign.ErrorCode(err) != code {
		w.t.Fatalf("%s came to %v, want %s", dumped(e), err, code)
	}
}

func waiting(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "refund", Capability: "refund", Input: values(t, `{"amount":5}`)}))
	return w.play(run.Resumed{})
}

func TestDecisionAfterExpiryIsRefused(t *testing.T) {
	for _, decision := range []countersign.ApprovalStatus{countersign.ApprovalApproved, countersign.ApprovalRejected} {
		w := waiting(t)
		w.now = w.now.Add(ttl)
		w.refused(decide(decision), countersign.CodeApprovalExpired)
	}
}

func TestDecisionUpToExpiryCounts(t *testing.T) {
	w := waiting(t)
	w.now = w.now.Add(ttl - time.Nanosecond)
	w.play(decide(countersign.ApprovalApproved))
	if !run.WaitsForSlot(w.run) {
		t.Errorf("the run waits for %s", dumped(w.run.WaitingFor))
	}
}

func TestDecisionIsApprovedOrRejectedAndNothingElse(t *testing.T) {
	for _, decision := range []countersign.ApprovalStatus{"", countersign.ApprovalPending, "approved"} {
		waiting(t).refused(decide(decision), countersign.CodeInvalidRequest)
	}
}

func TestApprovalIsDecidedOnce(t *testing.T) {
	w := waiting(t).play(decide(countersign.ApprovalApproved))
	w.refused(decide(countersign.ApprovalRejected), countersign.CodeStateConflict)
	w.play(run.SlotGranted{})
	w.refused(decide(countersign.ApprovalRejected), countersign.CodeStateConflict)
}

// Whatever else moved the run on: without an approval that is APPROVED nothing is
// sent.
func TestGateLooksAtTheApprovalItself(t *testing.T) {
	for name, spoil := range map[string]func(*countersign.Approval){
		"undecided": func(a *countersign.Approval) { a.Status = countersign.ApprovalPending },
		"rejected":  func(a *countersign.Approval) { a.Status = countersign.ApprovalRejected },
		"another":   func(a *countersign.Approval) { a.ID = "apr-9" },
		"expired":   func(a *countersign.Approval) { a.ExpiresAt = dawn },
		"for other": func(a *countersign.Approval) { a.RequestDigest = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := waiting(t).play(decide(countersign.ApprovalApproved), run.SlotGranted{})
			spoil(w.waitingApproval())
			if res := w.must(run.Resumed{}); res.Call != nil || res.Ask == nil {
				t.Errorf("called %s, asked %s", dumped(res.Call), dumped(res.Ask))
			}
		})
	}
}

func TestUnknownResolutionIsRefused(t *testing.T) {
	w := waiting(t).play(decide(countersign.ApprovalApproved), run.SlotGranted{}, run.Resumed{})
	w.play(w.returned(unknown("no answer")))
	w.refused(reconcile("CONFIRMED"), countersign.CodeInvalidRequest)
	w.refused(reconcile(""), countersign.CodeInvalidRequest)
}

// An outputField may be a dotted path; what a person confirms is selected by it
// as an answer would be.
func TestConfirmedOutputIsSelectedAsAnAnswerWouldBe(t *testing.T) {
	tests := []struct{ field, given, want string }{
		{"result", `{"result":{"state":"done"}}`, `{"state":"done"}`},
		{"result", `{"state":"done"}`, `{"state":"done"}`},
		{"result.state", `{"result":{"state":"done"}}`, `"done"`},
		{"result.state", `{"result.state":"done","result":{"state":"open"}}`, `"done"`},
		{"result.state", `{"state":"done"}`, `{"state":"done"}`},
		{"", `{"result":1}`, `{"result":1}`},
	}
	for _, test := range tests {
		p := order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)})
		p.ProjectSnapshots[0].Capability("pay").OutputField = test.field
		w := newWorld(t, p).play(run.Resumed{})
		w.play(w.returned(unknown("no answer")), reconcile(countersign.ConfirmedCompleted, values(t, test.given)))
		if got := w.step("pay").Output.Raw(); got != test.want {
			t.Errorf("outputField %q selects %s of %s, want %s", test.field, got, test.given, test.want)
		}
	}
}

// What a person said that a step's output was is no answer that was judged: the approval of
// a step that takes an input from it must not call it verified.
func TestAnOutputThatAPersonStatedIsNoVerifiedSource(t *testing.T) {
	paid := countersign.Expectation{Field: "id", Equals: countersign.String("o-1")}
	for name, test := range map[string]struct {
		ends []run.Event
		want bool
	}{
		"answered":                  {[]run.Event{}, true},
		"stated":                    {[]run.Event{reconcile(countersign.ConfirmedCompleted, values(t, `{"id":"o-1"}`)), run.SlotGranted{}, run.Resumed{}}, false},
		"sent again, then answered": {[]run.Event{reconcile(countersign.ConfirmedNotExecuted), run.SlotGranted{}, run.Resumed{}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, order(t, countersign.ModeLive,
				countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`), Expectation: &paid},
				countersign.Step{ID: "remove", Capability: "remove", InputBindings: map[string]countersign.Binding{"resourceId": {StepID: "pay", Field: "id"}}},
			)).play(run.Resumed{})
			if len(test.ends) > 0 {
				w.play(w.returned(unknown("no answer"))).play(test.ends...)
			}
			if w.step("pay").Status == countersign.StepRunning {
				w.play(w.returned(answered(200, `{"result":{"id":"o-1"}}`)))
			}
			a := w.waitingApproval()
			if a == nil || len(a.Sources) != 1 || a.Sources[0].Verified != test.want {
				t.Errorf("the approval is %s; want its source verified: %v", dumped(a), test.want)
			}
		})
	}
}

func TestNewRunListsEveryStep(t *testing.T) {
	p := order(t, countersign.ModeLive,
		countersign.Step{ID: "look", Capability: "look", ActionID: "read", Input: values(t, `{"resourceId":"o-1"}`)},
		countersign.Step{ID: "remove", Capability: "remove", InputBindings: map[string]countersign.Binding{"resourceId": {StepID: "look", Field: "id"}}},
	)
	got := run.New(p, "run-1", "user:ada@example.com", "order-1", dawn)
	want := &countersign.Run{
		ID: "run-1", PlanID: "plan-1", Status: countersign.RunReady, Mode: countersign.ModeLive, Revision: 1, PlanDigest: p.PlanDigest,
		RequestedBy: "user:ada@example.com", IdempotencyKey: "order-1", CreatedAt: dawn, UpdatedAt: dawn,
		Steps: []countersign.StepRun{{
			ID: "look", Name: "Step look", ProjectID: "acme-shop", Capability: "look", ActionID: "read", DependsOn: []string{}, Status: countersign.StepPending,
			Input: values(t, `{"resourceId":"o-1"}`), IdempotencyKey: "run-1.look",
		}, {
			ID: "remove", Name: "Step remove", ProjectID: "acme-shop", Capability: "remove", DependsOn: []string{"look"}, Status: countersign.StepPending,
			SideEffect: true, ApprovalRequired: true, Input: values(t, `{"resourceId":{"$from":"look.id"}}`), IdempotencyKey: "run-1.remove",
		}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(countersign.Value.Equal)); diff != "" {
		t.Error(diff)
	}
}

// What a message quotes of an answer is bounded and stays valid text.
func TestFailedExpectationQuotesALittleOfTheOutput(t *testing.T) {
	p := order(t, countersign.ModeLive, countersign.Step{ID: "look", Capability: "look", Input: values(t, `{"resourceId":"o-1"}`),
		Expectation: &countersign.Expectation{Field: "text", Equals: countersign.String("done")}})
	w := newWorld(t, p).play(run.Resumed{})
	w.play(w.returned(answered(200, `{"text":"`+strings.Repeat("é", 1000)+`"}`)))
	message := w.step("look").Error.Message
	if len(message) > 300 || !utf8.ValidString(message) || !strings.Contains(message, `expected "done"`) {
		t.Errorf("%q", message)
	}
}

// LOCAL_ECHO passes the same gate, with a url of its own.
func TestLocalEchoPassesTheSameGate(t *testing.T) {
	p := order(t, countersign.ModeLive, countersign.Step{ID: "remove", Capability: "remove", Input: values(t, `{"resourceId":"o-1"}`)})
	p.ProjectSnapshots[0].Adapter, p.ProjectSnapshots[0].BaseURL = countersign.AdapterLocalEcho, ""
	w := newWorld(t, p).play(run.Resumed{}, decide(countersign.ApprovalApproved), run.SlotGranted{})
	call := w.must(run.Resumed{}).Call
	if call == nil || call.Request.URL != "local-echo:/orders/o-1" {
		t.Errorf("%s", dumped(call))
	}
}

func TestOnlyARejectionSuggestsInputsAndTheyFitTheCapability(t *testing.T) {
	suggest := func(d countersign.ApprovalStatus, input string) run.Decided {
		return run.Decided{Decision: d, Reason: "less", By: "user:ben@example.com", Suggested: values(t, input)}
	}
	asked := func() *world {
		w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "inspect", Capability: "inspect", Input: values(t, `{"resourceId":"o-1"}`)}))
		return w.play(run.Resumed{})
	}
	for name, bad := range map[string]run.Decided{
		"with an approval":   suggest(countersign.ApprovalApproved, `{"resourceId":"o-2"}`),
		"empty, approved":    suggest(countersign.ApprovalApproved, `{}`),
		"without an input":   suggest(countersign.ApprovalRejected, `{}`),
		"of a wrong type":    suggest(countersign.ApprovalRejected, `{"resourceId":{}}`),
		"with no id":         suggest(countersign.ApprovalRejected, `{"resourceId":"../o"}`),
		"before its verdict": suggest(countersign.ApprovalPending, `{"resourceId":"o-2"}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := asked()
			w.refused(bad, countersign.CodeInvalidRequest)
			if w.run.Status != countersign.RunWaitingApproval {
				t.Errorf("the run is %s", w.run.Status)
			}
		})
	}
	w := asked().play(suggest(countersign.ApprovalRejected, `{"resourceId":"o-2"}`))
	if w.run.Status != countersign.RunFailed || w.run.Steps[0].Input["resourceId"].Text() != "o-1" {
		t.Errorf("the run is %s with %v", w.run.Status, w.run.Steps[0].Input)
	}
}
