package runs

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
)

// stamp is the verdict on an effect.
type stamp struct {
	Class, Icon, Word string
	Lines             []string
}

func stampOf(run *countersign.Run, s *countersign.StepRun) (out stamp) {
	if out = stampBy(run, s); s.AnsweredBy != nil {
		out.Lines = append(out.Lines, "signed by the API")
	}
	if s.MayHaveHappened {
		out.Lines = append(out.Lines, "it may have taken effect")
	}
	return out
}

func stampBy(run *countersign.Run, s *countersign.StepRun) stamp {
	failed := func(codes ...string) bool {
		for _, code := range codes {
			if s.Error != nil && s.Error.Code == countersign.Code(code) {
				return true
			}
		}
		return false
	}
	by := func(r *countersign.Reconciliation) []string { return []string{"by " + text.Called(r.By, r.ByName)} }
	switch {
	case run.Redacted != nil:
		return stamp{"is-idle", "i-lock", "Redacted", []string{"what it held is gone for good", "digests still verify"}}
	case s.Status == countersign.StepSimulated:
		return stamp{"is-idle", "s-completed", "Rehearsed", []string{"nothing was sent"}}
	case s.SettledBy != nil && s.Status == countersign.StepCompleted:
		return stamp{"is-ok", "s-completed", "Settled: it happened", []string{"on the API’s signed word"}}
	case s.SettledBy != nil && failed("withdrawn"):
		return stamp{"is-idle", "s-cancelled", "Settled: never done", []string{"key withdrawn by the API, signed"}}
	case s.Reconciliation != nil && s.Reconciliation.Resolution == countersign.ConfirmedCompleted:
		return stamp{"is-ok", "s-completed", "Settled: it happened", by(s.Reconciliation)}
	case s.Reconciliation != nil && s.Reconciliation.Resolution == countersign.ConfirmedNotExecuted && s.Status != countersign.StepCompleted:
		return stamp{"is-idle", "s-cancelled", "Settled: not executed", by(s.Reconciliation)}
	case s.Status == countersign.StepAbandoned || s.Status == countersign.StepRecoveryRequired:
		return stamp{"is-unc", "s-recovery", "Unknown", []string{"nobody found out what happened"}}
	case s.Status == countersign.StepCompleted && s.Verification != nil && s.Verification.Status == countersign.VerificationPassed:
		return stamp{"is-ok", "s-completed", "Verified", []string{"all that was expected is so"}}
	case s.Status == countersign.StepCompleted:
		return stamp{"is-idle", "s-completed", "Answered", []string{"nothing to verify"}}
	case failed("expectation_not_met", "output_missing"):
		return stamp{"is-fail", "s-failed", "Not as expected", nil}
	case s.Attempt == 0:
		return stamp{"is-idle", "s-cancelled", "Not sent", nil}
	}
	return stamp{"is-fail", "s-failed", "Failed", []string{text.Upper(failureCode(s))}}
}

func failureCode(s *countersign.StepRun) string {
	if s.Error == nil {
		return strings.ToLower(string(s.Status))
	}
	return strings.ReplaceAll(string(s.Error.Code), "_", " ")
}

// stationsOf are the six places, in their order; one that there was not stays, and says so.
func stationsOf(run *countersign.Run, s *countersign.StepRun, r *receiptShown, a *countersign.Approval) []station {
	return []station{
		askedStation(run, s, r, a), approvedStation(s, r, a), readStation(s, r),
		sentStation(s, r), answeredStation(s, r), judgedStation(run, s, r),
	}
}

func askedStation(run *countersign.Run, s *countersign.StepRun, r *receiptShown, a *countersign.Approval) station {
	out := station{Title: "Asked", At: run.CreatedAt, Who: text.Called(run.RequestedBy, run.RequestedByName), Quote: run.Reason}
	if out.Proof = r.record(s.ID, "approval.request"); out.Proof == nil {
		out.Proof = r.record("", "runs.start")
	} else if a != nil {
		out.At = a.RequestedAt
	}
	if run.Identity != nil {
		out.Lines = append(out.Lines, "Known as "+run.Identity.Claim+" "+run.Identity.Value+" to "+run.Identity.Issuer+".")
	}
	if b := run.OnBehalfOf; b != nil {
		who := b.Subject
		if b.Email != "" {
			who = b.Email
		}
		out.Lines = append(out.Lines, "On behalf of "+who+".")
	}
	if w := run.AgentWords; w != nil && out.Quote == "" {
		out.Quote = w.Reason
	}
	if a != nil {
		for _, reason := range a.Reasons {
			out.Lines = append(out.Lines, "Rule: "+reason)
		}
	}
	return out
}

func approvedStation(s *countersign.StepRun, r *receiptShown, a *countersign.Approval) station {
	out := station{Title: "Approved"}
	if a == nil {
		out.Lines = []string{"Nobody was asked: the gate let it out."}
		if s.Status == countersign.StepSimulated {
			out.Lines = []string{"A rehearsal asks nobody."}
		}
		return out
	}
	out.Proof = r.record(s.ID, "approvals.decide", "approval.close")
	out.At, out.Who, out.Quote = a.DecidedAt, text.Called(a.DecidedBy, a.DecidedByName), a.DecisionReason
	if a.Status == countersign.ApprovalRejected {
		out.Title, out.Bad = "Rejected", true
	}
	for _, d := range a.Decisions {
		if d.By != a.DecidedBy {
			out.Lines = append(out.Lines, "Before that "+text.Called(d.By, d.ByName)+": "+d.Reason)
		}
		if d.Assertion != nil {
			out.Key = "Signed with a passkey, user verified: request " + short(a.RequestDigest)
			if d.StateDigest != "" {
				out.Key += " and state " + short(d.StateDigest)
			}
		}
	}
	if a.RequestDigest == "" {
		out.Lines = append(out.Lines, "The digest is masked for you.")
	}
	return out
}

