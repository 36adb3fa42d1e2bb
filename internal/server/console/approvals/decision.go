package approvals

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/desk"
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
	if err := typedCorrection(v, id, &decision); err != nil {
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
	return desk.Onward(v, desk.Approval, id, "/runs/"+a.RunID), nil
}

// typedCorrection reads what was typed over the inputs: a rejection carries it along, an approval
// is refused, since it would send what stands no longer in the form.
func typedCorrection(v *web.Request, id string, decision *countersign.Decision) error {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(v.R.PostForm)), func(name string) bool { return strings.HasPrefix(name, field("")) }) {
		return nil
	}
	a, err := v.Control.ApprovalAlone(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	c := correctionOf(v, DataOf(a))
	switch {
	case len(c.names) == 0:
		return nil
	case decision.Decision != countersign.ApprovalRejected:
		return countersign.Errorf(countersign.CodeInvalidRequest, "%scorrected: %s; reject with the correction, or take it back to approve what was asked for", correctedField, strings.Join(c.names, ", "))
	case len(c.wrong) > 0:
		return countersign.Errorf(countersign.CodeInvalidRequest, "%s%s can't be read", correctedField, strings.Join(c.names, ", "))
	case decision.SuggestedInput != nil:
		return countersign.Errorf(countersign.CodeInvalidRequest, "%syou typed over inputs and wrote other ones as JSON; take one of them back", correctedField)
	}
	decision.SuggestedInput = c.all
	return nil
}

// correctedField begins the messages about corrections, which stand at the table of inputs.
const correctedField = "inputs: "

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
	a, err := v.Control.ApprovalAlone(v.R.Context(), v.Actor, id)
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
	c := correctionOf(v, d)
	d.Corrected = c.typed
	decideWrong(v, d, e)
	d.correctedWrong(e, c)
	p := d.Page()
	p.Status = cmp.Or(e.Code.Status(), http.StatusConflict)
	return p
}

// correctedWrong puts what is wrong with a correction where it was typed.
func (d *Data) correctedWrong(e *countersign.Error, c correction) {
	if d.Errors == nil {
		d.Errors = map[string]string{}
	}
	maps.Copy(d.Errors, c.wrong)
	if len(c.names) == 0 || e.Code != countersign.CodeInvalidRequest || !strings.HasPrefix(e.Message, "suggestedInput") {
		return
	}
	delete(d.Errors, "suggested") // it was typed over the inputs
	for problem := range strings.SplitSeq(e.Message, "; ") {
		at, why, _ := strings.Cut(strings.TrimPrefix(problem, "suggestedInput"), ": ")
		if name := strings.TrimPrefix(at, "."); slices.Contains(c.names, name) {
			d.Errors[field(name)] = text.Upper(why) + "."
			continue
		}
		d.Errors["inputs"] = text.Upper(problem) + "."
	}
}

// decideWrong puts the error beside its field, or above the page.
func decideWrong(v *web.Request, d *Data, e *countersign.Error) {
	switch {
	case e.Code == countersign.CodeInvalidRequest && safetext.Blank(d.Reason):
		d.Errors = map[string]string{"reason": "Say why. Both decisions need a reason."}
	case e.Code == countersign.CodeInvalidRequest && strings.HasPrefix(e.Message, correctedField):
		d.Errors = map[string]string{"inputs": text.Upper(strings.TrimPrefix(e.Message, correctedField)) + "."}
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
