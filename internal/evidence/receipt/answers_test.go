package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// answerKinds are the ways in which a receiver's signed word ends a step, or is beside what does.
var answerKinds = []string{"answered", "refused", "withdrawn call", "read", "unreadable, settled", "done", "done refused", "done as text", "withdrawn", "withdrawn, cancelled", "unknown, not executed", "invalid"}

// answeredRun draws a run of one step whose receiver signs.
func answeredRun(t testing.TB, seed uint64, kind string) Facts {
	t.Helper()
	return answeredBy(t, seed, kind, keyOf(seed+7))
}

// answeredBy draws one whose receiver signs by that key.
func answeredBy(t testing.TB, seed uint64, kind string, key ed25519.PrivateKey) Facts {
	t.Helper()
	d := &drawn{Rand: newRand(seed), t: t, now: morning, unseen: map[int]bool{}, third: true}
	d.facts = Facts{Tenant: "acme", Version: "0.1.0", IssuedAt: morning.Add(time.Hour)}
	a := &answering{drawn: d, key: key}
	a.begin(kind)
	a.ends(kind)
	r := &d.facts.Run
	end := map[countersign.RunStatus]string{countersign.RunCompleted: "run.complete", countersign.RunFailed: "run.fail", countersign.RunCancelled: "run.cancel"}
	r.CompletedAt = d.note(end[r.Status], "", countersign.SystemPrincipal, string(r.Status), r.Error, "")
	d.digestPlan()
	d.prove()
	return d.facts
}

type answering struct {
	*drawn
	key ed25519.PrivateKey
}

func (a *answering) step() *countersign.StepRun { return &a.facts.Run.Steps[0] }

func (a *answering) keyID() string { return signature.AnswerKeyID(public(a.key)) }

// begin draws the run until its step was sent.
func (a *answering) begin(kind string) {
	method, capability := "POST", "pay"
	if kind == "read" {
		method, capability = "GET", "look"
	}
	c := countersign.Capability{Name: capability, Method: method, Path: "/pay", Approval: countersign.ApprovalNone, OutputField: pick(a.drawn, "", "data", "a.b")}
	if a.IntN(3) > 0 {
		c.Expectation = &countersign.Expectation{Field: pick(a.drawn, "ok", "$", "n.1"), Equals: countersign.RawValue(pick(a.drawn, "true", "1.50", `{"b":1}`)), StatusCode: pick(a.drawn, int64(0), 0, 201)}
	}
	r := &a.facts.Run
	*r = countersign.Run{
		ID: "run-7", PlanID: "plan-1", Mode: countersign.ModeLive, RequestedBy: "user:ines@marlow.example", CreatedAt: morning, UpdatedAt: morning,
		RestoredAt: pick(a.drawn, time.Time{}, time.Time{}, morning),
	}
	planned := countersign.Step{ID: "pay", Name: "Pay", ProjectID: "acme-shop", Capability: capability, Input: map[string]countersign.Value{}}
	if a.IntN(3) == 0 {
		planned.Expectation = &countersign.Expectation{Field: "ok", Equals: countersign.Bool(true)}
	}
	r.PlanSnapshot = &countersign.Plan{
		ID: "plan-1", Mode: r.Mode, Status: countersign.PlanReady, Steps: []countersign.Step{planned}, ValidationErrors: []string{}, Projects: []countersign.ProjectRef{{ID: "acme-shop", Revision: 3}},
		ProjectSnapshots: []countersign.Project{{ID: "acme-shop", Revision: 3, BaseURL: "https://shop.example", Capabilities: []countersign.Capability{c}, Settlement: &countersign.Settlement{Path: "/keys", Mode: "AUTOMATIC"}}},
	}
	a.note("runs.start", "", r.RequestedBy, "READY", "LIVE of plan plan-1", "")
	a.note("projects.write", "", "user:ada@marlow.example", "3", "", "")
	registered := &a.log[1]
	registered.Subject, registered.AnswerKeys = "project/acme-shop", []string{signature.AnswerKeyText(public(a.key))}
	if a.IntN(2) == 0 {
		registered.AnswerKeys = append([]string{signature.AnswerKeyText(public(keyOf(99)))}, registered.AnswerKeys...)
	}
	s := countersign.StepRun{
		ID: "pay", Name: "Pay", ProjectID: "acme-shop", Capability: capability, DependsOn: []string{}, Input: map[string]countersign.Value{}, Attempt: 1, SideEffect: method == "POST", IdempotencyKey: "run-7.pay",
		Request: &countersign.Request{Method: method, URL: "https://shop.example/pay" + pick(a.drawn, "", "?n=1"), Query: countersign.RawValue("{}"), Body: countersign.Null},
	}
	if strings.HasSuffix(s.Request.URL, "=1") {
		s.Request.Query = countersign.RawValue(`{"n":1}`)
	}
	if method == "POST" {
		s.Request.Body = countersign.RawValue(`{"amount": 1.50}`)
	}
	digest := request.Digest(*s.Request, s.ProjectID, 3, s.Capability)
	s.RequestDigest = countersign.StepDigest(digest)
	s.StartedAt = a.note("step.send", "pay", countersign.SystemPrincipal, "RUNNING", "", digest)
	a.log[len(a.log)-1].AnswerKeys = registered.AnswerKeys
	r.Steps = []countersign.StepRun{s}
}

