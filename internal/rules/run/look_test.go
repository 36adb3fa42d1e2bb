package run_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/run"
)

// against is a world whose one step has a precondition: the order's state and total, of which the
// state must be "returned". policy is the step's approval.
func against(t fataler, policy string) *world {
	t.Helper()
	capability := map[string]string{countersign.ApprovalNone: "pay", countersign.ApprovalAlways: "refund"}[policy]
	p := order(t, countersign.ModeLive, countersign.Step{ID: "refund", Capability: capability, Input: values(t, `{"resourceId":"A-1","amount":5}`)})
	shop := &p.ProjectSnapshots[0]
	for i := range shop.Capabilities {
		if c := &shop.Capabilities[i]; c.Name == capability {
			c.InputSchema = map[string]countersign.InputField{"resourceId": {Type: "string", Required: true}, "amount": {Type: "number"}}
			c.Precondition = &countersign.Precondition{Capability: "look", Fields: []string{"state", "total"}, When: &countersign.Condition{Predicate: &countersign.Predicate{
				Kind: "predicate", VariableID: "state", Operator: "eq", Value: countersign.Scalar{Value: countersign.String("returned")},
			}}}
		}
	}
	return newWorld(t, p)
}

const (
	asItWas = `{"state":"returned","total":59.0,"more":1}`
	asEqual = `{"total":59,"state":"returned"}`
	another = `{"state":"returned","total":60}`
	third   = `{"state":"returned","total":61}`
	refunds = `{"state":"refunded","total":59}`
	unsaid  = `{"state":null,"total":59}`
	halved  = `{"state":"returned"}`
)

// finds answers the look that a result has let out.
func (w *world) finds(l *run.Look, o outcome) run.Result {
	w.t.Helper()
	if l == nil {
		w.t.Fatalf("nothing is looked at: %s %s", w.run.Status, statuses(w.run))
	}
	return w.must(run.Looked{Step: l.Step, N: l.N, Found: precondition.Read(cost.New(nil, cost.Most, 0), l.Precondition, l.Read, o)})
}

// asksOver begins the run and has its first look find body.
func (w *world) asksOver(body string) run.Result {
	w.t.Helper()
	return w.finds(w.must(run.Resumed{}).Look, answered(200, body))
}

// begins approves, gives a slot and has the look before sending find body.
func (w *world) begins(body string) run.Result {
	w.t.Helper()
	w.play(decide(countersign.ApprovalApproved), run.SlotGranted{})
	return w.finds(w.must(run.Resumed{}).Look, answered(200, body))
}

func TestAStateIsReadBeforeItIsAskedForAndBeforeItIsSent(t *testing.T) {
	w := against(t, countersign.ApprovalAlways)
	look := w.must(run.Resumed{}).Look
	if look == nil || look.IdempotencyKey != "run-1.refund~look-1" || look.Request.Method != "GET" || look.Request.URL != "https://api.example.com/orders/A-1" || look.Timeout > 5*time.Second {
		t.Fatalf("%+v", look)
	}
	if w.run.Status != countersign.RunRunning || w.run.WaitingFor != nil {
		t.Fatalf("during a look the run is %s", w.run.Status)
	}
	ask := w.finds(look, answered(200, asItWas)).Ask
	if ask == nil || ask.State == nil || ask.State.Capability != "look" || ask.State.Values["total"].Raw() != "59.0" || len(ask.State.Values) != 2 ||
		ask.StateDigest != countersign.StateDigest("look", values(t, `{"state":"returned","total":59}`)) || ask.State.RequestDigest == "" || ask.State.StatusCode != 200 {
		t.Fatalf("%+v", ask)
	}
	sent := w.begins(asEqual)
	if sent.Call == nil || w.step("refund").StateDigest != ask.StateDigest || len(w.step("refund").Looks) != 2 {
		t.Fatalf("%s %+v", statuses(w.run), w.step("refund"))
	}
	for _, n := range sent.Notes {
		if n.Action == "step.send" && n.StateDigest != ask.StateDigest {
			t.Errorf("the record of the sending has the state %q", n.StateDigest)
		}
	}
}

