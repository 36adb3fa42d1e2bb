package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// callout is the one sentence of a run, a second line and at most one button that
// moves the run.
type callout struct {
	Class, Icon      string
	Sentence, Detail string
	Lapses           time.Time // of what it waits for
	Code             countersign.Code
	Href, Word       string
	Primary, Follows bool // the filled button; the page follows the run by itself
}

// beholder is what the words of a run depend on beside the run: whether whoever
// reads them may decide, and why not.
type beholder struct {
	MaxActive int
	Approve   error // nil when it may
	Reconcile error
	Cancel    bool // its role may
	Masked    bool // sensitive fields are masked
}

// calloutOf words a run by the design's tables of what it waits for, its status
// and its error. p is the run's plan with its projects.
func calloutOf(r *countersign.Run, p *countersign.Plan, b beholder) callout {
	s := runState(*r)
	c := callout{Class: "call--" + strings.TrimPrefix(s.Class, "is-"), Icon: s.Icon, Follows: r.Status.IsActive()}
	switch {
	case r.WaitingFor != nil:
		c.waits(r, b)
	case r.Status == countersign.RunReady:
		c.Sentence = "The run starts by itself."
	case r.Status == countersign.RunRunning:
		c.runs(r, p)
	case r.Status == countersign.RunCompleted:
		c.Sentence = doneWords(r)
	case r.Status == countersign.RunFailed:
		c.failed(r)
	case r.Status == countersign.RunCancelled:
		c.cancelled(r)
	}
	return c
}

func (c *callout) waits(r *countersign.Run, b beholder) {
	i := stepIndex(r, r.WaitingFor.StepID)
	switch r.WaitingFor.Kind {
	case countersign.WaitApproval:
		c.waitsForApproval(r, i, b)
	case countersign.WaitReconcile:
		c.waitsForReconcile(r, i, b)
	case countersign.WaitSlot:
		c.waitsForSlot(r, b)
	}
}

func (c *callout) waitsForApproval(r *countersign.Run, i int, b beholder) {
	c.Lapses = r.WaitingFor.ExpiresAt
	if b.Approve != nil {
		c.Sentence, c.Detail = "The run stands still until an approver decides.", barredWords(b.Approve)
		return
	}
	c.Sentence, c.Detail = "The run stands still until you decide.", intent(r, i)
	c.Href, c.Word, c.Primary = Prefix+"/approvals/"+r.WaitingFor.ApprovalID, "Review", true
}

func (c *callout) waitsForReconcile(r *countersign.Run, i int, b beholder) {
	title := stepTitle(r, i)
	cause := ""
	if i >= 0 && r.Steps[i].Error != nil {
		cause = upper(r.Steps[i].Error.Message) + ". "
	}
	c.Code = countersign.CodeOutcomeUnknown
	c.Sentence = title + " may or may not have been done."
	c.Detail = cause + "An approver says what happened, with evidence; until then nothing is sent."
	if r.CancelRequested {
		c.Sentence = "Cancelled, but " + title + " was already on its way."
		c.Detail = "An approver says what happened, with evidence; whatever it is, the run ends cancelled."
	}
	if b.Reconcile != nil {
		c.Detail += " " + barredWords(b.Reconcile)
		return
	}
	c.Href, c.Word, c.Primary = Prefix+"/recovery/"+r.ID, "Resolve", true
}

func (c *callout) waitsForSlot(r *countersign.Run, b beholder) {
	c.Class, c.Icon, c.Follows = "call--run", "s-ready", true
	c.Sentence, c.Lapses = "The run waits for a free slot.", time.Time{}
	c.Detail = "At most " + plural(b.MaxActive, "run is", "runs are") + " active at once; those that wait start oldest first, by themselves."
	if r.Status == countersign.RunWaitingApproval {
		c.Sentence = "Approved. The run goes on when a slot is free."
	}
	c.Href, c.Word = Prefix+"/runs?status="+string(countersign.RunRunning), "See what runs"
}

// runs words a run that acts. How long a call may take is said by its beginning:
// a sentence doesn't tick.
func (c *callout) runs(r *countersign.Run, p *countersign.Plan) {
	i := indexOfStep(r, countersign.StepRunning)
	if i < 0 {
		c.Sentence = "Nothing waits for you. The run goes on by itself."
		return
	}
	s := &r.Steps[i]
	c.Sentence = "Nothing waits for you. Step " + strconv.Itoa(i+1) + " waits for " + hostOf(s) + "."
	c.Detail = "At most " + length(timeoutOf(p, s)) + ", from " + s.StartedAt.UTC().Format("15:04:05.000") + nbsp + "UTC."
}

