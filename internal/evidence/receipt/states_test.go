package receipt

import (
	"crypto/ed25519"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/request"
)

// stateKinds are the ways of a step whose capability has a precondition.
var stateKinds = []string{
	"unasked", "asked", "passkey", "changed", "changed three times", "looked again", "false", "false later", "unknown", "nobody can say", "look lost", "expired", "sent twice", "cancelled", "rejected", "rehearsed",
}

// stateRun draws a run of one step that is looked at before it is asked for and before it is sent.
func stateRun(t testing.TB, seed uint64, kind string) Facts {
	t.Helper()
	d := &drawn{Rand: newRand(seed), t: t, now: morning, unseen: map[int]bool{}, third: true}
	d.facts = Facts{Tenant: "acme", Version: "0.1.0", IssuedAt: morning.Add(time.Hour)}
	l := &looking{drawn: d, total: "59.0"}
	l.begin(kind)
	l.plays(kind)
	r := &d.facts.Run
	end := map[countersign.RunStatus]string{countersign.RunCompleted: "run.complete", countersign.RunFailed: "run.fail", countersign.RunCancelled: "run.cancel"}
	r.CompletedAt = d.note(end[r.Status], "", countersign.SystemPrincipal, string(r.Status), r.Error, "")
	d.digestPlan()
	d.prove()
	return d.facts
}

type looking struct {
	*drawn
	total string // what the receiver would say
}

func (l *looking) step() *countersign.StepRun { return &l.facts.Run.Steps[0] }

func (l *looking) capability() *countersign.Capability {
	return &l.facts.Run.PlanSnapshot.ProjectSnapshots[0].Capabilities[0]
}

// begin draws the run until its step is looked at.
func (l *looking) begin(kind string) {
	mode, approval := countersign.ModeLive, countersign.ApprovalAlways
	if kind == "rehearsed" {
		mode = countersign.ModeDryRun
	}
	if kind == "unasked" {
		approval = countersign.ApprovalNone
	}
	refund := countersign.Capability{Name: "refund", Method: "POST", Approval: approval, Precondition: &countersign.Precondition{Capability: "order", Fields: []string{"total", "a.b"}}}
	if l.IntN(4) > 0 || kind == "false" {
		refund.Precondition.When = &countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "total", Operator: "gt", Value: countersign.Scalar{Value: countersign.RawValue("0.50")}}}
	}
	r := &l.facts.Run
	*r = countersign.Run{ID: "run-8", PlanID: "plan-1", Mode: mode, RequestedBy: "user:ines@marlow.example", CreatedAt: morning, UpdatedAt: morning}
	r.PlanSnapshot = &countersign.Plan{
		ID: "plan-1", Mode: mode, Status: countersign.PlanReady, ValidationErrors: []string{}, Projects: []countersign.ProjectRef{{ID: "acme-shop", Revision: 3}},
		Steps:            []countersign.Step{{ID: "pay", Name: "Pay", ProjectID: "acme-shop", Capability: "refund", Input: map[string]countersign.Value{}}},
		ProjectSnapshots: []countersign.Project{{ID: "acme-shop", Revision: 3, BaseURL: "https://shop.example", Capabilities: []countersign.Capability{refund, {Name: "order", Method: "GET", Path: "/orders"}}}},
	}
	l.note("runs.start", "", r.RequestedBy, "READY", mode+" of plan plan-1", "")
	s := countersign.StepRun{
		ID: "pay", Name: "Pay", ProjectID: "acme-shop", Capability: "refund", DependsOn: []string{}, Input: map[string]countersign.Value{}, SideEffect: true, ApprovalRequired: approval == countersign.ApprovalAlways, IdempotencyKey: "run-8.pay",
		Request: &countersign.Request{Method: "POST", URL: "https://shop.example/refunds", Query: countersign.RawValue("{}"), Body: countersign.RawValue(`{"amount": 1.50}`)},
	}
	s.RequestDigest = countersign.StepDigest(request.Digest(*s.Request, s.ProjectID, 3, s.Capability))
	r.Steps = []countersign.StepRun{s}
}