func TestAChangedStateIsAskedForAnewTwiceAndThenFails(t *testing.T) {
	w := against(t, countersign.ApprovalAlways)
	before := w.asksOver(asItWas).Ask
	for n, body := range []string{another, third} {
		res := w.begins(body)
		a := res.Ask
		if res.Call != nil || a == nil || !res.Superseded || a.PreviousID != before.ID || a.AskedAgain != int64(n+1) || len(a.Changed) != 1 || a.Changed[0].Field != "total" ||
			!a.Changed[0].Then.Equal(before.State.Values["total"]) || !a.Changed[0].Now.Equal(a.State.Values["total"]) || !a.ExpiresAt.Equal(w.now.Add(ttl)) {
			t.Fatalf("change %d: %+v", n+1, a)
		}
		before = a
	}
	if res := w.begins(asItWas); res.Call != nil || res.Ask != nil || w.step("refund").Error.Code != countersign.CodePreconditionFailed || w.run.Status != countersign.RunFailed || w.step("refund").Attempt != 0 {
		t.Fatalf("%s %+v", statuses(w.run), w.step("refund"))
	}
}

// TestASupersededApprovalLetsNothingOut: the state is again as it was, and the first approval is still
// not enough.
func TestASupersededApprovalLetsNothingOut(t *testing.T) {
	w := against(t, countersign.ApprovalAlways)
	first := w.asksOver(asItWas).Ask
	w.begins(another)
	w.approvals[first.ID].Superseded = true
	res := w.begins(asItWas)
	if res.Call != nil || res.Ask == nil || res.Ask.AskedAgain != 2 {
		t.Fatalf("sent by an approval of another state: %s", dumped(res.Ask))
	}
}

func TestWhatMustBeSoIsJudgedByItself(t *testing.T) {
	for name, test := range map[string]struct {
		o    outcome
		code countersign.Code
	}{
		"false":         {answered(200, refunds), countersign.CodePreconditionFailed},
		"unknown":       {answered(200, unsaid), countersign.CodePreconditionUnknown},
		"no field":      {answered(200, halved), countersign.CodePreconditionUnknown},
		"too large":     {answered(200, `{"state":"returned","total":"`+strings.Repeat("x", countersign.MaxStateBytes)+`"}`), countersign.CodePreconditionUnknown},
		"404":           {answered(404, `{}`), countersign.CodePreconditionUnknown},
		"timeout":       {unknown("timeout"), countersign.CodePreconditionUnknown},
		"not sent":      {notSent("refused"), countersign.CodePreconditionUnknown},
		"as it must be": {answered(200, asItWas), ""},
	} {
		for _, policy := range []string{countersign.ApprovalNone, countersign.ApprovalAlways} {
			t.Run(name+" "+policy, func(t *testing.T) {
				w := against(t, policy)
				res := w.finds(w.must(run.Resumed{}).Look, test.o)
				switch s := w.step("refund"); {
				case test.code != "" && (res.Call != nil || res.Ask != nil || s.Error == nil || s.Error.Code != test.code || s.Attempt != 0):
					t.Errorf("%s %+v", statuses(w.run), s.Error)
				case test.code == "" && policy == countersign.ApprovalNone && res.Call == nil, test.code == "" && policy == countersign.ApprovalAlways && res.Ask == nil:
					t.Errorf("%s %+v", statuses(w.run), s.Error)
				}
			})
		}
	}
}

func TestALookThatIsTooOldIsMadeAnew(t *testing.T) {
	w := against(t, countersign.ApprovalNone)
	look := w.must(run.Resumed{}).Look
	w.now = w.now.Add(10*time.Second + 1)
	res := w.finds(look, answered(200, asItWas))
	if res.Call != nil || res.Look == nil || res.Look.N != 2 {
		t.Fatalf("sent by a look of %s", w.now)
	}
	w.now = w.now.Add(10 * time.Second)
	if w.finds(res.Look, answered(200, asItWas)).Call == nil {
		t.Fatal("a look of ten seconds is as old as one may be")
	}
}

func TestOnlyTheLatestLookCounts(t *testing.T) {
	w := against(t, countersign.ApprovalNone)
	lost := w.must(run.Resumed{}).Look
	if res := w.must(run.Resumed{}); res.Look != nil || !res.Unchanged() {
		t.Fatal("a second Resumed looks a second time")
	}
	w.must(run.Restarted{})
	again := w.must(run.Resumed{}).Look
	if again == nil || again.N != 2 {
		t.Fatalf("%+v", again)
	}
	if res := w.finds(lost, answered(200, asItWas)); res.Call != nil || w.step("refund").Looks[0].StateDigest == "" {
		t.Fatal("a look that is taken for lost decides, or isn't kept")
	}
	if w.finds(again, answered(200, asItWas)).Call == nil {
		t.Fatal("the look isn't gone by")
	}
}

