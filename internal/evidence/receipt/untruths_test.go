package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/request"
)

// untruth is what somebody with the service's signing key and its disk might make a receipt say.
type untruth struct {
	name    string // as docs/reference/receipt.md lists it
	of      func(t *testing.T) Facts
	forge   func(t *testing.T, f *Facts)
	section string // that each verifier names; "": it can't be shown
	reader  bool   // who knows the API's answer key
}

// theAPI is the key by which the receiver of these runs signs.
var theAPI = keyOf(7)

func answeredAs(kind string, fits func(s countersign.StepRun) bool) func(t *testing.T) Facts {
	return func(t *testing.T) Facts {
		t.Helper()
		for nth := range uint64(4000) {
			if f := answeredBy(t, nth, kind, theAPI); f.Run.RestoredAt.IsZero() && fits(f.Run.Steps[0]) {
				return f
			}
		}
		t.Fatal("no such run was drawn")
		return Facts{}
	}
}

func lookedAs(kind string, seed uint64) func(t *testing.T) Facts {
	return func(t *testing.T) Facts { return stateRun(t, seed, kind) }
}

func anyStep(countersign.StepRun) bool { return true }

func completed(s countersign.StepRun) bool {
	return s.Status == countersign.StepCompleted && s.Capability == "pay" && s.Output.Raw() != "null"
}

func failedAs(code countersign.Code) func(s countersign.StepRun) bool {
	return func(s countersign.StepRun) bool { return s.Error != nil && s.Error.Code == code }
}

// anotherLog writes the log of a run anew; edit gives a record's text, "" for one that is left out.
func anotherLog(f *Facts, edit func(text string) string) {
	var leaves []tlog.Hash
	for i := range f.Log.Size {
		leaves = append(leaves, tlog.RecordHash(fmt.Appendf(nil, "another %d", i)))
	}
	var kept []Record
	for _, r := range f.Log.Records {
		seq := seqOf(r.Text)
		if r.Text = edit(r.Text); r.Text != "" {
			leaves[seq] = tlog.RecordHash([]byte(r.Text))
			kept = append(kept, r)
		}
	}
	f.Log.Records = nil
	read := relog(f, leaves)
	for _, r := range kept {
		proof, err := tlog.ProveRecord(f.Log.Size, seqOf(r.Text), read)
		if err != nil {
			panic(err)
		}
		r.Proof = []string{}
		for _, h := range proof {
			r.Proof = append(r.Proof, fmt.Sprintf("%x", h[:]))
		}
		f.Log.Records = append(f.Log.Records, r)
	}
	f.Log.Cosigned = nil // no witness has seen this log
}

// replaced is an edit of a log.
func replaced(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

// says has a step end COMPLETED by an answer, in the log too.
func saysDone(f *Facts, body string) {
	s := &f.Run.Steps[0]
	s.Status, s.Error, s.MayHaveHappened, s.Reconciliation = countersign.StepCompleted, nil, false, nil
	s.Output = countersign.RawValue(body)
	s.Verification = &countersign.Verification{Status: countersign.VerificationNotRequested}
	f.Run.PlanSnapshot.Steps[0].Expectation, f.Run.PlanSnapshot.ProjectSnapshots[0].Capabilities[0].Expectation = nil, nil
	f.Run.PlanSnapshot.ProjectSnapshots[0].Capabilities[0].OutputField = ""
	f.Run.Status, f.Run.Error, f.Run.MayHaveHappened, f.Run.UnverifiedSteps = countersign.RunCompleted, "", false, 1
}

// inTheLogToo has the log say that the run completed.
func inTheLogToo(t *testing.T, f *Facts) {
	t.Helper()
	forgePlan(t, f)
	ends := regexp.MustCompile(`"action":"(step\.complete|runs\.reconcile|steps\.settle|run\.fail)"`)
	anotherLog(f, func(text string) string {
		switch found := ends.FindStringSubmatch(text); {
		case found == nil:
			return regexp.MustCompile(`("action":"runs\.start".*"digest":")[0-9a-f]*`).ReplaceAllString(text, "${1}"+f.Run.PlanDigest)
		case found[1] == "run.fail":
			return regexp.MustCompile(`"after":"[A-Z]*"|"reason":"[^"]*",?`).ReplaceAllStringFunc(strings.Replace(text, found[1], "run.complete", 1), func(m string) string {
				return map[bool]string{true: `"after":"COMPLETED"`, false: ""}[strings.HasPrefix(m, `"after"`)]
			})
		case found[1] == "steps.settle":
			f.Run.Steps[0].CompletedAt = timeOf(t, text)
			return strings.NewReplacer(`"after":"FAILED"`, `"after":"COMPLETED"`, "DONE 422", "DONE 201").Replace(text)
		default:
			f.Run.Steps[0].CompletedAt = timeOf(t, text)
			text = strings.Replace(text, found[1], "step.complete", 1)
			text = regexp.MustCompile(`"after":"[A-Z_]*"`).ReplaceAllString(text, `"after":"COMPLETED"`)
			return regexp.MustCompile(`"reason":"[^"]*"`).ReplaceAllString(text, `"reason":"NOT_REQUESTED"`)
		}
	})
}

func timeOf(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, parse([]byte(text)).at("at").text())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// forgePlan digests a plan anew.
func forgePlan(t *testing.T, f *Facts) {
	t.Helper()
	v, err := countersign.ValueOf(f.Run.PlanSnapshot)
	if err != nil {
		t.Fatal(err)
	}
	f.Run.PlanDigest = countersign.SHA256Hex(planContent(v.Canonical()))
	f.Run.PlanSnapshot.PlanDigest = f.Run.PlanDigest
}

func given(body string) (string, countersign.BodyDigest) {
	return base64.StdEncoding.EncodeToString([]byte(body)), countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))
}