// read is the request of each look.
func (l *looking) read() *countersign.Request {
	r := countersign.Request{Method: "GET", URL: "https://shop.example/orders?n=1", Query: countersign.RawValue(`{"n":1}`), Body: countersign.Null}
	if l.facts.Run.PlanSnapshot.ProjectSnapshots[0].HealthPath != "" {
		r.Headers = countersign.ObjectValue(map[string]countersign.Value{"X-Shop": countersign.String("é <&>\u2028\x01"), "Authorization": countersign.String("Basic desk:•••")})
	}
	return &r
}

func (l *looking) values() map[string]countersign.Value {
	return map[string]countersign.Value{"total": countersign.RawValue(l.total), "a.b": pick(l.drawn, countersign.RawValue(`{"x":[1.50,null]}`))}
}

// looks has somebody look: nothing came where came is "", else it came so.
func (l *looking) looks(by, came string) *countersign.Look {
	s := l.step()
	digest := request.Digest(*l.read(), s.ProjectID, 3, "order")
	n := int64(len(s.Looks)) + 1
	action, actor := "steps.look", countersign.SystemPrincipal
	if by != "" {
		action, actor = "approvals.look", by
	}
	key := fmt.Sprintf("run-8.pay~look-%d", n)
	look := countersign.Look{N: n, By: by, Capability: "order", RequestDigest: digest}
	look.At = l.note(action, "pay", actor, "RUNNING", key, digest)
	if came != "" {
		look.StatusCode = 200
		if !strings.HasPrefix(came, "answered ") {
			look.Error = came
		}
		if came == "answered 200" || came == "nobody can say whether what must be so holds" {
			values := l.values()
			look.StateDigest = countersign.StateDigest("order", values)
			if !slices.ContainsFunc(s.Looks, func(o countersign.Look) bool { return o.StateDigest == look.StateDigest && o.Values != nil }) {
				look.Values = values
			}
		}
		l.note("steps.looked", "pay", actor, "RUNNING", key+": "+came, digest)
		l.log[len(l.log)-1].StateDigest = look.StateDigest
	}
	s.Looks = append(s.Looks, look)
	return &s.Looks[n-1]
}

const seen200 = "answered 200"

// asks asks for an approval on what was just seen; before is the one in whose place.
func (l *looking) asks(signs bool) *countersign.Approval {
	s := l.step()
	look := s.Looks[len(s.Looks)-1]
	digest := s.RequestDigest.Text()
	asked := l.note("approval.request", "pay", countersign.SystemPrincipal, "WAITING_APPROVAL", "", digest)
	record := &l.log[len(l.log)-1]
	record.StateDigest = look.StateDigest
	a := countersign.Approval{
		ID: fmt.Sprintf("apr-%d", len(l.facts.Approvals)), RunID: "run-8", StepID: "pay", Attempt: s.Attempt + 1, Request: *s.Request, RequestDigest: digest, ProjectID: s.ProjectID, Capability: s.Capability,
		InputSnapshot: s.Input, RequestedBy: l.facts.Run.RequestedBy, RequestedAt: asked, ExpiresAt: asked.Add(time.Hour), PlanID: "plan-1", ApprovalsNeeded: 1,
	}
	if signs {
		a.DecisionAssertion, record.DecisionAssertion = countersign.DecisionAssertionPasskey, countersign.DecisionAssertionPasskey
	}
	l.shows(&a, look)
	l.facts.Approvals = append(l.facts.Approvals, a)
	s.ApprovalID = a.ID
	return &l.facts.Approvals[len(l.facts.Approvals)-1]
}

func (l *looking) shows(a *countersign.Approval, look countersign.Look) {
	values := l.values()
	a.State = &countersign.State{Capability: "order", RequestDigest: look.RequestDigest, StatusCode: look.StatusCode, Values: values, At: look.At, Request: l.read()}
	a.StateDigest = look.StateDigest
}

// instead has an approval be asked for in place of the one before it.
func (l *looking) instead(a *countersign.Approval, again int64) {
	before := &l.facts.Approvals[len(l.facts.Approvals)-2]
	before.Superseded, a.PreviousID, a.AskedAgain = true, before.ID, again
	a.Changed = precondition.Differences([]string{"total", "a.b"}, before.State.Values, a.State.Values)
	l.step().AskedAgain = again
}

