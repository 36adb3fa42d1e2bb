package run

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// The receiver's own word (contract 12.6). A step that waits for a person is asked about at its
// receiver: the number of a question is committed before the question leaves, and no other has it.
// What the answer says is kept; it ends the step by itself where the settlement is AUTOMATIC, and
// else where a person confirms it.

type (
	// Asking means that the receiver is asked what became of the uncertain step's key, or asked
	// to withdraw it. The question is Result.Question.
	Asking struct {
		Step     int // -1: the uncertain one, whichever that is
		Withdraw bool
		Due      bool // only if the record says that it is time
		// By is the person who has the key withdrawn, and Reason why; "" for the service itself.
		By, Reason string
		N          int64 // the statement that it rests on
	}
	// Asked means that a question was answered. Withdraw: a person asked to withdraw the key, so
	// that the step ends by WITHDRAWN whatever the settlement's mode.
	Asked struct {
		Step     int
		Record   countersign.SettlementRecord
		Withdraw bool
	}
	// Settling means that a person confirms a statement.
	Settling struct {
		countersign.Settle
		By string
	}
)

func (Asking) isEvent()   {}
func (Asked) isEvent()    {}
func (Settling) isEvent() {}

// Question is what a receiver is asked about a step's key.
type Question struct {
	Step int
	N    int64
	Key  string    // the step's
	Sent time.Time // the key's first sending
	request.Call
}

// Intervals between questions (contract 12.6).
const (
	firstPause = 2 * time.Second
	mostPause  = 5 * time.Minute
	askedFor   = 24 * time.Hour
)

// questionTime bounds a question.
const questionTime = 10 * time.Second

// statementMore is by how much a statement may be longer than another answer.
const statementMore = 64 << 10

// settlementOf is the settlement of the project that a step calls, nil for none.
func (t *transition) settlementOf(i int) *countersign.Settlement {
	if p, _ := t.target(i); p != nil {
		return p.Settlement
	}
	return nil
}

// SettlementOf is the settlement of the project that a step calls, nil for none.
func SettlementOf(p *countersign.Plan, s *countersign.StepRun) *countersign.Settlement {
	if project, _ := targetOf(p, s.ProjectID, s.Capability); project != nil {
		return project.Settlement
	}
	return nil
}

// askFrom says when the receiver of an uncertain step is asked first, or anew.
func (t *transition) askFrom(i int, at time.Time) {
	if s := t.step(i); t.settlementOf(i) != nil && s.SideEffect && t.run.Mode == countersign.ModeLive {
		s.NextAt = at
	}
}

// asking lets a question out.
func (t *transition) asking(e Asking) error {
	if e.Step < 0 {
		e.Step = t.uncertain()
	}
	if e.Step < 0 {
		return t.conflict("only the receiver of an uncertain step is asked")
	}
	if t.run.Status != countersign.RunRecoveryRequired || e.Step != t.uncertain() || t.settlementOf(e.Step) == nil {
		return t.conflict("only the receiver of an uncertain step is asked, where its project has a settlement")
	}
	if until := t.run.WaitingFor.NotBefore; t.env.Now.Before(until) {
		return t.conflict("the answer may still come; its receiver is asked from " + until.UTC().Format(time.RFC3339Nano) + " on")
	}
	if e.By != "" {
		r, err := t.statement(e.Step, e.N)
		if err != nil {
			return err
		}
		if !r.Valid || r.State != countersign.KeyUnseen {
			return t.conflict("statement " + strconv.FormatInt(e.N, 10) + " doesn't say that the receiver never saw the key; only then it is withdrawn")
		}
		if safetext.Blank(e.Reason) {
			return countersign.Errorf(countersign.CodeInvalidRequest, "reason: it can't be blank")
		}
		t.noteStep("runs.settle", e.Step, countersign.StepRecoveryRequired, countersign.SettleWithdraw+" "+strconv.FormatInt(e.N, 10)+": "+e.Reason)
	} else if e.Withdraw && t.env.Stopped {
		return t.conflict("LIVE steps are stopped; the service asks, and withdraws nothing")
	}
	if next := t.run.Steps[e.Step].NextAt; e.Due && (next.IsZero() || t.env.Now.Before(next)) {
		return nil // another process has asked meanwhile
	}
	s := t.step(e.Step)
	s.Questions++
	if s.AskedFrom.IsZero() {
		s.AskedFrom = t.env.Now
	}
	s.NextAt = t.env.Now.Add(pauseAfter(s.Questions))
	if s.NextAt.After(s.AskedFrom.Add(askedFor)) {
		s.NextAt = time.Time{}
	}
	t.res.Question = t.questionOf(e, s)
	action := "steps.ask"
	if e.Withdraw {
		action = "steps.withdraw"
	}
	t.noteStep(action, e.Step, s.Status, t.res.Question.IdempotencyKey)
	return nil
}