// anotherAnswer puts other bytes in the place of those that the API signed.
func anotherAnswer(s *countersign.StepRun, body string) {
	r := *s.Response
	signed := *r.Signed
	signed.BodyBase64, r.BodySHA256 = given(body)
	r.Bytes, r.Signed = countersign.ByteCount(len(body)), &signed
	s.Response = &r
}

// otherState has each approval, decision and look of a digest be on another one.
func otherState(f *Facts, total string) (was, is string) {
	a := &f.Approvals[0]
	was = a.StateDigest
	values := map[string]countersign.Value{"total": countersign.RawValue(total), "a.b": a.State.Values["a.b"]}
	is = countersign.StateDigest("order", values)
	for i := range f.Approvals {
		if a := &f.Approvals[i]; a.StateDigest == was {
			state := *a.State
			state.Values, a.StateDigest, a.State = values, is, &state
			a.Decisions = slices.Clone(a.Decisions)
			for j := range a.Decisions {
				a.Decisions[j].StateDigest = is
			}
		}
	}
	s := &f.Run.Steps[0]
	for i := range s.Looks {
		if l := &s.Looks[i]; l.StateDigest == was {
			l.StateDigest = is
			if l.Values != nil {
				l.Values = values
			}
		}
	}
	if s.StateDigest == was {
		s.StateDigest = is
	}
	return was, is
}