func TestWhileStoppedAndAfterDriftNothingIsLookedAt(t *testing.T) {
	for name, happens := range map[string]func(w *world){
		"stopped":  func(w *world) { w.stopped = true },
		"disabled": func(w *world) { w.project.Disabled = true },
		"drift":    func(w *world) { w.project.Revision++ },
	} {
		t.Run(name, func(t *testing.T) {
			w := against(t, countersign.ApprovalNone)
			happens(w)
			if res := w.must(run.Resumed{}); res.Look != nil {
				t.Errorf("looked at: %s", dumped(res.Notes))
			}
			w = against(t, countersign.ApprovalNone)
			look := w.must(run.Resumed{}).Look
			happens(w)
			if res := w.finds(look, answered(200, asItWas)); res.Call != nil || w.step("refund").Attempt != 0 {
				t.Errorf("sent after the look: %s", dumped(res.Notes))
			}
		})
	}
}

func TestAReviewersLookDecidesNothing(t *testing.T) {
	w := against(t, countersign.ApprovalAlways)
	first := w.asksOver(asItWas).Ask
	look := w.must(run.Looking{By: "user:bob@example.com"}).Look
	if look == nil || w.run.Status != countersign.RunWaitingApproval {
		t.Fatalf("%+v", look)
	}
	res := w.finds(look, answered(200, refunds))
	if res.Call != nil || res.Ask != nil || w.run.Status != countersign.RunWaitingApproval || res.State == nil || res.State.Values["state"].Text() != "refunded" || first.Status != countersign.ApprovalPending {
		t.Fatalf("%s", dumped(res))
	}
	w.stopped = true
	if _, err := w.apply(run.Looking{By: "user:bob@example.com"}); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("stopped: %v", err)
	}
}

func TestARunMakesSoManyLooksAndNoMore(t *testing.T) {
	w := against(t, countersign.ApprovalNone)
	for n := 1; ; n++ {
		look := w.must(run.Resumed{}).Look
		if look == nil {
			if n != countersign.MaxLooks+1 || w.step("refund").Error.Code != countersign.CodePreconditionUnknown {
				t.Errorf("after %d: %+v", n-1, w.step("refund").Error)
			}
			return
		}
		w.must(run.Restarted{})
	}
}

func TestACancelledLookSendsNothing(t *testing.T) {
	for _, approved := range []bool{false, true} {
		w := against(t, countersign.ApprovalAlways)
		look := w.must(run.Resumed{}).Look
		if approved {
			w.finds(look, answered(200, asItWas))
			w.play(decide(countersign.ApprovalApproved), run.SlotGranted{})
			look = w.must(run.Resumed{}).Look
		}
		w.must(cancel())
		if w.run.Status != countersign.RunCancelled {
			t.Fatalf("%s", w.run.Status)
		}
		if res := w.finds(look, answered(200, asItWas)); res.Call != nil || res.Ask != nil || w.run.Status != countersign.RunCancelled {
			t.Errorf("%s", dumped(res))
		}
	}
}

// TestAnExpiredApprovalIsAskedForAfterALook: a look needs a slot.
func TestAnExpiredApprovalIsAskedForAfterALook(t *testing.T) {
	w := against(t, countersign.ApprovalAlways)
	first := w.asksOver(asItWas).Ask
	w.must(decide(countersign.ApprovalApproved))
	w.now = w.now.Add(ttl)
	if res := w.must(run.Expired{}); res.Ask != nil || !run.WaitsForSlot(w.run) {
		t.Fatalf("%s", dumped(res))
	}
	w.must(run.SlotGranted{})
	a := w.finds(w.must(run.Resumed{}).Look, answered(200, another)).Ask
	if a == nil || a.PreviousID != first.ID || a.AskedAgain != 0 || len(a.Changed) != 1 {
		t.Fatalf("%+v", a)
	}
}

// TestNothingIsSentButOnTheStateThatWasApproved plays every order of changes of the state, failures,
// cancels, crashes and stops around the looks of a step: what is sent was approved on the very state
// that the last look before it had found, and that look began at most ten seconds before.
func TestNothingIsSentButOnTheStateThatWasApproved(t *testing.T) {
	moves := []string{"go", "change", "back", "false", "fail", "cancel", "crash", "stop", "go on", "late"}
	sent, ends := 0, map[string]int{}
	var play func(path []string, depth int)
	play = func(path []string, depth int) {
		m := newLookModel(t)
		for _, move := range path {
			m.do(move)
		}
		if m.w.run.Status.IsTerminal() || m.sent {
			if m.sent {
				sent++
			}
			ends[statuses(m.w.run)]++
			return
		}
		if depth == 0 {
			return
		}
		for _, move := range moves {
			play(append(path[:len(path):len(path)], move), depth-1)
		}
	}
	depth := 5
	if !testing.Short() {
		depth = 6
	}
	play(nil, depth)
	if sent == 0 || len(ends) < 3 {
		t.Fatalf("%d sent, %v", sent, ends)
	}
}