// signs signs an answer.
func (a *answering) signs(key, method, target, body string, status int, answer string) *countersign.AnswerEvidence {
	header, err := signature.SignAnswer(a.key, signature.Answer{
		IdempotencyKey: key, Timestamp: "1796000000", Method: method, PathAndQuery: target, BodySHA256: countersign.SHA256Hex([]byte(body)), Status: status, AnswerSHA256: countersign.SHA256Hex([]byte(answer)),
	}, a.now)
	if err != nil {
		a.t.Fatal(err)
	}
	return &countersign.AnswerEvidence{Timestamp: "1796000000", Signature: header, BodyBase64: base64.StdEncoding.EncodeToString([]byte(answer))}
}

// bodies of 2xx answers.
var answerBodies = []string{
	`{"ok":true,"data":{"ok":true,"n":[0,1.5]},"a":{"b":{"b":1}},"n":[1,1.50]}`, "\ufeff {\"ok\": true, \"data\": 1.50}", `{"a.b":{"b":1.0},"ok":true}`, " \n", `null`, `[{"b":1},1.5]`,
	`{"data":[1e400,"\u0061\u2028<&>\n"],"ok":true,"\u00e9":"\ud83d\ude00"}`, `1.50`, `{"b":1}`, `true`, `{"a":{"b":true},"data":null,"n":{"1":1.5}}`, `{"ok":false,"data":{}}`,
}

// answered has the step answered; it stays open where that doesn't say what became of it.
func (a *answering) answered(status int, body string) {
	s := a.step()
	sent := request.BodyText(*s.Request)
	s.Response = &countersign.Response{StatusCode: status, Bytes: countersign.ByteCount(len(body)), BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))}
	s.Response.Signed = a.signs(s.IdempotencyKey, s.Request.Method, strings.TrimPrefix(s.Request.URL, "https://shop.example"), sent, status, body)
	s.AnsweredBy = &countersign.AnsweredBy{KeyID: a.keyID(), At: a.now.UTC().Truncate(time.Second)}
}

// means ends the step by what an answer means, as the independent rules of this test have it.
func (a *answering) means(c *claims, status int, body, action, words string) {
	s, r := a.step(), &a.facts.Run
	section, err := countersign.ValueOf(r)
	if err != nil {
		a.t.Fatal(err)
	}
	plan, err := countersign.ValueOf(r.PlanSnapshot)
	if err != nil {
		a.t.Fatal(err)
	}
	c.run, c.plan = parse(section.Canonical()), parse(plan.Canonical())
	m := c.answerMeans(c.steps()[0], status, []byte(body), 1)
	if m.status == countersign.StepCompleted || m.code == countersign.CodeExpectationNotMet {
		v, _ := readAnswer([]byte(body))
		s.Output = v
		if field := r.PlanSnapshot.ProjectSnapshots[0].Capabilities[0].OutputField; field != "" {
			s.Output, _ = v.Lookup(field)
		}
		s.Verification = verificationOf(m.verification)
	}
	a.end(m, action, words)
}

func verificationOf(n node) *countersign.Verification {
	read := func(n node, name string) (v countersign.Value) {
		if n.has(name) {
			v = n.at(name).value()
		}
		return v
	}
	v := &countersign.Verification{Status: n.at("status").text(), Field: n.at("field").text(), Expected: read(n, "expected"), Actual: read(n, "actual"), StatusCode: max(0, n.at("statusCode").whole())}
	for _, c := range n.at("checks").list() {
		v.Checks = append(v.Checks, countersign.ExpectationCheck{Status: c.at("status").text(), Field: c.at("field").text(), Expected: read(c, "expected"), Actual: read(c, "actual")})
	}
	return v
}