func doneWords(r *countersign.Run) string {
	n := len(r.Steps)
	if r.Mode == countersign.ModeDryRun {
		asks := 0
		for i := range r.Steps {
			if r.Steps[i].ApprovalRequired {
				asks++
			}
		}
		if asks == 0 {
			return "Rehearsed. Nothing was sent; no step will ask for approval."
		}
		return "Rehearsed. Nothing was sent; " + plural(asks, "step", "steps") + " will ask for approval."
	}
	switch {
	case r.UnverifiedSteps > 0:
		return "Done. " + strconv.Itoa(r.UnverifiedSteps) + " of " + plural(n, "step", "steps") + " had nothing to verify."
	case n == 1:
		return "Done. The step is verified."
	}
	return "Done. All " + plural(n, "step", "steps") + " are verified."
}

func (c *callout) failed(r *countersign.Run) {
	code, message, _ := strings.Cut(r.Error, ": ")
	c.Code = countersign.Code(code)
	i := indexOfStep(r, countersign.StepFailed)
	reason, next := failure(c.Code, message, r, i)
	at := ""
	if i >= 0 {
		at = " at step " + strconv.Itoa(i+1)
	}
	c.Sentence = ended("The run failed" + at + ": " + reason)
	c.Detail = strings.TrimSpace(next + " " + rangeWords(r, countersign.StepSkipped, "skipped"))
}

// ended ends a sentence; one that ends in somebody's words has its end.
func ended(sentence string) string {
	if strings.HasSuffix(sentence, "”") {
		return sentence
	}
	return sentence + "."
}

// failureWords is why a run failed, by itself.
func failureWords(r *countersign.Run) string {
	code, message, _ := strings.Cut(r.Error, ": ")
	reason, _ := failure(countersign.Code(code), message, r, indexOfStep(r, countersign.StepFailed))
	return upper(reason)
}

// failure is the reason of a failed run in words, and what to do.
func failure(code countersign.Code, message string, r *countersign.Run, i int) (reason, next string) {
	host := "the receiver"
	if i >= 0 {
		host = hostOf(&r.Steps[i])
	}
	switch code {
	case countersign.CodeReceiverRefused:
		return host + " refused the request" + withStatus(r, i), "Nothing was done there, as far as it says. Correct the input and start a new run."
	case countersign.CodeExpectationNotMet:
		return "the answer was not what was expected (" + message + ")", "It may have taken effect: check at " + host + "."
	case countersign.CodeOutputMissing:
		return message, "It may have taken effect: check at " + host + "."
	case countersign.CodeNotSent:
		return "nothing was sent: " + message, "Correct the connection and start a new run."
	case countersign.CodeOutcomeUnknown:
		return "no usable answer came (" + message + ")", "It was a read: nothing was changed. Start a new run."
	case countersign.CodeApprovalRejected:
		if by, why, ok := strings.Cut(message, " rejected it: "); ok {
			return who(by) + " rejected it: “" + why + "”", "Nothing was sent for this step."
		}
	case countersign.CodeApprovalExpired:
		return "nobody decided in time, so the system rejected it", "Nothing was sent for this step."
	case countersign.CodeDrift:
		return message, "Nothing was sent for this step."
	case countersign.CodeProjectDisabled:
		return message, "Nothing was sent for this step."
	}
	return message, ""
}

func withStatus(r *countersign.Run, i int) string {
	if i < 0 || r.Steps[i].Response == nil {
		return ""
	}
	return " with " + strconv.Itoa(r.Steps[i].Response.StatusCode)
}

func (c *callout) cancelled(r *countersign.Run) {
	code, message, _ := strings.Cut(r.Error, ": ")
	c.Code, c.Detail = countersign.Code(code), rangeWords(r, countersign.StepCancelled, "not begun")
	i := reconciledStep(r)
	switch by, why, given := strings.Cut(message, ": "); {
	case c.Code == countersign.CodeAbandoned:
		c.Sentence = "Given up: whether " + stepTitle(r, i) + " was done stays unknown here."
	case given:
		c.Sentence = "Cancelled by " + who(by) + ": “" + why + "”"
	default:
		c.Sentence = "Cancelled while " + stepTitle(r, i) + " was on its way; " + resolvedWords(r, i) + "."
	}
}