// untruths are those that docs/reference/receipt.md lists.
var untruths = []untruth{
	{"an answer that the API never gave", answeredAs("answered", completed), func(_ *testing.T, f *Facts) {
		anotherAnswer(&f.Run.Steps[0], `{"ok":true,"id":"never"}`)
	}, Run, false},
	{"another output or verification than those of the answer", answeredAs("answered", completed), func(_ *testing.T, f *Facts) {
		f.Run.Steps[0].Output = countersign.RawValue(`{"id":"never"}`)
	}, Run, false},
	{"success where the API refused", answeredAs("done refused", anyStep), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		s.Settlements = slices.Clone(s.Settlements)
		s.Settlements[len(s.Settlements)-1].StatusCode, s.Response = 201, &countersign.Response{StatusCode: 201}
		saysDone(f, `{"error":"no"}`)
		inTheLogToo(t, f)
		s.SettledBy.At = s.CompletedAt
	}, Run, false},
	{"the answer to another call", answeredAs("answered", completed), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		body, _ := base64.StdEncoding.DecodeString(s.Response.Signed.BodyBase64)
		header, err := signature.SignAnswer(theAPI, signature.Answer{
			IdempotencyKey: "run-9.pay", Timestamp: s.Response.Signed.Timestamp, Method: "POST", PathAndQuery: targetOf(s.Request.URL), BodySHA256: countersign.SHA256Hex([]byte(request.BodyText(*s.Request))),
			Status: s.Response.StatusCode, AnswerSHA256: countersign.SHA256Hex(body),
		}, s.AnsweredBy.At)
		if err != nil {
			t.Fatal(err)
		}
		r, signed := *s.Response, *s.Response.Signed
		signed.Signature, r.Signed, s.Response = header, &signed, &r
	}, Run, false},
	{"an expectation that was not met, told as met", answeredAs("answered", failedAs(countersign.CodeExpectationNotMet)), func(t *testing.T, f *Facts) {
		body, _ := base64.StdEncoding.DecodeString(f.Run.Steps[0].Response.Signed.BodyBase64)
		output := f.Run.Steps[0].Output
		saysDone(f, strings.TrimPrefix(string(body), "\ufeff"))
		f.Run.Steps[0].Output, f.Run.Steps[0].Verification.Status = output, countersign.VerificationPassed
		f.Run.UnverifiedSteps = 0
		inTheLogToo(t, f)
		anotherLog(f, replaced(`"reason":"NOT_REQUESTED"`, `"reason":"PASSED"`))
	}, Run, false},
	{"an answer that nobody signed, for an API that signs", answeredAs("answered", completed), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		r := *s.Response
		r.Signed, s.Response, s.AnsweredBy = nil, &r, nil
		without(f, "projects.write")
		anotherLog(f, func(text string) string {
			return regexp.MustCompile(`,"answerKeys":\[[^]]*\]`).ReplaceAllString(text, "")
		})
	}, Run, true},
	{"an effect that never was", answeredAs("unknown, not executed", anyStep), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		s.Settlements, s.Questions = nil, 0
		s.Response = &countersign.Response{StatusCode: 201, Bytes: 2, BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte("{}")))}
		saysDone(f, "{}")
		without(f, "projects.write")
		inTheLogToo(t, f)
		anotherLog(f, func(text string) string {
			if strings.Contains(text, `"action":"steps.statement"`) || strings.Contains(text, `"action":"steps.ask"`) {
				return ""
			}
			return regexp.MustCompile(`,"answerKeys":\[[^]]*\]`).ReplaceAllString(text, "")
		})
	}, Run, true},
	{"no effect, where nobody knows", answeredAs("unknown, not executed", anyStep), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		s.Error, s.MayHaveHappened, f.Run.MayHaveHappened = &countersign.StepError{Code: countersign.CodeWithdrawn, Message: "so"}, false, false
		f.Run.Error = "withdrawn: so"
		anotherLog(f, replaced("not_executed: so", "withdrawn: so"))
	}, Run, false},
	{"withdrawn, where the API said that it was done", answeredAs("done", anyStep), func(_ *testing.T, f *Facts) {
		last := &f.Run.Steps[0].Settlements[len(f.Run.Steps[0].Settlements)-1]
		last.State, last.StatusCode, last.Output = countersign.KeyWithdrawn, 0, countersign.Value{}
		anotherLog(f, func(text string) string {
			return regexp.MustCompile(`: DONE( [0-9]+)?`).ReplaceAllString(text, ": WITHDRAWN")
		})
	}, Run, false},
	{"a memory that goes further back than the API says", answeredAs("unknown, not executed", func(s countersign.StepRun) bool { return len(s.Settlements) > 0 && !s.Settlements[0].Since.IsZero() }), func(_ *testing.T, f *Facts) {
		last := &f.Run.Steps[0].Settlements[len(f.Run.Steps[0].Settlements)-1]
		last.State, last.Said, last.Since = last.Said, "", last.Since.AddDate(-1, 0, 0)
		anotherLog(f, replaced(": UNKNOWN", ": "+last.State))
	}, Run, false},
	{"an approval against another state", lookedAs("asked", 1), func(_ *testing.T, f *Facts) { otherState(f, "1000000") }, Approvals, false},
	{"the same, signed with a passkey, and a log written anew", lookedAs("passkey", 1), func(_ *testing.T, f *Facts) {
		was, is := otherState(f, "1000000")
		anotherLog(f, replaced(was, is))
	}, Audit, false},
	{"another state than the one that was read before sending", lookedAs("changed", 1), func(_ *testing.T, f *Facts) {
		l := &f.Run.Steps[0].Looks[1]
		l.Values = map[string]countersign.Value{"total": countersign.RawValue("59"), "a.b": l.Values["a.b"]}
	}, Run, false},
	{"that nobody looked before sending, or somebody did", lookedAs("asked", 1), func(_ *testing.T, f *Facts) { f.Run.Steps[0].Looks = f.Run.Steps[0].Looks[:1] }, Run, false},
	{"that it was sent at once after it was read", lookedAs("asked", 1), func(t *testing.T, f *Facts) {
		s := &f.Run.Steps[0]
		was := s.StartedAt.Format(time.RFC3339Nano)
		s.StartedAt = s.StartedAt.Add(9 * time.Second)
		is := s.StartedAt.Format(time.RFC3339Nano)
		anotherLog(f, func(text string) string {
			if strings.Contains(text, `"action":"step.send"`) {
				return strings.Replace(text, was, is, 1)
			}
			return text
		})
	}, Approvals, false},
	{"that nothing had changed when it was asked for anew", lookedAs("changed", 1), func(_ *testing.T, f *Facts) { f.Approvals[1].Changed = nil }, Approvals, false},
	{"that the approval before it still counts", lookedAs("changed", 1), func(_ *testing.T, f *Facts) { f.Approvals[0].Superseded = false }, Approvals, false},
	{"that nothing had to be looked at", lookedAs("unasked", 1), func(_ *testing.T, f *Facts) {
		f.Run.PlanSnapshot.ProjectSnapshots[0].Capabilities[0].Precondition = nil
		f.Run.Steps[0].Looks, f.Run.Steps[0].StateDigest = nil, ""
	}, Run, false},
	{"an approval of another request", lookedAs("asked", 1), func(_ *testing.T, f *Facts) {
		f.Approvals[0].Request.Body = countersign.RawValue(`{"amount": 1}`)
	}, Requests, false},
	{"an approval that nobody gave", lookedAs("rejected", 1), func(_ *testing.T, f *Facts) {
		a := &f.Approvals[0]
		a.Status, a.Decisions[0].Decision = countersign.ApprovalApproved, countersign.ApprovalApproved
	}, Audit, false},

	{"any of this without an answer's or a passkey's signature, in a log written anew that nobody has kept or cosigned", lookedAs("asked", 1), func(_ *testing.T, f *Facts) {
		was, is := otherState(f, "1000000")
		anotherLog(f, replaced(was, is))
	}, "", false},
	{"any answer, signed by a key that the installation registered itself, to a reader who doesn't know the API's", answeredAs("answered", completed), func(t *testing.T, f *Facts) {
		own := keyOf(4711)
		s := &f.Run.Steps[0]
		header, err := signature.SignAnswer(own, signature.Answer{
			IdempotencyKey: s.IdempotencyKey, Timestamp: s.Response.Signed.Timestamp, Method: "POST", PathAndQuery: targetOf(s.Request.URL), BodySHA256: countersign.SHA256Hex([]byte(request.BodyText(*s.Request))),
			Status: s.Response.StatusCode, AnswerSHA256: string(s.Response.BodySHA256),
		}, s.AnsweredBy.At)
		if err != nil {
			t.Fatal(err)
		}
		r, signed := *s.Response, *s.Response.Signed
		signed.Signature, r.Signed, s.Response = header, &signed, &r
		s.AnsweredBy = &countersign.AnsweredBy{KeyID: signature.AnswerKeyID(public(own)), At: s.AnsweredBy.At}
		anotherLog(f, replaced(signature.AnswerKeyText(public(theAPI)), signature.AnswerKeyText(public(own))))
	}, "", false},
	{"another `when` or other `fields` of a precondition, or that it was another read: they are the plan's snapshot", lookedAs("unasked", 2), func(_ *testing.T, f *Facts) {
		f.Run.PlanSnapshot.ProjectSnapshots[0].Capabilities[0].Precondition.When = nil
	}, "", false},
}