// lookModel is a world beside which a receiver changes.
type lookModel struct {
	w     *world
	total int
	state string
	look  *run.Look
	sent  bool
}

func newLookModel(t fataler) *lookModel {
	m := &lookModel{w: against(t, countersign.ApprovalAlways), total: 59, state: "returned"}
	m.took(m.w.must(run.Resumed{}))
	return m
}

// took follows on a result as the engine would, and checks what is sent.
func (m *lookModel) took(res run.Result) {
	m.look = res.Look
	if res.Superseded {
		for _, a := range m.w.approvals {
			if a.Status == countersign.ApprovalApproved {
				a.Superseded = true
			}
		}
	}
	if res.Call == nil {
		return
	}
	m.sent = true
	s := m.w.step("refund")
	last, a := s.Looks[len(s.Looks)-1], m.w.approvals[s.ApprovalID]
	now := countersign.StateDigest("look", map[string]countersign.Value{"state": countersign.String(m.state), "total": countersign.RawValue(strconv.Itoa(m.total))})
	switch {
	case a == nil || a.Status != countersign.ApprovalApproved || a.Superseded || a.StateDigest != last.StateDigest || s.StateDigest != last.StateDigest:
		m.w.t.Fatalf("sent without an approval of what was seen: %s", dumped(s))
	case last.StateDigest != now:
		m.w.t.Fatalf("sent on a state that the receiver had left before it was read: %s", dumped(s))
	case m.w.now.Sub(last.At) > 10*time.Second:
		m.w.t.Fatalf("sent %s after the look began", m.w.now.Sub(last.At))
	case m.w.stopped:
		m.w.t.Fatalf("sent while stopped")
	}
}

func (m *lookModel) do(move string) {
	w := m.w
	if w.run.Status.IsTerminal() || m.sent {
		return
	}
	switch move {
	case "change":
		m.total++
	case "back":
		m.total, m.state = 59, "returned"
	case "false":
		m.state = "refunded"
	case "stop":
		w.stopped = true
	case "go on":
		w.stopped = false
	case "cancel":
		m.took(w.must(cancel()))
	case "crash":
		w.must(run.Restarted{})
		m.took(w.must(run.Resumed{}))
	case "late":
		w.now = w.now.Add(6 * time.Second)
	case "fail":
		if m.look != nil {
			m.took(w.finds(m.look, unknown("lost")))
		}
	case "go":
		m.goOn()
	}
}

// goOn does what comes next: the look is answered, the approval given, the slot granted.
func (m *lookModel) goOn() {
	w := m.w
	switch {
	case m.look != nil:
		m.took(w.finds(m.look, answered(200, `{"state":"`+m.state+`","total":`+strconv.Itoa(m.total)+`}`)))
	case run.WaitsForSlot(w.run):
		w.must(run.SlotGranted{})
		m.took(w.must(run.Resumed{}))
	case w.run.Status == countersign.RunWaitingApproval:
		w.must(decide(countersign.ApprovalApproved))
	}
}

func TestALookThatMayNotBeMadeIsRefusedInWords(t *testing.T) {
	refused := func(w *world, want string) {
		t.Helper()
		if _, err := w.apply(run.Looking{By: "user:bob@example.com"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	w := against(t, countersign.ApprovalAlways)
	refused(w, "only the state of an approval that waits is looked at")
	w.asksOver(asItWas)
	w.agentLooks = countersign.MaxLooksPerMinute
	w.run.Steps[0].AgentID = "agent-1"
	refused(w, "agent agent-1 has made 60 within a minute, as many as an agent may make; look again in a minute")
	w.agentLooks, w.exhausted = 0, true
	refused(w, "a budget of look is used up, so that its state can't be looked at")
	plain := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "refund", Capability: "refund", Input: values(t, `{"amount":5}`)}))
	plain.must(run.Resumed{})
	refused(plain, "the capability of step refund has no precondition, so there is no state to look at")
}