func resolvedWords(r *countersign.Run, i int) string {
	if i < 0 {
		return "an approver said what happened"
	}
	by := who(r.Steps[i].Reconciliation.By)
	switch r.Steps[i].Reconciliation.Resolution {
	case countersign.ConfirmedCompleted:
		return by + " confirmed that it happened"
	case countersign.ConfirmedNotExecuted:
		return by + " confirmed that it did not happen"
	}
	return by + " gave it up"
}

func reconciledStep(r *countersign.Run) int {
	for i := range r.Steps {
		if r.Steps[i].Reconciliation != nil && r.Steps[i].Status != countersign.StepPending {
			return i
		}
	}
	return -1
}

// rangeWords says which steps have a status, by their numbers where they follow
// each other.
func rangeWords(r *countersign.Run, status countersign.StepStatus, word string) string {
	first, last, n := 0, 0, 0
	for i := range r.Steps {
		if r.Steps[i].Status == status && r.Steps[i].Attempt == 0 {
			if n++; n == 1 {
				first = i + 1
			}
			last = i + 1
		}
	}
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "Step " + strconv.Itoa(first) + " was " + word + "."
	case last-first == n-1:
		return "Steps " + strconv.Itoa(first) + " to " + strconv.Itoa(last) + " were " + word + "."
	}
	return plural(n, "step was ", "steps were ") + word + "."
}

// barredWords says why somebody can't decide.
func barredWords(err error) string {
	switch countersign.ErrorCode(err) {
	case countersign.CodeSelfApproval:
		return "You asked for this run, so someone else decides."
	case countersign.CodeRoleRequired:
		return "Your role can't decide."
	}
	return "You can't decide this."
}

// intent is what a step will do, and to whom.
func intent(r *countersign.Run, i int) string {
	if i < 0 {
		return ""
	}
	s := &r.Steps[i]
	words := stepTitle(r, i)
	if s.Request == nil {
		return words + "."
	}
	return words + ": " + s.Request.Method + " " + strings.TrimPrefix(strings.TrimPrefix(s.Request.URL, "https://"), "http://") + "."
}

func stepTitle(r *countersign.Run, i int) string {
	if i < 0 {
		return "the step"
	}
	return "“" + nameOf(&r.Steps[i]) + "”"
}

func nameOf(s *countersign.StepRun) string {
	if s.Name == "" {
		return s.ID
	}
	return s.Name
}

// hostOf is whom a step calls.
func hostOf(s *countersign.StepRun) string {
	if s.Request != nil {
		if u, err := url.Parse(s.Request.URL); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return s.ProjectID
}

func stepIndex(r *countersign.Run, id string) int {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

func indexOfStep(r *countersign.Run, status countersign.StepStatus) int {
	for i := range r.Steps {
		if r.Steps[i].Status == status {
			return i
		}
	}
	return -1
}

// timeoutOf is how long a step's call may take.
func timeoutOf(p *countersign.Plan, s *countersign.StepRun) time.Duration {
	if c := capabilityOf(p, s); c != nil {
		return c.Timeout()
	}
	return 0
}

// length is a limit of time as it was set.
func length(d time.Duration) string {
	if d%time.Second != 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + nbsp + "ms"
	}
	return span(d)
}

func capabilityOf(p *countersign.Plan, s *countersign.StepRun) *countersign.Capability {
	if project := projectOf(p, s.ProjectID); project != nil {
		return project.Capability(s.Capability)
	}
	return nil
}

func projectOf(p *countersign.Plan, id string) *countersign.Project {
	if p == nil {
		return nil
	}
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == id {
			return &p.ProjectSnapshots[i]
		}
	}
	return nil
}

// cancelledBy says in short how a run came to be cancelled.
func cancelledBy(r *countersign.Run) string {
	code, message, _ := strings.Cut(r.Error, ": ")
	if by, _, given := strings.Cut(message, ": "); given && countersign.Code(code) == countersign.CodeCancelled {
		return "by " + who(by)
	}
	if countersign.Code(code) == countersign.CodeAbandoned {
		return "given up, outcome unknown"
	}
	return "while a step was on its way"
}