// end ends step and run.
func (a *answering) end(m meant, action, words string) {
	s, r := a.step(), &a.facts.Run
	s.Status, r.Status = m.status, countersign.RunCompleted
	if m.status == countersign.StepFailed {
		s.Error = &countersign.StepError{Code: m.code, Message: "so"}
		r.Status, r.Error = countersign.RunFailed, string(m.code)+": so"
		if r.CancelRequested {
			s.Status, r.Status, r.Error = countersign.StepCancelled, countersign.RunCancelled, "cancelled: user:ada@marlow.example: so"
		}
		s.MayHaveHappened = m.mayHave || !r.RestoredAt.IsZero() && s.SideEffect && m.code != countersign.CodeWithdrawn
		r.MayHaveHappened = s.MayHaveHappened
	}
	if s.Verification != nil && s.Verification.Status == countersign.VerificationNotRequested && s.Status == countersign.StepCompleted {
		r.UnverifiedSteps = 1
	}
	if action == "step.complete" {
		words = ""
		if s.Verification != nil {
			words = s.Verification.Status
		}
		if s.Status != countersign.StepCompleted {
			s.CompletedAt = a.now
			return
		}
	}
	s.CompletedAt = a.note(action, "pay", countersign.SystemPrincipal, string(s.Status), words, s.RequestDigest.Text())
	if action == "steps.settle" {
		s.SettledBy.At = s.CompletedAt
	}
}

// says has the receiver say something of the key.
func (a *answering) says(statement string, status int, withdrawing bool) *countersign.SettlementRecord {
	s := a.step()
	s.Questions++
	if a.IntN(2) == 0 {
		s.Questions++ // one that nobody answered
	}
	key, method, ending, action := fmt.Sprintf("%s~settle-%d", s.IdempotencyKey, s.Questions), "GET", "", "steps.ask"
	if withdrawing {
		key, method, ending, action = s.IdempotencyKey+"~withdraw", "POST", "/withdraw", "steps.withdraw"
	}
	a.note(action, "pay", countersign.SystemPrincipal, "RECOVERY_REQUIRED", key, s.RequestDigest.Text())
	target := fmt.Sprintf("/keys/%s%s?sent=%d", s.IdempotencyKey, ending, s.StartedAt.Unix())
	o := request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: status, Signed: a.signs(key, method, target, "", status, statement)}, AnsweredBy: &countersign.AnsweredBy{KeyID: a.keyID()}}
	o.Body, _ = readAnswer([]byte(statement))
	r := run.Statement(o, s.IdempotencyKey, s.StartedAt)
	state := r.State
	if state == "" {
		state = "no statement"
	}
	r.N, r.Withdrawing, r.Target = s.Questions, withdrawing, target
	r.At = a.note("steps.statement", "pay", countersign.SystemPrincipal, "RECOVERY_REQUIRED", fmt.Sprintf("%d: %s", r.N, state), s.RequestDigest.Text())
	s.Settlements = append(s.Settlements, r)
	return &s.Settlements[len(s.Settlements)-1]
}

func (a *answering) settles(c *claims, r *countersign.SettlementRecord, body string) {
	s := a.step()
	words := fmt.Sprintf("statement %d of the receiver: %s", r.N, r.State)
	if r.State == countersign.KeyDone {
		words += fmt.Sprintf(" %d", r.StatusCode)
		s.AnsweredBy, s.Response = nil, &countersign.Response{StatusCode: int(r.StatusCode)}
	}
	words += ", signed with answer key " + r.KeyID
	s.SettledBy = &countersign.SettledBy{KeyID: r.KeyID}
	if r.State == countersign.KeyWithdrawn {
		a.end(meant{status: countersign.StepFailed, code: countersign.CodeWithdrawn}, "steps.settle", words)
		return
	}
	a.means(c, int(r.StatusCode), body, "steps.settle", words)
}