func (l *looking) decides(a *countersign.Approval, status countersign.ApprovalStatus) {
	by := "user:mara@marlow.example"
	at := l.note("approvals.decide", "pay", by, string(status), "because", a.RequestDigest)
	l.log[len(l.log)-1].StateDigest = a.StateDigest
	a.Status, a.DecidedBy, a.DecisionReason, a.DecidedAt = status, by, "because", at
	a.Decisions = append(a.Decisions, countersign.GivenDecision{Decision: status, By: by, Reason: "because", At: at, StateDigest: a.StateDigest})
	if a.DecisionAssertion != "" {
		l.sign(a)
	}
}

func (l *looking) sends() {
	s := l.step()
	s.StateDigest, s.AskedAgain = s.Looks[len(s.Looks)-1].StateDigest, 0
	s.StartedAt = l.note("step.send", "pay", countersign.SystemPrincipal, "RUNNING", "", s.RequestDigest.Text())
	l.log[len(l.log)-1].StateDigest = s.StateDigest
	s.Attempt++
}

func (l *looking) completes() {
	s, r := l.step(), &l.facts.Run
	s.Response = &countersign.Response{StatusCode: 200, Bytes: 2, BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte("{}")))}
	s.Output, s.Verification, s.Status = countersign.RawValue("{}"), &countersign.Verification{Status: countersign.VerificationNotRequested}, countersign.StepCompleted
	s.CompletedAt = l.note("step.complete", "pay", countersign.SystemPrincipal, "COMPLETED", s.Verification.Status, s.RequestDigest.Text())
	r.Status, r.UnverifiedSteps = countersign.RunCompleted, 1
}

func (l *looking) fails(code countersign.Code) {
	s, r := l.step(), &l.facts.Run
	s.Status, s.Error = countersign.StepFailed, &countersign.StepError{Code: code, Message: "so"}
	r.Status, r.Error = countersign.RunFailed, string(code)+": so"
}

func (l *looking) plays(kind string) {
	if l.IntN(2) == 0 {
		l.facts.Run.PlanSnapshot.ProjectSnapshots[0].HealthPath = "/health" // such a project has headers here
	}
	approves := func(signs bool) *countersign.Approval {
		l.looks("", seen200)
		a := l.asks(signs)
		l.decides(a, countersign.ApprovalApproved)
		return a
	}
	again := func(total string, n int64) {
		l.total = total
		l.looks("", seen200)
		a := l.asks(false)
		l.instead(a, n)
		l.decides(a, countersign.ApprovalApproved)
	}
	sends := func() {
		l.looks("", seen200)
		l.sends()
		l.completes()
	}
	switch kind {
	case "unasked":
		sends()
	case "asked", "passkey":
		approves(kind == "passkey")
		l.total = "59" // equal
		sends()
	case "changed":
		approves(false)
		again("60", 1)
		sends()
	case "changed three times":
		approves(false)
		again("60", 1)
		again("59", 2)
		l.total = "61"
		l.looks("", seen200)
		l.fails(countersign.CodePreconditionFailed)
	case "looked again":
		l.looks("", seen200)
		a := l.asks(false)
		l.decides(a, countersign.ApprovalApproved) // one of two
		a.Decisions[0].Left, a.ApprovalsNeeded = true, 1
		l.log[len(l.log)-1].After = "PENDING"
		l.total = pick(l.drawn, "59.00", "70")
		l.shows(a, *l.looks("user:mara@marlow.example", seen200))
		a.Decisions[0].By = "user:ben@marlow.example"
		l.log[len(l.log)-3].Actor = "user:ben@marlow.example"
		l.decides(a, countersign.ApprovalApproved)
		sends()
	case "false", "false later":
		if kind == "false later" {
			approves(false)
		}
		l.total = "0.1"
		l.looks("", seen200)
		l.fails(countersign.CodePreconditionFailed)
	case "unknown":
		l.looks("", pick(l.drawn, "the output has no field a.b", "the read was answered 404: no", "timeout"))
		l.fails(countersign.CodePreconditionUnknown)
	case "nobody can say":
		l.looks("", "nobody can say whether what must be so holds")
		l.fails(countersign.CodePreconditionUnknown)
	case "look lost":
		l.looks("", "")
		l.note("step.look_lost", "pay", countersign.SystemPrincipal, "READY", "the service stopped", l.step().RequestDigest.Text())
		approves(false)
		sends()
	case "expired":
		a := approves(false)
		a.ExpiresAt = a.DecidedAt.Add(time.Second)
		l.now = l.now.Add(time.Minute)
		again(pick(l.drawn, "59", "60"), 0)
		sends()
	case "sent twice":
		approves(false)
		l.looks("", seen200)
		l.sends()
		l.resolved(l.step(), countersign.ConfirmedNotExecuted, "PENDING", l.step().RequestDigest.Text())
		l.total = "60"
		approves(false)
		sends()
	case "cancelled":
		approves(false)
		l.looks("", "")
		l.facts.Run.CancelRequested = true
		l.note("runs.cancel", "", "user:ada@marlow.example", "CANCELLED", "so", "")
		l.step().Status, l.facts.Run.Status = countersign.StepCancelled, countersign.RunCancelled
	case "rejected":
		l.looks("", seen200)
		l.decides(l.asks(false), countersign.ApprovalRejected)
		l.fails(countersign.CodeApprovalRejected)
	case "rehearsed":
		s := l.step()
		p := l.capability().Precondition
		s.WouldCheck = &countersign.WouldCheck{Capability: p.Capability, Fields: p.Fields, When: p.When, Request: l.read()}
		s.Status, s.Output, s.Verification = countersign.StepSimulated, countersign.Null, &countersign.Verification{Status: countersign.VerificationSimulated}
		s.CompletedAt = l.note("step.simulate", "pay", countersign.SystemPrincipal, "SIMULATED", "", s.RequestDigest.Text())
		s.StartedAt = s.CompletedAt
		l.facts.Run.Status = countersign.RunCompleted
	}
}

