package console

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// decideApproval records a decision. A refused one shows the page again with the typed
// reason.
func decideApproval(v *pageRequest) (string, error) {
	id := v.r.PathValue("id")
	if err := v.control.Authorize(v.r.Context(), v.actor, access.DecideApproval, "approval/"+id); err != nil {
		return "", v.decideAgain(id, err)
	}
	decision := countersign.Decision{Decision: countersign.ApprovalStatus(v.form("decision")), Reason: v.form("reason")}
	if safetext.Blank(decision.Reason) {
		return "", v.decideAgain(id, countersign.Errorf(countersign.CodeInvalidRequest, "reason: say why; it can't be blank"))
	}
	if err := cmp.Or(v.suggestion(&decision), v.assertion(&decision)); err != nil {
		return "", v.decideAgain(id, err)
	}
	if decision.Decision != countersign.ApprovalRejected { // a rejected request need not have been read
		if err := v.hasSeen(id); err != nil {
			return "", v.decideAgain(id, err)
		}
	}
	a, err := v.control.Decide(v.r.Context(), v.actor, id, decision)
	if err != nil {
		return "", v.decideAgain(id, err)
	}
	return "/runs/" + a.RunID, nil
}

// suggestion reads the inputs that the form suggests, an empty field being none.
func (v *pageRequest) suggestion(d *countersign.Decision) error {
	text := v.form("suggested")
	if safetext.Blank(text) {
		return nil
	}
	if err := exactjson.Decode([]byte(text), &d.SuggestedInput); err != nil || d.SuggestedInput == nil {
		return countersign.Errorf(countersign.CodeInvalidRequest, "suggestedInput: it must be a JSON object, such as {\"amount\": 5}")
	}
	return nil
}

// assertion reads what the page's script put in: the answer of a passkey to this decision.
func (v *pageRequest) assertion(d *countersign.Decision) error {
	text := v.form("assertion")
	if text == "" {
		return nil
	}
	if err := exactjson.Decode([]byte(text), &d.Assertion); err != nil || d.Assertion == nil {
		return countersign.Errorf(countersign.CodeAssertionInvalid, "assertion: the browser's answer can't be read; reload the page and approve it again")
	}
	return nil
}

// hasSeen refuses to approve a body that wasn't shown to its end.
func (v *pageRequest) hasSeen(id string) error {
	a, err := v.control.Approval(v.r.Context(), v.actor, id)
	if err != nil || a.Status != countersign.ApprovalPending || !hasParts(a.Request.Body) || v.sawAll(&a) {
		return err
	}
	return countersign.Errorf(countersign.CodeStateConflict, "the body is longer than one page; it can be approved after its last part: read it to there")
}

// decideAgain shows the page again after a refused decision. If the approval can't be
// shown, it returns the error.
func (v *pageRequest) decideAgain(id string, refused error) error {
	e := refusalOf(refused)
	if e == nil || e.Code == countersign.CodeNotFound || e.Code == countersign.CodeProjectScope {
		return refused
	}
	d, err := v.approval(id)
	if err != nil {
		return refused
	}
	d.Reason, d.Suggested = v.form("reason"), v.form("suggested")
	v.decideWrong(d, e)
	p := d.page()
	p.status = cmp.Or(e.Code.Status(), http.StatusConflict)
	return p
}

// decideWrong puts the error beside its field, or above the page.
func (v *pageRequest) decideWrong(d *approvalData, e *countersign.Error) {
	switch {
	case e.Code == countersign.CodeInvalidRequest && safetext.Blank(d.Reason):
		d.Errors = map[string]string{"reason": "Say why. Both decisions need a reason."}
	case e.Code == countersign.CodeInvalidRequest && strings.HasPrefix(e.Message, "suggestedInput"):
		d.Errors = map[string]string{"suggested": e.Message}
	case e.Code == countersign.CodeInvalidRequest:
		d.Errors = map[string]string{"decision": "Press Approve or Reject."}
	default:
		d.Problem = problemOf(e)
		if e.Code == countersign.CodeStateConflict && !d.Waiting && d.DecidedBy != countersign.SystemPrincipal {
			d.Problem.Sentence = v.decidedMeanwhile(&d.Approval)
		}
	}
}

// decidedMeanwhile says who decided first.
func (v *pageRequest) decidedMeanwhile(a *countersign.Approval) string {
	verdict := map[countersign.ApprovalStatus]string{countersign.ApprovalApproved: "approved", countersign.ApprovalRejected: "rejected"}
	return called(a.DecidedBy, a.DecidedByName) + " decided this " + v.agoWord(a.DecidedAt) + ": " + verdict[a.Status] + ". Nothing was sent twice."
}
