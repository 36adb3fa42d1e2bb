package run

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/verdict"
)

// Approved against a state (contract 12.5). A step whose capability has a precondition is looked at
// twice: before its approval is asked for, and before it is sent. A look is a read whose intent, with
// the number that its key has, is committed before it leaves. What it found is an event; only in the
// transaction of that event everything else is checked, and the approval asked for or the intent to
// send stored. What it found is used there or never: who goes on later looks again.

type (
	// Looking means that a reviewer looks again at the state that the approval shows. It decides
	// nothing. The read is Result.Look.
	Looking struct{ By string }
	// Looked means that the read of a look ended.
	Looked struct {
		Step  int
		N     int64
		Found precondition.Found
	}
)

func (Looking) isEvent() {}
func (Looked) isEvent()  {}

// Look is a read for a precondition, to be made after the commit.
type Look struct {
	Step         int
	N            int64
	Precondition *countersign.Precondition
	Read         *countersign.Capability
	request.Call
}

// Counted is the look as what budgets count: a call of the read, by its own name.
func (l *Look) Counted() *countersign.StepRun {
	return counted(l.StepID, l.Project.ID, l.Read.Name, l.Input, l.N)
}

func counted(stepID, projectID, read string, input map[string]countersign.Value, n int64) *countersign.StepRun {
	return &countersign.StepRun{ID: stepID + lookMark + strconv.FormatInt(n, 10), ProjectID: projectID, Capability: read, Input: input}
}

// CountedLook is a look of a step as what budgets have counted; nil where the step has none of that number.
func CountedLook(p *countersign.Plan, s *countersign.StepRun, n int64) *countersign.StepRun {
	i := slices.IndexFunc(s.Looks, func(l countersign.Look) bool { return l.N == n })
	if i < 0 {
		return nil
	}
	of := counted(s.ID, s.ProjectID, s.Looks[i].Capability, nil, n)
	of.Attempt, of.StartedAt = 1, s.Looks[i].At
	return of
}

// lookMark is what no step id has.
const lookMark = "~look-"

// LookKey is the idempotency key of the n-th look of a step.
func LookKey(runID, stepID string, n int64) string {
	return runID + "." + stepID + lookMark + strconv.FormatInt(n, 10)
}

// sight is the read of a step's precondition as its inputs make it.
type sight struct {
	precondition *countersign.Precondition
	read         *countersign.Capability
	input        map[string]countersign.Value
	request      *countersign.Request // nil: it can't be made
	digest       string
	failure      string // why it can't be made
}

// sightOf makes the read, nil for a capability without a precondition. open are inputs that aren't
// known yet, as in a rehearsal.
func sightOf(m *cost.Meter, p *countersign.Project, c *countersign.Capability, input map[string]countersign.Value, open map[string]countersign.Binding) *sight {
	pre, read := precondition.Of(p, c)
	if pre == nil {
		return nil
	}
	if read == nil { // no PUT accepts that
		return &sight{precondition: pre, read: &countersign.Capability{Name: pre.Capability}, failure: "the project has no capability " + pre.Capability}
	}
	v := &sight{precondition: pre, read: read, input: request.ForProbe(read, input)}
	bound := map[string]countersign.Binding{}
	for name, b := range open {
		if request.Takes(read, name) {
			bound[name] = b
		}
	}
	req, complete, err := request.Preview(m, p, read, v.input, bound)
	if err != nil {
		v.failure = err.Error()
		return v
	}
	if v.request = &req; complete {
		v.digest = request.Digest(req, p.ID, p.Revision, read.Name)
	}
	return v
}

func (s *sight) wouldCheck() *countersign.WouldCheck {
	if s == nil {
		return nil
	}
	return &countersign.WouldCheck{Capability: s.read.Name, Fields: s.precondition.Fields, When: s.precondition.When, Request: s.request}
}

// seen is what the look that the event reports has found, for the transaction of that event.
type seen struct {
	step int
	look countersign.Look
	precondition.Found
}

// fresh is what was just seen of a step's state, nil where it has to be looked at anew.
func (t *transition) fresh(i int) *seen {
	if t.seen == nil || t.seen.step != i || t.env.Now.Sub(t.seen.look.At) > countersign.MaxLookAge || t.env.Now.Before(t.seen.look.At) {
		return nil
	}
	return t.seen
}

