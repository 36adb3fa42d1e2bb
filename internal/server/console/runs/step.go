package runs

import (
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
)

// chosenStep is the step that is shown in full.
type chosenStep struct {
	N        int
	Step     *countersign.StepRun
	State    text.State
	Revision int64 // the project's revision in the plan
	RunID    string
	Mode     string

	Approval *countersign.Approval // the latest approval

	Sent     *drawn.Sent
	SentWord string // when it was sent, or that it wasn't
	SentAt   time.Time

	Got      *drawn.Got
	Awaits   string    // the called host, while the call runs
	Until    time.Time // latest time of the response
	Lost     string    // why there is no response
	Judged   []drawn.Judged
	JudgedAs string
	Input    string // the input, before the request is built
	Late     *drawn.Got
	Probes   []probeView
	Error    string
	Others   []drawn.ShownMember // what the page has no place for
}

type probeView struct {
	countersign.ProbeRecord
	Sent *drawn.Sent
	Got  drawn.Got
}

// ChosenStepOf shows step i of a run in full.
func ChosenStepOf(r *countersign.Run, p *countersign.Plan, i int) chosenStep {
	if i >= len(r.Steps) {
		return chosenStep{}
	}
	s := &r.Steps[i]
	c := chosenStep{N: i + 1, Step: s, State: text.StepState(*s), RunID: r.ID, Mode: r.Mode}
	if project := text.ProjectOf(p, s.ProjectID); project != nil {
		c.Revision = project.Revision
	}
	c.request(s)
	c.answer(p, s)
	c.judgement(p, s)
	c.evidence(s)
	c.Others = drawn.ShownMembers(slices.Concat(request.Unlisted(s.WithoutProofs(), StepListed...), ReconciliationOthers(s)))
	if s.Error != nil {
		c.Error, _ = failure(s.Error.Code, s.Error.Message, r, i)
		if s.Status == countersign.StepRecoveryRequired || s.Status == countersign.StepAbandoned {
			c.Error = text.InWords(s.Error.Message)
		}
		c.Error = text.Upper(c.Error) + "."
	}
	return c
}

func (c *chosenStep) request(s *countersign.StepRun) {
	if s.Request == nil {
		c.Input = inputText(s)
		return
	}
	view := drawn.SentOf("sent", *s.Request)
	view.IdempotencyKey = s.IdempotencyKey
	view.Digest = s.RequestDigest.Text()
	c.Sent = &view
	switch {
	case s.Status == countersign.StepSimulated:
		c.SentWord = "would be sent, rehearsed only"
	case s.Attempt == 0 && (s.Status == countersign.StepFailed || s.Status == countersign.StepCancelled || s.Status == countersign.StepSkipped):
		c.SentWord = "never sent"
	case s.Attempt == 0 || s.Status == countersign.StepWaitingApproval || s.Status == countersign.StepPending:
		c.SentWord = "will be sent as it stands here"
	default:
		c.SentWord, c.SentAt = "sent", s.StartedAt
	}
}

func inputText(s *countersign.StepRun) string {
	if len(s.Input) == 0 {
		return ""
	}
	return text.Inline(s.Input)
}

func (c *chosenStep) answer(p *countersign.Plan, s *countersign.StepRun) {
	switch {
	case s.Status == countersign.StepRunning:
		c.Awaits, c.Until = text.HostOf(s), s.StartedAt.Add(text.TimeoutOf(p, s))
	case s.Status == countersign.StepSimulated:
		c.Lost = "Nothing was sent, so nothing was answered."
	case s.Response != nil || s.Status == countersign.StepCompleted:
		c.Got = new(drawn.GotOf("got", s.Response, s.Output))
	case s.Status == countersign.StepRecoveryRequired || s.Status == countersign.StepAbandoned:
		c.Lost = "No usable answer came."
	}
}

// ExpectationsFor are those that judge the answer to a step, by the plan's snapshots.
func ExpectationsFor(p *countersign.Plan, s *countersign.StepRun) []countersign.Expectation {
	return countersign.Expectations(text.CapabilityOf(p, s.ProjectID, s.Capability), p.Step(s.ID))
}

func (c *chosenStep) judgement(p *countersign.Plan, s *countersign.StepRun) {
	c.Judged = drawn.JudgedOf(ExpectationsFor(p, s), s.Verification)
	ended := !s.CompletedAt.IsZero()
	for i := range c.Judged {
		c.Judged[i].Over = ended
	}
	switch {
	case s.Verification == nil && ended:
		c.JudgedAs = "nothing came that could be judged"
	case s.Verification == nil:
		c.JudgedAs = "to be judged on the answer, not on its status code alone"
	case s.Verification.Status == countersign.VerificationNotRequested:
		c.JudgedAs = "nothing is expected of this answer"
	case s.Verification.Status == countersign.VerificationSimulated:
		c.JudgedAs = "not judged: this was a rehearsal"
	default:
		c.JudgedAs = "judged on the answer, not on its status code alone"
	}
}

func (c *chosenStep) evidence(s *countersign.StepRun) {
	if s.Late != nil {
		c.Late = new(drawn.GotOf("late", s.Late.Response, s.Late.Output))
	}
	for _, p := range s.Probes {
		id := ProbeID(&p)
		view := probeView{ProbeRecord: p, Got: drawn.GotOf(id, p.Response, p.Output)}
		if p.Request != nil {
			view.Sent = new(drawn.SentOf(id+"-sent", *p.Request))
		}
		c.Probes = append(c.Probes, view)
	}
}

// resolvedAs is a resolution in words.
func resolvedAs(resolution string) string {
	switch resolution {
	case countersign.ConfirmedCompleted:
		return "It happened."
	case countersign.ConfirmedNotExecuted:
		return "It did not happen."
	case countersign.Abandon:
		return "Given up without knowing."
	}
	return resolution
}

// StepListed are the members of a step that the pages of recovery and of its run have places for.
var StepListed = []string{
	"id", "name", "status", "projectId", "capability", "actionId", "agentId", "dependsOn", "attempt", "sideEffect", "approvalRequired", "wouldBe", "idempotencyKey", "approvalId",
	"request", "requestDigest", "response", "output", "verification", "reconciliation", "late", "probes", "error", "mayHaveHappened", "startedAt", "completedAt",
	"input", // all of it is in the request
}

// ReconciliationOthers are what a resolution has besides the words that pages show.
func ReconciliationOthers(s *countersign.StepRun) []request.Member {
	if s.Reconciliation == nil {
		return nil
	}
	return request.Unlisted(s.Reconciliation, "resolution", "evidence", "by", "byName", "at")
}

// ProbeID is the name of a probe's answer on its page.
func ProbeID(p *countersign.ProbeRecord) string { return "probe-" + strconv.Itoa(p.N) }