// forged are the untruths, each in a receipt that is signed with the installation's key.
func forged(t *testing.T, f func(u untruth, file []byte, known []ed25519.PublicKey)) {
	t.Helper()
	for _, u := range untruths {
		facts := u.of(t)
		var known []ed25519.PublicKey
		if u.reader {
			known = []ed25519.PublicKey{public(theAPI)}
		}
		if v := Verify(built(t, facts, keyOf(1)), public(keyOf(1))); !v.OK {
			t.Fatalf("%s: before it is forged: %s: %s", u.name, v.Section, v.Problem)
		}
		u.forge(t, &facts)
		f(u, built(t, facts, keyOf(1)), known)
	}
}

// TestWhoeverHasTheKeyAndTheDiskIsFoundOut, or the specification says that nobody is.
func TestWhoeverHasTheKeyAndTheDiskIsFoundOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "receipt.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "<!-- untruths -->")
	list, _, ended := strings.Cut(list, "<!-- end -->")
	if !found || !ended {
		t.Fatal("the specification has no list of untruths")
	}
	var listed, tried []string
	for _, m := range regexp.MustCompile("(?m)^\\| ([^|]+?) \\| ([^|]+?) \\|$").FindAllStringSubmatch(list, -1) {
		if m[2] != "Named" && !strings.HasPrefix(m[1], "--") {
			listed = append(listed, m[1]+" | "+m[2])
		}
	}
	forged(t, func(u untruth, file []byte, known []ed25519.PublicKey) {
		named := "`" + u.section + "`"
		switch {
		case u.section == "":
			named = "nothing shows it"
		case u.reader:
			named += ", to a reader who knows the API's key"
		}
		tried = append(tried, u.name+" | "+named)
		v := VerifyKnowing(file, public(keyOf(1)), Known{AnswerKeys: known})
		if v.OK != (u.section == "") || v.Section != u.section {
			t.Errorf("%s: %q named, %q expected: %s", u.name, v.Section, u.section, v.Problem)
		}
	})
	if !slices.Equal(listed, tried) {
		t.Errorf("docs/reference/receipt.md lists\n%s\nand these are tried:\n%s", strings.Join(listed, "\n"), strings.Join(tried, "\n"))
	}
}