// pauseAfter is how long after the n-th question the next one is asked.
func pauseAfter(n int64) time.Duration {
	if n > 8 {
		return mostPause
	}
	return min(firstPause<<(n-1), mostPause)
}

func (t *transition) questionOf(e Asking, s *countersign.StepRun) *Question {
	project, _ := t.target(e.Step)
	q := &Question{Step: e.Step, N: s.Questions, Key: s.IdempotencyKey, Sent: s.StartedAt}
	method, path, key := "GET", project.Settlement.Path+"/"+s.IdempotencyKey, s.IdempotencyKey+"~settle-"+strconv.FormatInt(q.N, 10)
	if e.Withdraw {
		method, path, key = "POST", path+"/withdraw", s.IdempotencyKey+"~withdraw"
	}
	q.Call = request.Call{
		RunID: t.run.ID, StepID: s.ID, IdempotencyKey: key, Project: project, Timeout: questionTime,
		AnswerKeys: t.answerKeys(project.ID), MaxAnswer: countersign.MaxBodyBytes + statementMore,
		Request: countersign.Request{Method: method, URL: project.BaseURL + path + "?sent=" + strconv.FormatInt(s.StartedAt.Unix(), 10), Query: countersign.Null, Body: countersign.Null},
	}
	return q
}

// answerKeys are those that a project has now, whatever revision the plan was made from.
func (t *transition) answerKeys(projectID string) []string {
	return strings.Fields(t.env.Current[plan.Subject{Kind: plan.KindProject, ID: projectID}].AnswerKeys)
}

// asked keeps what the receiver said, and ends the step by it where nobody needs to confirm it. A
// statement about a step that is no longer uncertain says nothing that is still asked.
func (t *transition) asked(e Asked) {
	i := t.uncertain()
	if t.run.Status != countersign.RunRecoveryRequired || i != e.Step {
		return
	}
	r, known := e.Record, t.run.Steps[i].Settlements
	r.At = t.env.Now
	if !saysSame(known, &r) {
		t.step(i).Settlements = append(slices.Clone(known), r)
		t.noteStep("steps.statement", i, countersign.StepRecoveryRequired, strconv.FormatInt(r.N, 10)+": "+cmp.Or(r.State, "no statement"))
	}
	if !r.Decides() {
		return
	}
	if t.settlementOf(i).Automatic() || e.Withdraw && r.State == countersign.KeyWithdrawn {
		t.settle(i, &r)
		return
	}
	if !saysSame(known, &r) {
		t.step(i).NextAt = time.Time{} // it says the same for ever
	}
}

// saysSame reports a statement that says nothing that the last one didn't.
func saysSame(known []countersign.SettlementRecord, r *countersign.SettlementRecord) bool {
	if len(known) == 0 {
		return false
	}
	last := &known[len(known)-1]
	return last.State == r.State && last.Said == r.Said && last.StatusCode == r.StatusCode && last.Valid == r.Valid && last.KeyID == r.KeyID && last.Error == r.Error && last.Output.Equal(r.Output) && last.Text == r.Text
}

// settling ends the step by a statement that a person confirms.
func (t *transition) settling(e Settling) error {
	i := t.uncertain()
	if t.run.Status != countersign.RunRecoveryRequired || i < 0 || t.run.Steps[i].ID != e.StepID {
		return t.conflict("only an uncertain step is settled")
	}
	if safetext.Blank(e.Reason) {
		return countersign.Errorf(countersign.CodeInvalidRequest, "reason: it can't be blank")
	}
	if until := t.run.WaitingFor.NotBefore; t.env.Now.Before(until) {
		return t.conflict("the answer to step " + e.StepID + " may still come; settle it from " + until.UTC().Format(time.RFC3339Nano) + " on")
	}
	r, err := t.statement(i, e.N)
	if err != nil {
		return err
	}
	if !r.Decides() {
		return t.conflict("statement " + strconv.FormatInt(e.N, 10) + " doesn't say what became of the key")
	}
	t.noteStep("runs.settle", i, countersign.StepRecoveryRequired, countersign.SettleConfirm+" "+strconv.FormatInt(e.N, 10)+": "+e.Reason)
	if !t.settle(i, r) {
		return t.conflict("the answer that the receiver kept doesn't say what became of the step")
	}
	return nil
}

