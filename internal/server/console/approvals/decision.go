package approvals

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// decideApproval records a decision. A refused one shows the page again with the typed
// reason.
func decideApproval(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.DecideApproval, "approval/"+id); err != nil {
		return "", decideAgain(v, id, err)
	}
	decision := countersign.Decision{Decision: countersign.ApprovalStatus(v.Form("decision")), Reason: v.Form("reason"), RequestDigest: v.Form("seenRequest"), StateDigest: v.Form("seenState")}
	if safetext.Blank(decision.Reason) {
		return "", decideAgain(v, id, countersign.Errorf(countersign.CodeInvalidRequest, "reason: say why; it can't be blank"))
	}
	if err := cmp.Or(typedSuggestion(v, &decision), typedAssertion(v, &decision)); err != nil {
		return "", decideAgain(v, id, err)
	}
	if decision.Decision != countersign.ApprovalRejected { // a rejected request need not have been read
		if err := hasSeen(v, id); err != nil {
			return "", decideAgain(v, id, err)
		}
	}
	a, err := v.Control.Decide(v.R.Context(), v.Actor, id, decision)
	if err != nil {
		return "", decideAgain(v, id, err)
	}
	return "/runs/" + a.RunID, nil
}

// typedSuggestion reads the inputs that the form suggests, an empty field being none.
func typedSuggestion(v *web.Request, d *countersign.Decision) error {
	text := v.Form("suggested")
	if safetext.Blank(text) {
		return nil
	}
	if err := exactjson.Decode([]byte(text), &d.SuggestedInput); err != nil || d.SuggestedInput == nil {
		return countersign.Errorf(countersign.CodeInvalidRequest, "suggestedInput: it must be a JSON object, such as {\"amount\": 5}")
	}
	return nil
}

// typedAssertion reads what the page's script put in: the answer of a passkey to this decision.
func typedAssertion(v *web.Request, d *countersign.Decision) error {
	text := v.Form("assertion")
	if text == "" {
		return nil
	}
	if err := exactjson.Decode([]byte(text), &d.Assertion); err != nil || d.Assertion == nil {
		return countersign.Errorf(countersign.CodeAssertionInvalid, "assertion: the browser's answer can't be read; reload the page and approve it again")
	}
	return nil
}

// hasSeen refuses to approve a body that wasn't shown to its end.
func hasSeen(v *web.Request, id string) error {
	a, err := v.Control.Approval(v.R.Context(), v.Actor, id)
	if err != nil || a.Status != countersign.ApprovalPending || !drawn.HasParts(a.Request.Body) || sawAll(v, &a) {
		return err
	}
	return countersign.Errorf(countersign.CodeStateConflict, "the body is longer than one page; it can be approved after its last part: read it to there")
}

// decideAgain shows the page again after a refused decision. If the approval can't be
// shown, it returns the error.
func decideAgain(v *web.Request, id string, refused error) error {
	e := web.RefusalOf(refused)
	if e == nil || e.Code == countersign.CodeNotFound || e.Code == countersign.CodeProjectScope {
		return refused
	}
	d, err := approvalOf(v, id)
	if err != nil {
		return refused
	}
	d.Reason, d.Suggested = v.Form("reason"), v.Form("suggested")
	decideWrong(v, d, e)
	p := d.Page()
	p.Status = cmp.Or(e.Code.Status(), http.StatusConflict)
	return p
}

// decideWrong puts the error beside its field, or above the page.
func decideWrong(v *web.Request, d *Data, e *countersign.Error) {
	switch {
	case e.Code == countersign.CodeInvalidRequest && safetext.Blank(d.Reason):
		d.Errors = map[string]string{"reason": "Say why. Both decisions need a reason."}
	case e.Code == countersign.CodeInvalidRequest && strings.HasPrefix(e.Message, "suggestedInput"):
		d.Errors = map[string]string{"suggested": e.Message}
	case e.Code == countersign.CodeInvalidRequest:
		d.Errors = map[string]string{"decision": "Press Approve or Reject."}
	default:
		d.Problem = web.ProblemOf(e)
		if e.Code == countersign.CodeStateConflict && !d.Waiting && d.DecidedBy != countersign.SystemPrincipal {
			d.Problem.Sentence = decidedMeanwhile(v, &d.Approval)
		}
	}
}

// decidedMeanwhile says who decided first.
func decidedMeanwhile(v *web.Request, a *countersign.Approval) string {
	verdict := map[countersign.ApprovalStatus]string{countersign.ApprovalApproved: "approved", countersign.ApprovalRejected: "rejected"}
	return text.Called(a.DecidedBy, a.DecidedByName) + " decided this " + web.AgoWord(v, a.DecidedAt) + ": " + verdict[a.Status] + ". Nothing was sent twice."
}
