package runs

import (
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// callout is a run's main sentence, a detail and at most one button.
type callout struct {
	Class, Icon      string
	Sentence, Detail string
	Said             string    // by the API that refused a call
	Lapses           time.Time // expiry of what it waits for
	Code             countersign.Code
	Href, Word       string
	Primary, Follows bool // filled button; the page updates itself
}

// viewerRights is what a run's texts depend on besides the run: whether the viewer may
// decide, and why not.
type viewerRights struct {
	MaxActive int
	Approve   error // nil if the viewer may
	Reconcile error
	Cancel    bool // the viewer's role may
	Again     bool // the viewer may start such a run
	Audit     bool // the viewer may read the audit log
	Masked    bool // sensitive fields are masked
	Keep      bool // the viewer may hold the run, and perhaps redact it
}

// calloutOf words a run by the design's tables. p is the run's plan with its projects.
func calloutOf(r *countersign.Run, p *countersign.Plan, b viewerRights) callout {
	s := text.RunState(*r)
	c := callout{Class: "call--" + strings.TrimPrefix(s.Class, "is-"), Icon: s.Icon, Follows: r.Status.IsActive()}
	switch {
	case r.WaitingFor != nil:
		c.waits(r, b)
	case r.Status == countersign.RunReady:
		c.Sentence = "The run starts automatically."
	case r.Status == countersign.RunRunning:
		c.runs(r, p)
	case r.Status == countersign.RunCompleted:
		c.Sentence = doneWords(r)
	case r.Status == countersign.RunFailed:
		c.failed(r)
		c.again(r, b)
	case r.Status == countersign.RunCancelled:
		c.cancelled(r)
		c.again(r, b)
	}
	return c
}

// again offers the way on from a run that didn't reach its end.
func (c *callout) again(r *countersign.Run, b viewerRights) {
	if b.Again {
		c.Href, c.Word, c.Primary = web.Prefix+"/runs/"+r.ID+"/again", "Change and run again", !r.MayHaveHappened
	}
}

func (c *callout) waits(r *countersign.Run, b viewerRights) {
	i := text.StepIndex(r, r.WaitingFor.StepID)
	switch r.WaitingFor.Kind {
	case countersign.WaitApproval:
		c.waitsForApproval(r, i, b)
	case countersign.WaitReconcile:
		c.waitsForReconcile(r, i, b)
	case countersign.WaitSlot:
		c.waitsForSlot(r, b)
	case countersign.WaitStop:
		c.waitsForGo(r)
	}
	if words := countersign.RestoredWords(r.RestoredAt); words != "" {
		c.Detail = strings.TrimSpace(ended(text.Upper(words)) + " " + c.Detail)
	}
}

func (c *callout) waitsForApproval(r *countersign.Run, i int, b viewerRights) {
	c.Lapses = r.WaitingFor.ExpiresAt
	if b.Approve != nil {
		c.Sentence, c.Detail = "Waiting for an approver’s decision.", BarredWords(b.Approve)
		return
	}
	c.Sentence, c.Detail = "Waiting for your decision.", text.Intent(r, i)
	c.Href, c.Word, c.Primary = web.Prefix+"/approvals/"+r.WaitingFor.ApprovalID, "Review", true
}

func (c *callout) waitsForReconcile(r *countersign.Run, i int, b viewerRights) {
	title := text.StepTitle(r, i)
	cause := ""
	if i >= 0 && r.Steps[i].Error != nil {
		cause = text.Upper(text.InWords(r.Steps[i].Error.Message)) + ". "
	}
	c.Code = countersign.CodeOutcomeUnknown
	c.Sentence = title + " may or may not have been done."
	c.Detail = cause + "An approver records what happened, with evidence. Nothing is sent until then."
	if r.CancelRequested {
		c.Sentence = "Cancelled, but " + title + " was already in progress."
		c.Detail = "An approver records what happened, with evidence. Either way, the run ends cancelled."
	}
	if Answerable(r) {
		c.Detail = "The answer may still arrive, until " + ClockSeconds(r.WaitingFor.NotBefore) + " at the latest. Then an approver records what happened, with evidence. Either way, the run ends cancelled."
		c.Follows = true
	}
	if b.Reconcile != nil {
		c.Detail += " " + BarredWords(b.Reconcile)
		return
	}
	c.Href, c.Word, c.Primary = web.Prefix+"/recovery/"+r.ID, "Recover", !Answerable(r)
	if Answerable(r) {
		c.Word = "See what we know"
	}
}

// Answerable reports whether a response may still arrive; until then the step can't be
// resolved.
func Answerable(r *countersign.Run) bool {
	return r.WaitingFor != nil && !r.WaitingFor.NotBefore.IsZero()
}

// ClockSeconds is a time of day.
func ClockSeconds(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

func (c *callout) waitsForSlot(r *countersign.Run, b viewerRights) {
	c.Class, c.Icon, c.Follows = "call--run", "s-ready", true
	c.Sentence, c.Lapses = "Waiting for a free slot.", time.Time{}
	c.Detail = "At most " + text.Plural(b.MaxActive, "run is", "runs are") + " active at once; waiting runs start automatically, oldest first."
	if r.Status == countersign.RunWaitingApproval {
		c.Sentence = "Approved. The run continues when a slot is free."
	}
	c.Href, c.Word = web.Prefix+"/runs?status="+string(countersign.RunRunning), "See what runs"
}

// runs words a running run. The time limit is given with its start, since the sentence
// isn't updated.
func (c *callout) runs(r *countersign.Run, p *countersign.Plan) {
	i := text.IndexOfStep(r, countersign.StepRunning)
	if i < 0 {
		c.Sentence = "Nothing is waiting for you. The run continues automatically."
		return
	}
	s := &r.Steps[i]
	c.Sentence = "Nothing is waiting for you. Step " + strconv.Itoa(i+1) + " waits for " + text.HostOf(s) + "."
	c.Detail = "At most " + text.TimeoutWord(text.TimeoutOf(p, s)) + ", from " + s.StartedAt.UTC().Format("15:04:05.000") + " UTC."
}

// BarredWords says why the viewer can't decide.
func BarredWords(err error) string {
	switch countersign.ErrorCode(err) {
	case countersign.CodeSelfApproval:
		return "You requested this run, so someone else must decide."
	case countersign.CodeRoleRequired:
		return "Your role can't decide."
	case countersign.CodeStateConflict:
		return "You have decided already; somebody else must decide, too."
	}
	return "You can't decide this."
}

func (c *callout) waitsForGo(r *countersign.Run) {
	c.Class, c.Icon, c.Follows = "call--wait", "s-waiting", true
	c.Sentence = "LIVE steps are stopped. The run continues when an administrator lifts the stop."
	if r.Status == countersign.RunWaitingApproval {
		c.Sentence = "Approved. LIVE steps are stopped; the run goes on when an administrator lets it."
	}
	c.Href, c.Word = web.Prefix+"/settings#stop", "See the stop"
}

// failureWords is why a run failed.
func failureWords(r *countersign.Run) string {
	code, message, _ := strings.Cut(r.Error, ": ")
	reason, _ := failure(countersign.Code(code), message, r, text.IndexOfStep(r, countersign.StepFailed))
	return text.Upper(reason) + happenedWords(r)
}
