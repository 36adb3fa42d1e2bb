package approvals

import (
	"cmp"
	"crypto/subtle"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Data is the page of one approval: the request and the form that decides it.
type Data struct {
	countersign.Approval
	Sent    drawn.Sent
	Seen    string // token that proves that the last part of a long body was shown
	Queue   control.Queue
	Waiting bool
	Refused *web.Problem // why the visitor may not decide it
	Shares  bool         // one principal made both the visitor and the requester
	Cannot  string       // the same in one sentence
	Still   control.Deciders
	Signing control.Signing
	Verdict string // how it was decided, in one sentence
	Lapsed  bool   // the system rejected it because nobody decided in time

	Before  *countersign.Approval // the last approved one of the same kind, nil if none
	Changed drawn.Alterations
	Led     []StepSummary
	Course  approvalCourse

	Alike  []string            // runs with an open recovery of the same capability and title
	Asked  []drawn.Expectation // of the response
	Others []drawn.ShownMember // what the page has no place for
	Again  []drawn.SameRun     // other runs with the same request

	Rehearsed *runs.Comparison // nil if there is nothing to compare

	Left    int // the remaining time, in thousandths
	Problem *web.Problem
	Errors  map[string]string // by field
	Reason  string            // as it was typed

	Suggested string            // inputs, as they were typed as JSON
	Corrected map[string]string // what was typed over inputs, by name

	Desk  *desk.Rail // what else waits
	Later bool       // the visitor has put it off
}

// StepSummary is a step that ran earlier, with what its verification found.
type StepSummary struct {
	N      int
	Name   string
	State  text.State
	Proved string
	Here   bool
}

func approvalPage(v *web.Request) (*web.Page, error) {
	d, err := approvalOf(v, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return d.Page(), nil
}

// Page is the page.
func (d *Data) Page() *web.Page {
	return &web.Page{Name: "approval", Title: d.Heading(), Nav: "desk", Desk: true, Data: d, Crumbs: desk.Crumbs(desk.Approval, web.Crumb{Word: d.ID, ID: true})}
}

// Heading is the capability's title filled with the inputs, else the step's name, else
// the capability's name (when the plan can't be seen).
func (d *Data) Heading() string {
	return cmp.Or(d.Title, d.Course.Name, d.Capability)
}

// Put is the form that puts it off.
func (d *Data) Put() desk.Later {
	return desk.Later{Desk: d.Desk, Kind: desk.Approval, ID: d.ID, Later: d.Later}
}

// approvalOf reads everything that the page shows. It changes nothing.
func approvalOf(v *web.Request, id string) (*Data, error) {
	ctx := v.R.Context()
	a, err := v.Control.Approval(ctx, v.Actor, id)
	if err != nil {
		return nil, err
	}
	d := DataOf(a)
	showBody(v, d)
	if d.Waiting {
		refused := v.Control.MayDecide(ctx, v.Actor, id)
		d.Refused, d.Cannot = web.ProblemOf(refused), cannotWords(v, refused)
		if d.Still, err = v.Control.StillDeciding(ctx, v.Actor, id); err != nil {
			return nil, err
		}
		if d.Signing, err = v.Control.Signing(ctx, v.Actor, id); err != nil {
			return nil, err
		}
		d.Shares = d.Refused == nil && access.SharedMaker(v.Actor.Requester(), access.Requester{ID: a.RequestedBy, Makers: a.RequestedByMakers})
		d.Left = leftOf(a.RequestedAt, a.ExpiresAt, v.Now)
	}
	if d.Desk, err = desk.Of(v, desk.Approval, id); err != nil {
		return nil, err
	}
	d.Later = desk.IsLater(v, id)
	d.WordDecision()
	d.Rehearsed = runs.RehearsedStep(v, a.RunID, a.StepID)
	if d.Queue, err = v.Control.ApprovalQueue(ctx, v.Actor, id); err != nil {
		return nil, err
	}
	if d.Alike, err = v.Control.RecoveriesLike(ctx, v.Actor, id); err != nil {
		return nil, err
	}
	if d.Before, err = v.Control.ApprovedBefore(ctx, v.Actor, id); err != nil {
		return nil, err
	}
	if d.Before != nil {
		d.Changed = drawn.AlteredFrom(d.Before.Request, a.Request)
	}
	return d, addCourse(v, d)
}

// DataOf is the page of an approval, of what its record says.
func DataOf(a countersign.Approval) *Data {
	d := &Data{Approval: a, Sent: drawn.SentOf("request", a.Request), Waiting: a.Status == countersign.ApprovalPending}
	d.Sent.Digest = a.RequestDigest
	d.Asked, d.Again = drawn.ExpectationsOf(a.Expectation), drawn.SameRuns(a.Same)
	d.Others = drawn.ShownMembers(request.Unlisted(a, approvalListed...))
	return d
}

// approvalListed are the members of an approval that its page has places for.
var approvalListed = []string{
	"id", "status", "runId", "stepId", "planId", "projectId", "capability", "attempt", "title", "request", "requestDigest", "expectation", "sources", "same", "runReason", "agentWords",
	"requestedBy", "requestedByName", "requestedAt", "requestedByMakers", "expiresAt", "decidedAt", "decidedBy", "decidedByName", "decidedByMakers", "decisionReason", "suggestedInput", "sharedMaker",
	"decisions", "approvalsNeeded", "groups", "escalations", "reasons", "decisionAssertion",
	"state", "stateDigest", "changed", "askedAgain", "previousApprovalId", "superseded",
	"usual", "requesterRecord", "suggestedFrom",
	"inputSnapshot", // all of it is in the request
}

// showBody renders the query's fields, which are encoded in the URL, and the requested part
// of the body. After a refused decision it shows the part that the form was sent from.
func showBody(v *web.Request, d *Data) {
	if query := request.Describe(d.Request).Query; !query.IsZero() {
		d.Sent.Query = drawn.DrawnWhole(query)
	}
	if !d.Sent.HasBody {
		return
	}
	n, err := strconv.Atoi(v.Query("part"))
	if err != nil && sawAll(v, &d.Approval) {
		n = math.MaxInt
	}
	d.Sent.Part = drawn.BodyPartOf(d.Request.Body, n, web.Prefix+"/approvals/"+url.PathEscape(d.ID))
	if d.Waiting && d.Sent.Part.Last() && drawn.HasParts(d.Request.Body) {
		d.Seen = drawn.SeenToken(v.Secret, &d.Approval)
	}
}

// sawAll reports whether the form was sent from the page with the last part of the
// body.
func sawAll(v *web.Request, a *countersign.Approval) bool {
	return subtle.ConstantTimeCompare([]byte(v.Form("seen")), []byte(drawn.SeenToken(v.Secret, a))) == 1
}

// addCourse adds what the run says, if the visitor may see the run: it may cover
// projects that the approval doesn't.
func addCourse(v *web.Request, d *Data) error {
	run, err := v.Control.Run(v.R.Context(), v.Actor, d.RunID)
	switch countersign.ErrorCode(err) {
	case "":
		d.Led, d.Course = stepsBefore(&run, &d.Approval), courseOf(&run, &d.Approval)
		return nil
	case countersign.CodeProjectScope, countersign.CodeNotFound:
		return nil
	}
	return err
}

// leftOf is the remaining share of a period, in thousandths.
func leftOf(from, to, now time.Time) int {
	whole := to.Sub(from)
	if whole <= 0 {
		return 0
	}
	return int(1000 * min(max(to.Sub(now), 0), whole) / whole)
}

// WordDecision words how the approval was decided.
func (d *Data) WordDecision() {
	by := text.Called(d.DecidedBy, d.DecidedByName)
	code, _, _ := strings.Cut(d.DecisionReason, ":")
	switch {
	case d.Waiting:
	case d.Status == countersign.ApprovalApproved:
		d.Verdict = d.approvers() + " approved it."
	case d.DecidedBy == countersign.SystemPrincipal && code == string(countersign.CodeApprovalExpired):
		d.Verdict, d.Lapsed = "Nobody decided in time, so the system rejected it.", true
		if len(d.Decisions) > 1 {
			d.Verdict = "Too few approved in time, so the system rejected it."
		}
	case d.DecidedBy == countersign.SystemPrincipal:
		d.Verdict = "The run ended before anybody decided, so the system rejected it."
	default:
		d.Verdict = by + " rejected it."
	}
}

// stepsBefore lists the steps that started before the approval was requested, with what their
// verification found, and the step itself.
func stepsBefore(r *countersign.Run, a *countersign.Approval) []StepSummary {
	var earlier []int
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.ID != a.StepID && !s.StartedAt.IsZero() && !s.StartedAt.After(a.RequestedAt) {
			earlier = append(earlier, i)
		}
	}
	slices.SortStableFunc(earlier, func(x, y int) int { return r.Steps[x].StartedAt.Compare(r.Steps[y].StartedAt) })
	var out []StepSummary
	for _, i := range earlier {
		s := &r.Steps[i]
		out = append(out, StepSummary{N: i + 1, Name: s.Name, State: verifiedState(s), Proved: ProvedBy(s)})
	}
	for i := range r.Steps {
		if r.Steps[i].ID == a.StepID {
			out = append(out, StepSummary{N: i + 1, Name: r.Steps[i].Name, State: text.ApprovalState(*a), Here: true})
		}
	}
	return out
}

func verifiedState(s *countersign.StepRun) text.State {
	if v := s.Verification; v != nil && v.Status == countersign.VerificationPassed && !s.Reconciliation.StatesOutput() {
		return text.State{Class: "is-ok", Icon: "s-completed", Word: "Verified"}
	}
	return text.StepState(*s)
}

// ProvedBy words what a step's verification found.
func ProvedBy(s *countersign.StepRun) string {
	switch v := s.Verification; {
	case v == nil:
		return ""
	case s.Reconciliation.StatesOutput():
		return "a person said what it answered"
	case v.Status == countersign.VerificationNotRequested:
		return "nothing was asked of its answer"
	case v.Actual.IsZero():
		return ""
	default:
		return v.Field + " is " + text.Inline(v.Actual)
	}
}

// approvers are those whose approvals let the request out.
func (d *Data) approvers() string {
	var names []string
	for _, g := range d.Decisions {
		if g.Decision == countersign.ApprovalApproved && !g.Left {
			names = append(names, text.Called(g.By, g.ByName))
		}
	}
	if len(names) == 0 { // an earlier release kept the decider alone
		return text.Called(d.DecidedBy, d.DecidedByName)
	}
	return strings.Join(names, " and ")
}

// Several reports an approval that one approval may not be enough for.
func (d *Data) Several() bool { return d.Needed() > 1 || len(d.Groups) > 0 }

// Wants says how many must approve and of which groups.
func (d *Data) Wants() string {
	words := text.Plural(d.Needed(), "approval", "approvals")
	if len(d.Groups) > 0 {
		words += ", by members of " + strings.Join(d.Groups, " and ")
		if len(d.Groups) > 1 {
			words += ", at least one of each"
		}
	}
	return words
}

// cannotWords say why the visitor may not decide, "" if they may.
func cannotWords(v *web.Request, refused error) string {
	e := web.RefusalOf(refused)
	switch {
	case e == nil:
		return ""
	case e.Code == countersign.CodeRoleRequired && !v.Can(access.DecideApproval):
		return "Your role can’t decide."
	case e.Code == countersign.CodeSelfApproval && strings.HasPrefix(e.Message, "you asked"):
		return "You requested this run, so someone else must decide."
	case e.Code == countersign.CodeSelfApproval, e.Code == countersign.CodeRoleRequired, e.Code == countersign.CodeStateConflict:
		return text.Upper(e.Message) + "."
	}
	return web.SentenceOf(e)
}
