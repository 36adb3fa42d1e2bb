package runs

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// cancelData is the page that asks for the reason of a cancel and says what it does.
type cancelData struct {
	Run      *countersign.Run
	Title    string
	Can      bool // a cancel would still change the run
	OnItsWay string
	Then     string
	Reason   string
	Problem  *web.Problem
}

func cancelPage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.CancelRun); err != nil {
		return nil, err
	}
	return cancelForm(v, "", nil)
}

func cancelForm(v *web.Request, reason string, refused error) (*web.Page, error) {
	r, err := v.Control.Run(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := cancelData{Run: &r, Title: cmp.Or(r.PlanSnapshot.Name, r.ID), Can: cancellable(&r), Reason: reason, Problem: web.ProblemOf(refused)}
	d.OnItsWay, d.Then = cancelWords(&r)
	p := &web.Page{
		Name: "run-cancel", Title: "Cancel " + d.Title, Nav: "runs", Data: d,
		Crumbs: []web.Crumb{{Word: "Runs", Href: "/runs"}, {Word: r.ID, Href: "/runs/" + r.ID, ID: true}, {Word: "Cancel"}},
	}
	if refused != nil {
		p.Status = countersign.ErrorCode(refused).Status()
	}
	return p, nil
}

// cancelWords say what a cancel can't stop and how the run ends.
func cancelWords(r *countersign.Run) (onItsWay, then string) {
	i := text.IndexOfStep(r, countersign.StepRunning)
	if i >= 0 && r.Steps[i].SideEffect {
		return text.StepTitle(r, i) + " is on its way and can't be stopped; an approver will be asked what happened.",
			"Nothing more is sent. The run ends cancelled when that is said."
	}
	left := 0
	for j := range r.Steps {
		if !begun(&r.Steps[j]) || r.Steps[j].Status == countersign.StepWaitingApproval {
			left++
		}
	}
	then = "The run ends cancelled; " + text.Plural(left, "step is", "steps are") + " never begun."
	if r.Status == countersign.RunWaitingApproval {
		then += " The approval that it waits for is closed."
	}
	if i >= 0 {
		then = "Step " + strconv.Itoa(i+1) + " is a read: its answer is dropped. " + then
	}
	return "", then
}

// cancelRun cancels. A refusal shows the form again with the typed reason.
func cancelRun(v *web.Request) (string, error) {
	id, reason := v.R.PathValue("id"), v.Form("reason")
	var err error
	if safetext.Blank(reason) {
		err = countersign.Errorf(countersign.CodeInvalidRequest, "a reason is needed: it is kept in the audit log with your name")
	} else {
		_, err = v.Control.CancelRun(v.R.Context(), v.Actor, id, reason)
	}
	if err == nil {
		return "/runs/" + id, nil
	}
	if s := countersign.ErrorCode(err).Status(); s == http.StatusBadRequest || s == http.StatusConflict {
		p, failed := cancelForm(v, reason, err)
		if failed == nil {
			return "", p
		}
	}
	return "", err
}