// lookOrGoOn looks at the state of a step that is about to be asked about or sent, and goes by what
// was just seen.
func (t *transition) lookOrGoOn(i int) {
	found := t.fresh(i)
	if found == nil {
		if err := t.look(i, ""); err != nil {
			t.failStep(i, countersign.CodePreconditionUnknown, err.Message)
		}
		return
	}
	s := t.step(i)
	a := t.env.Approval
	approved := s.ApprovalRequired && t.approved(s)
	switch {
	case found.Problem != "":
		t.failStep(i, countersign.CodePreconditionUnknown, "nothing was sent: "+found.look.Capability+" did not say whether what must be so holds: "+found.Problem)
	case !found.Holds:
		t.failStep(i, countersign.CodePreconditionFailed, "nothing was sent: what must be so does not hold, as "+found.look.Capability+" says")
	case !s.ApprovalRequired, approved && a.StateDigest == found.look.StateDigest:
		s.StateDigest = found.look.StateDigest
		t.send(i)
	case approved && s.AskedAgain >= countersign.MaxAskedAgain:
		t.failStep(i, countersign.CodePreconditionFailed, "nothing was sent: the state has changed once more after "+strconv.Itoa(countersign.MaxAskedAgain)+" new approvals")
	default:
		if approved {
			s.AskedAgain++
		}
		t.askAgainst(i, found)
	}
}

// askAgainst asks for an approval of the request against the state that was seen. One that the step
// had before lets nothing out any more.
func (t *transition) askAgainst(i int, found *seen) {
	s, v := t.step(i), t.judgement.look
	before := t.env.Approval
	had := before != nil && s.Status == countersign.StepWaitingApproval && before.ID == s.ApprovalID
	t.ask(i)
	a := t.res.Ask
	a.State, a.StateDigest, a.AskedAgain = stateOf(&found.look, found.Values, v.request), found.look.StateDigest, s.AskedAgain
	t.res.Notes[t.askedNote].StateDigest = a.StateDigest
	if had {
		a.PreviousID, t.res.Superseded = before.ID, true
		if before.State != nil {
			a.Changed = precondition.Differences(v.precondition.Fields, before.State.Values, found.Values)
		}
	}
}

func stateOf(l *countersign.Look, values map[string]countersign.Value, r *countersign.Request) *countersign.State {
	return &countersign.State{Capability: l.Capability, RequestDigest: l.RequestDigest, StatusCode: l.StatusCode, Values: values, At: l.At, Request: r}
}

// Looks is how many looks a run has made.
func Looks(r *countersign.Run) (n int) {
	for i := range r.Steps {
		n += len(r.Steps[i].Looks)
	}
	return n
}

// look lets a read for the step's precondition out; by is the person who asked for it, "" where the
// step is to go on by what it finds.
func (t *transition) look(i int, by string) *countersign.Error {
	s, v := t.step(i), t.judgement.look
	project, _ := t.target(i)
	n := int64(len(s.Looks)) + 1
	if v.request == nil || v.digest == "" {
		return countersign.Errorf(countersign.CodeStateConflict, "the read %s for the precondition can't be made from the step's inputs: %s", v.read.Name, v.failure)
	}
	if most := cmp.Or(t.env.MaxLooks, countersign.MaxLooks); Looks(t.run) >= most {
		return countersign.RefusedAt(countersign.CodeQuotaExceeded, "looks", "run %s has %d, as many as a run may have", t.run.ID, Looks(t.run))
	}
	if by != "" && s.AgentID != "" && t.env.AgentLooks != nil && t.env.AgentLooks(s.AgentID) >= countersign.MaxLooksPerMinute {
		return countersign.RefusedAt(countersign.CodeQuotaExceeded, "looks", "agent %s has made %d within a minute, as many as an agent may make; look again in a minute", s.AgentID, countersign.MaxLooksPerMinute)
	}
	if t.env.Budgets != nil {
		used := t.env.Budgets(counted(s.ID, s.ProjectID, v.read.Name, v.input, n))
		if all := verdict.Severest(budget.Judge(used, v.input)...); len(used) > 0 && all.Then != verdict.Allow {
			return countersign.Errorf(countersign.CodeQuotaExceeded, "a budget of %s is used up, so that its state can't be looked at", v.read.Name)
		}
	}
	s.Looks = append(s.Looks[:len(s.Looks):len(s.Looks)], countersign.Look{N: n, By: by, At: t.env.Now, Capability: v.read.Name, RequestDigest: v.digest})
	if by == "" {
		s.Looking = n
	}
	action := "steps.look"
	if by != "" {
		action = "approvals.look"
	}
	t.note(Note{Action: action, Step: i, Before: string(s.Status), After: string(s.Status), Reason: LookKey(t.run.ID, s.ID, n), Digest: v.digest})
	t.res.Look = &Look{Step: i, N: n, Precondition: v.precondition, Read: v.read, Call: request.Call{
		RunID: t.run.ID, StepID: s.ID, IdempotencyKey: LookKey(t.run.ID, s.ID, n), Project: project, Request: *v.request, Input: v.input,
		Timeout: min(v.read.Timeout(), countersign.LookTimeout), AnswerKeys: t.answerKeys(project.ID),
	}}
	return nil
}