// statement is one of the step's, by its number.
func (t *transition) statement(i int, n int64) (*countersign.SettlementRecord, error) {
	s := &t.run.Steps[i]
	for k := range s.Settlements {
		if s.Settlements[k].N == n {
			return &s.Settlements[k], nil
		}
	}
	return nil, t.conflict("step " + s.ID + " has no statement " + strconv.FormatInt(n, 10))
}

// settle ends an uncertain step by what its receiver has signed; false where that leaves it
// uncertain. DONE is judged as the answer that was lost would have been.
func (t *transition) settle(i int, r *countersign.SettlementRecord) bool {
	o := kept(r)
	class := classify(o, 1)
	if r.State == countersign.KeyWithdrawn {
		class = withdrawn
	}
	if class == uncertain {
		return false
	}
	s := t.step(i)
	s.SettledBy, s.NextAt = &countersign.SettledBy{KeyID: r.KeyID, At: t.env.Now}, time.Time{}
	t.at = i
	words := "statement " + strconv.FormatInt(r.N, 10) + " of the receiver: " + r.State
	if r.State == countersign.KeyDone {
		words += " " + strconv.FormatInt(r.StatusCode, 10)
		s.Response, s.AnsweredBy = o.Response, nil // it came in the statement, which has its own signature
	}
	switch class {
	case withdrawn:
		t.noteSettled(i, countersign.StepFailed, words, r)
		t.withdrawn(i)
		return true
	case refused:
		t.noteSettled(i, countersign.StepFailed, words, r)
		t.failSettled(i, countersign.CodeReceiverRefused, "the receiver refused the request with "+strconv.FormatInt(r.StatusCode, 10))
		return true
	}
	field := t.outputField(i)
	out, found := plan.Select(o.Body, field)
	if !found {
		t.noteSettled(i, countersign.StepFailed, words, r)
		t.mayHaveHappened(s)
		t.failSettled(i, countersign.CodeOutputMissing, "the answer has no field "+field)
		return true
	}
	v, why := Judge(t.expectations(i), out, o.Response.StatusCode)
	s.Output, s.Verification = out.Value, &v
	if v.Status == countersign.VerificationFailed {
		t.noteSettled(i, countersign.StepFailed, words, r)
		t.mayHaveHappened(s)
		t.failSettled(i, countersign.CodeExpectationNotMet, why)
		return true
	}
	t.noteSettled(i, countersign.StepCompleted, words, r)
	t.completeStep(i, out.Value, v)
	t.afterReconcile(i)
	return true
}

// noteSettled records that the receiver's word ended the step, in the service's own name.
func (t *transition) noteSettled(i int, after countersign.StepStatus, words string, r *countersign.SettlementRecord) {
	s := &t.run.Steps[i]
	if after == countersign.StepFailed && t.run.CancelRequested {
		after = countersign.StepCancelled // see failSettled
	}
	t.note(Note{
		Action: "steps.settle", Step: i, Before: string(s.Status), After: string(after), Actor: countersign.SystemPrincipal,
		Reason: words + ", signed with answer key " + r.KeyID, Digest: s.RequestDigest.Text(),
	})
}

// withdrawn ends a step of which its receiver has signed that it had no effect, and will have none.
func (t *transition) withdrawn(i int) {
	t.happened(t.step(i))
	t.failSettled(i, countersign.CodeWithdrawn, "the receiver never saw the request, and has withdrawn its key: it had no effect and will have none")
}

// failSettled fails a step by its receiver's word. Where a cancel was asked that is its end.
func (t *transition) failSettled(i int, code countersign.Code, msg string) {
	if !t.run.CancelRequested {
		t.failStep(i, code, msg)
		return
	}
	s := t.step(i)
	s.Status, s.Error, s.CompletedAt = countersign.StepCancelled, &countersign.StepError{Code: code, Message: msg}, t.env.Now
	t.afterReconcile(i)
}

// AskAt is when the receiver of a run's uncertain step is asked next, zero for never.
func AskAt(r *countersign.Run) time.Time {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == countersign.StepRecoveryRequired {
			return s.NextAt
		}
	}
	return time.Time{}
}

// TargetOf is the path and query of a question.
func TargetOf(q *Question) string { return strings.TrimPrefix(q.Request.URL, q.Project.BaseURL) }