// short is enough of a digest to tell it from others.
func short(digest string) string { return digest[:min(12, len(digest))] }

func readStation(s *countersign.StepRun, r *receiptShown) station {
	out := station{Title: "Read again, written down"}
	var look *countersign.Look
	for i := range s.Looks {
		if s.Looks[i].By == "" {
			look = &s.Looks[i]
		}
	}
	switch {
	case s.Attempt == 0 && look == nil:
		out.Lines = []string{"It didn’t come to that."}
	case look == nil:
		out.Lines = []string{"No state had to hold. The intent was stored before anything left."}
		out.At = s.StartedAt
	default:
		out.At, out.Proof = look.At, r.record(s.ID, "steps.looked")
		line := "Read once more by " + look.Capability + ", before sending"
		if s.Attempt == 0 {
			line += ": it didn’t allow it"
			out.Bad = true
		}
		out.Lines = []string{line + "."}
		if look.StateDigest != "" {
			out.Key = "State " + short(look.StateDigest)
		}
	}
	return out
}

func sentStation(s *countersign.StepRun, r *receiptShown) station {
	out := station{Title: "Sent"}
	if s.Attempt == 0 || s.Request == nil {
		out.Lines = []string{"Nothing was sent."}
		return out
	}
	if out.Title = "Sent once"; s.Attempt > 1 {
		out.Title = "Sent " + strconv.Itoa(s.Attempt) + " times"
	}
	out.At, out.Proof = s.StartedAt, r.record(s.ID, "step.send")
	out.Bytes = wireOf(s)
	if d := s.RequestDigest.Text(); d != "" {
		out.Lines = []string{"Digest of the request: " + d}
	} else {
		out.Lines = []string{"Masked for you; the digest goes with it."}
	}
	return out
}

func wireOf(s *countersign.StepRun) *wire {
	var b strings.Builder
	target, host := s.Request.URL, ""
	if u, err := url.Parse(s.Request.URL); err == nil {
		target, host = u.RequestURI(), u.Host
	}
	b.WriteString(s.Request.Method + " " + target + "\nHost: " + host + "\nIdempotency-Key: " + s.IdempotencyKey)
	if headers, ok := s.Request.Headers.Object(); ok {
		for _, name := range sortedNames(headers) {
			b.WriteString("\n" + name + ": " + headers[name].Text())
		}
	}
	out := &wire{Head: b.String()}
	if !s.Request.Body.IsZero() && !s.Request.Body.IsNull() {
		out.Body, out.Note = bodyShown(s.Request.Body.Raw())
	}
	return out
}

func answeredStation(s *countersign.StepRun, r *receiptShown) station {
	out := station{Title: "Answered"}
	got := s.Response
	switch {
	case s.Attempt == 0:
		out.Lines = []string{"Nothing was sent, so nothing was answered."}
		return out
	case got == nil || got.StatusCode == 0:
		out.Lines = []string{"No usable answer came."}
	default:
		out.At = s.StartedAt.Add(time.Duration(got.DurationMs) * time.Millisecond)
		out.Bytes = &wire{Head: "HTTP " + strconv.Itoa(got.StatusCode)}
		body := got.Body
		if body == "" && !s.Output.IsZero() {
			body = s.Output.Raw()
			out.Bytes.Note = "Its output."
		}
		shown, note := bodyShown(body)
		out.Bytes.Body, out.Bytes.Note = shown, strings.TrimSpace(out.Bytes.Note+" "+note)
		if sum := string(got.BodySHA256); sum != "" {
			out.Lines = []string{"SHA-256 of the body: " + sum}
		}
	}
	out.Proof = r.record(s.ID, "steps.statement", "steps.late")
	if by := s.AnsweredBy; by != nil {
		out.Title, out.Key = "Answered, and signed", "The API’s key "+short(by.KeyID)+" signs this answer to this request under this key"
	}
	for _, said := range s.Settlements {
		if said.Valid {
			out.Key = "The API’s signed word: " + said.State + ", key " + short(said.KeyID)
		}
	}
	return out
}

func judgedStation(run *countersign.Run, s *countersign.StepRun, r *receiptShown) station {
	out := station{Title: "Verified", At: s.CompletedAt, Proof: r.record(s.ID, "step.complete", "step.simulate", "step.deny", "runs.reconcile", "steps.settle")}
	out.Table = drawn.JudgedOf(ExpectationsFor(run.PlanSnapshot, s), s.Verification)
	out.Good = s.Verification != nil && s.Verification.Status == countersign.VerificationPassed
	if v := s.Verification; v == nil || v.Status != countersign.VerificationPassed {
		out.Title, out.Bad = "Not verified", s.Attempt > 0 && s.Status != countersign.StepCompleted
	}
	if out.Proof == nil {
		out.Proof = r.record("", "run.complete", "run.fail", "run.cancel")
	}
	if len(out.Table) == 0 {
		out.Lines = append(out.Lines, "Nothing was expected.")
	}
	if c := s.Reconciliation; c != nil {
		out.Title, out.At, out.Who, out.Quote = "Settled by a person", c.At, text.Called(c.By, c.ByName), c.Evidence
		for _, d := range c.Differs {
			out.Lines = append(out.Lines, d.Field+" differs: sent "+d.Sent.Raw()+", found "+d.Found.Raw())
		}
	}
	if s.SettledBy != nil {
		out.Title, out.At = "Settled by the API’s word", s.SettledBy.At
	}
	if s.Error != nil {
		out.Lines = append(out.Lines, string(s.Error.Code)+": "+s.Error.Message)
	}
	return out
}