// looking lets a reviewer's look out. While LIVE steps are stopped, and after drift, none is made.
func (t *transition) looking(e Looking) error {
	i, a := t.waitingStep(), t.env.Approval
	switch {
	case t.run.Status != countersign.RunWaitingApproval || i < 0 || a == nil || a.Status != countersign.ApprovalPending || WaitsForSlot(t.run):
		return t.conflict("only the state of an approval that waits is looked at")
	case t.stopped():
		return t.conflict("LIVE steps are stopped; nothing is looked at")
	case !t.env.Now.Before(a.ExpiresAt):
		return countersign.Errorf(countersign.CodeApprovalExpired, "approval %s expired at %s", a.ID, a.ExpiresAt.Format(time.RFC3339))
	}
	if r := t.refusal(); r != nil {
		return r
	}
	if t.judgement = t.judged(i); t.judgement == nil {
		return nil // UnjudgedError
	}
	if t.judgement.look == nil {
		return t.conflict("the capability of step " + t.run.Steps[i].ID + " has no precondition, so there is no state to look at")
	}
	if err := t.look(i, e.By); err != nil {
		return err
	}
	return nil
}

// lookedAt keeps what a look has found, whatever became of the run, and goes on by it where the step
// still waits for that.
func (t *transition) lookedAt(e Looked) {
	at := slices.IndexFunc(t.run.Steps[e.Step].Looks, func(l countersign.Look) bool { return l.N == e.N })
	if at < 0 || t.run.Steps[e.Step].Looks[at].Answered() {
		return
	}
	s := t.step(e.Step)
	s.Looks = slices.Clone(s.Looks)
	l := &s.Looks[at]
	l.StatusCode, l.Error = e.Found.StatusCode, e.Found.Problem
	if e.Found.Values != nil {
		l.StateDigest = countersign.StateDigest(l.Capability, e.Found.Values)
		if !hasState(s.Looks[:at], l.StateDigest) {
			l.Values = e.Found.Values
		}
	}
	t.note(Note{Action: "steps.looked", Step: e.Step, Before: string(s.Status), After: string(s.Status), Reason: LookKey(t.run.ID, s.ID, e.N) + ": " + lookCame(l), Digest: l.RequestDigest, StateDigest: l.StateDigest})
	found := &seen{step: e.Step, look: *l, Found: e.Found}
	if l.By != "" {
		t.showState(found)
		return
	}
	if s.Looking != e.N {
		return // another look was let out since, or the run has ended
	}
	s.Looking = 0
	if t.run.Status == countersign.RunRunning && HoldsSlot(t.run) && !t.env.Stopping {
		t.seen = found
		t.advance()
	}
}

// hasState reports a look that has the values of a state.
func hasState(looks []countersign.Look, stateDigest string) bool {
	return slices.ContainsFunc(looks, func(l countersign.Look) bool { return l.StateDigest == stateDigest && l.Values != nil })
}

// lookCame says what came of a look, without its content.
func lookCame(l *countersign.Look) string {
	if l.Error != "" {
		return l.Error // which quotes nothing
	}
	return "answered " + strconv.Itoa(l.StatusCode)
}

// showState has the approval show what a reviewer's look has found. Decisions on another state don't
// count any more.
func (t *transition) showState(found *seen) {
	a := t.env.Approval
	if t.run.Status != countersign.RunWaitingApproval || t.waitingStep() != found.step || a == nil || a.Status != countersign.ApprovalPending ||
		a.State == nil || found.Values == nil || found.look.At.Before(a.State.At) {
		return
	}
	_, capability := t.target(found.step)
	then := precondition.Before(a.Changed, a.State.Values)
	t.res.State = stateOf(&found.look, found.Values, a.State.Request)
	if a.PreviousID != "" {
		t.res.StateChanged = precondition.Differences(capability.Precondition.Fields, then, found.Values)
	}
}

// lookLost forgets a look whose answer can't come any more. The step is looked at anew.
func (t *transition) lookLost(e Restarted) {
	for i := range t.run.Steps {
		if t.run.Steps[i].Looking != 0 {
			s := t.step(i)
			t.noteStep("step.look_lost", i, s.Status, e.lostReason("read for its precondition"))
			s.Looking = 0
		}
	}
}

// lookUnderWay reports a look by which a step is to go on.
func (t *transition) lookUnderWay() bool {
	return slices.ContainsFunc(t.run.Steps, func(s countersign.StepRun) bool { return s.Looking != 0 })
}

// lookLater has a step whose approval expired before it began wait for a slot: its state is looked at
// before it is asked for anew, and a look needs one.
func (t *transition) lookLater(i int) {
	if t.run.WaitingFor.ExpiresAt.IsZero() {
		return // it waits already
	}
	t.noteStep("step.ask_again", i, countersign.StepWaitingApproval, "its approval expired before it began; its state is looked at before another is asked for")
	t.becomeWaitingForSlot(i)
}