// stateRuns are some of each kind.
func stateRuns(t *testing.T, each int, f func(name string, facts Facts)) {
	t.Helper()
	for _, kind := range stateKinds {
		for seed := range uint64(each) {
			f(fmt.Sprintf("%s, seed %d", kind, seed), stateRun(t, seed, kind))
		}
	}
}

func TestReceiptsOfWhatWasLookedAtHold(t *testing.T) {
	t.Parallel()
	stateRuns(t, 10, func(name string, f Facts) {
		if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); !v.OK || !strings.HasSuffix(v.Summary, "valid") {
			t.Errorf("%s: %s: %s", name, v.Section, v.Problem)
		}
	})
}

// ofStates are the members that preconditions brought; the others are altered in other runs.
var ofStates = regexp.MustCompile(`looks|tate|wouldCheck|changed|askedAgain|superseded|previous|looking`)

// TestNobodyAltersWhatWasLookedAt: each member of a receipt of a run with a precondition, altered and
// signed anew, but those of which the specification says that only the signature proves them.
func TestNobodyAltersWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	list := signedOnly(t)
	stateRuns(t, 1, func(name string, f Facts) {
		forgedMembers(t, built(t, f, keyOf(1)), func(path, how string, seal func() []byte) {
			if isSignedOnly(list, path) || !ofStates.MatchString(path) {
				return
			}
			if Verify(seal(), public(keyOf(1))).OK {
				t.Errorf("%s: %s, %s: it verifies, and the specification doesn't say that only the signature proves it", name, path, how)
			}
		})
	})
}

// stateCorpus are receipts of what was looked at, and forgeries of them.
func stateCorpus(t *testing.T, judge func(how string, file []byte, known ...ed25519.PublicKey)) {
	t.Helper()
	n := 0
	stateRuns(t, 3, func(name string, f Facts) {
		file := built(t, f, keyOf(1))
		judge(name, file)
		forgedMembers(t, file, func(path, how string, seal func() []byte) {
			if n++; n%(forgeryShare+3) == 0 {
				judge(name+", signed another "+path+": "+how, seal())
			}
		})
	})
}