func (a *answering) ends(kind string) {
	c, body := &claims{}, pick(a.drawn, answerBodies...)
	since := pick(a.drawn, `"2026-11-20T00:00:00.5Z"`, `"2026-11-20T01:00:00+01:00"`, `"20261120t0000,5z"`, `"2026-11-20T00:00:00.123456789-23:59"`)
	if since == `"20261120t0000,5z"` {
		since = `"20261120t000000,5z"`
	}
	says := func(state, more string, withdrawing bool) *countersign.SettlementRecord {
		return a.says(fmt.Sprintf(`{"key":"run-7.pay","state":%q,"at":"2026-11-21T09:00:00Z","since":%s%s}`, state, since, more), 200, withdrawing)
	}
	if kind != "answered" && kind != "refused" && kind != "read" && kind != "withdrawn call" && (a.IntN(2) == 0 || kind == "invalid") {
		says(pick(a.drawn, "IN_PROGRESS", "UNKNOWN", "UNSEEN"), "", false)
	}
	switch kind {
	case "answered", "read":
		status := pick(a.drawn, 200, 201)
		a.answered(status, body)
		a.means(c, status, body, "step.complete", "")
	case "refused":
		a.answered(pick(a.drawn, 404, 409, 422), `{"error":"no"}`)
		a.end(meant{status: countersign.StepFailed, code: countersign.CodeReceiverRefused}, "step.complete", "")
	case "withdrawn call":
		a.answered(410, `{"error":"key_withdrawn","message":"x"}`)
		a.end(meant{status: countersign.StepFailed, code: countersign.CodeWithdrawn}, "step.complete", "")
	case "unreadable, settled":
		a.answered(pick(a.drawn, 200, 206, 303), pick(a.drawn, `{"a":1,"a":2}`, `nope`, `{"a":"\ud800"}`, strings.Repeat("[", 70)+strings.Repeat("]", 70), "\xff"))
		a.settles(c, says("DONE", `,"statusCode":200,"body":`+strings.TrimSpace(strings.TrimPrefix("null", "")), false), "null")
	case "done":
		body = strings.TrimPrefix(body, "\ufeff")
		if strings.TrimSpace(body) == "" {
			body = "null"
		}
		a.settles(c, says("DONE", `,"statusCode":201,"body":`+body, false), body)
	case "done refused":
		a.settles(c, says("DONE", `,"statusCode":422,"body":{"error":"no"}`, false), `{"error":"no"}`)
	case "done as text":
		a.settles(c, says("DONE", `,"statusCode":404,"text":"none of that"`, false), "none of that")
	case "withdrawn":
		says("UNSEEN", "", false)
		a.settles(c, says("WITHDRAWN", "", true), "")
	case "withdrawn, cancelled":
		a.facts.Run.CancelRequested = true
		a.note("runs.cancel", "", "user:ada@marlow.example", "RECOVERY_REQUIRED", "so", "")
		a.settles(c, says("WITHDRAWN", "", false), "")
	case "unknown, not executed":
		since = pick(a.drawn, `"2026-11-21T08:56:00Z"`, `"soon"`, `null`)
		says(pick(a.drawn, "UNSEEN", "WITHDRAWN"), "", false)
		a.notExecuted()
	case "invalid":
		a.says(pick(a.drawn, `{"key":"another","state":"DONE"}`, `{"error":"no"}`, `[]`), pick(a.drawn, 200, 404), false)
		a.notExecuted()
	}
}

func (a *answering) notExecuted() {
	s, r := a.step(), &a.facts.Run
	a.resolved(s, countersign.ConfirmedNotExecuted, "FAILED", s.RequestDigest.Text())
	s.Status, s.CompletedAt, s.MayHaveHappened = countersign.StepFailed, s.Reconciliation.At, true
	s.Error = &countersign.StepError{Code: countersign.CodeNotExecuted, Message: "so"}
	r.Status, r.Error, r.MayHaveHappened = countersign.RunFailed, "not_executed: so", true
}

// answeredRuns are some of each kind.
func answeredRuns(t *testing.T, each int, f func(name string, facts Facts, key ed25519.PublicKey)) {
	t.Helper()
	for _, kind := range answerKinds {
		for seed := range uint64(each) {
			f(fmt.Sprintf("%s, seed %d", kind, seed), answeredRun(t, seed, kind), public(keyOf(seed+7)))
		}
	}
}

func TestReceiptsOfSignedAnswersHold(t *testing.T) {
	answeredRuns(t, 40, func(name string, f Facts, key ed25519.PublicKey) {
		file := built(t, f, keyOf(1))
		if v := Verify(file, nil); !v.OK || !strings.HasSuffix(v.Summary, "valid") || len(v.Answers) == 0 || v.Answers[0].KeyFrom != KeyFromLog {
			t.Errorf("%s: %s: %s %+v", name, v.Section, v.Problem, v.Answers)
		}
		if v := VerifyKnowing(file, nil, Known{AnswerKeys: []ed25519.PublicKey{public(keyOf(1)), key}}); !v.OK || len(v.Answers) == 0 || v.Answers[0].KeyFrom != KeyFromReader {
			t.Errorf("%s: by the reader's keys %s: %s %+v", name, v.Section, v.Problem, v.Answers)
		}
		if v := VerifyKnowing(file, nil, Known{AnswerKeys: []ed25519.PublicKey{public(keyOf(1))}}); v.OK || v.Section != Run {
			t.Errorf("%s: by another key than the receiver's: %+v", name, v)
		}
	})
}

// notOfTheAnswer are the members of a signed step that no signature of its receiver proves.
var notOfTheAnswer = []string{
	"run.steps[].response.durationMs", "run.steps[].response.retryAfter", "run.steps[].response.body", "run.steps[].response.bytes", "run.steps[].response.bodySha256",
	"run.steps[].questions", "run.steps[].askedFrom", "run.steps[].settlements[].error", "run.steps[].settlements[].keyId", "run.steps[].settlements[].signature", "run.steps[].settlements[].target",
	"run.steps[].settlements[].signed", "run.steps[].settlements[].since", "run.steps[].settlements[].withdrawing",
}

// TestNobodyButTheReceiverAltersASignedAnswer: each member of a step that its receiver's signature
// proves, altered and signed anew by who has the key of the receipts.
func TestNobodyButTheReceiverAltersASignedAnswer(t *testing.T) {
	t.Parallel()
	answeredRuns(t, 3, func(name string, f Facts, _ ed25519.PublicKey) {
		forgedMembers(t, built(t, f, keyOf(1)), func(path, how string, seal func() []byte) {
			switch {
			case !strings.HasPrefix(path, "run.steps[].response") && !strings.HasPrefix(path, "run.steps[].output") && !strings.HasPrefix(path, "run.steps[].answeredBy") &&
				!strings.HasPrefix(path, "run.steps[].sett") && !strings.HasPrefix(path, "run.steps[].verification") && path != "run.steps[].mayHaveHappened" && !strings.HasPrefix(path, "audit.records"):
				return
			case strings.HasPrefix(name, "invalid") && slices.ContainsFunc(notOfTheAnswer, func(free string) bool { return path == free || strings.HasPrefix(path, free+".") }):
				return
			case slices.Contains(notOfTheAnswer[:3], path), len(f.Run.Steps[0].Settlements) > 0 && f.Run.Steps[0].AnsweredBy == nil && slices.Contains(notOfTheAnswer[:5], path):
				return
			}
			if v := Verify(seal(), nil); v.OK && v.Unshown == 0 {
				t.Errorf("%s: %s, %s: it verifies", name, path, how)
			}
		})
	})
}

// answeredCorpus are receipts with signed answers, and forgeries of them, by the log's keys and by
// the reader's.
func answeredCorpus(t *testing.T, judge func(how string, file []byte, known ...ed25519.PublicKey)) {
	t.Helper()
	n := 0
	answeredRuns(t, 12, func(name string, f Facts, key ed25519.PublicKey) {
		file := built(t, f, keyOf(1))
		judge(name, file)
		judge(name+", by the reader's keys", file, public(keyOf(1)), key)
		judge(name+", by another key", file, public(keyOf(1)))
		forgedMembers(t, file, func(path, how string, seal func() []byte) {
			if n++; n%(forgeryShare+3) == 0 {
				judge(name+", signed another "+path+": "+how, seal())
			}
		})
	})
}

// TestTheFirstLineSaysHowManySignaturesAreNotShown: an answer that held a credential is kept without
// what shows its signature.
func TestTheFirstLineSaysHowManySignaturesAreNotShown(t *testing.T) {
	for kind, c := range map[string]string{
		"answered":  "valid for what it shows; left out: 1 answer's signature",
		"withdrawn": "valid for what it shows; left out: 2 answers' signatures",
	} {
		f := answeredRun(t, 3, kind)
		s := &f.Run.Steps[0]
		if s.Response != nil {
			s.Response.Signed = nil
		}
		s.Settlements = slices.Clone(s.Settlements)
		for i := range s.Settlements {
			s.Settlements[i].Signed = nil
		}
		f.Log.Records = slices.DeleteFunc(f.Log.Records, func(r Record) bool { return strings.Contains(r.Text, `"projects.write"`) })
		v := Verify(built(t, f, keyOf(1)), nil)
		want := strings.Replace(c, "2 answers", fmt.Sprintf("%d answers", max(2, len(s.Settlements))), 1)
		if !v.OK || !strings.HasSuffix(v.Summary, want) {
			t.Errorf("%s: %s %s %q, want %q", kind, v.Section, v.Problem, v.Summary, want)
		}
	}
}
