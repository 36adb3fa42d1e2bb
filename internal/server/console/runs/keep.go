package runs

import (
	"cmp"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/web"
)

// keepData is the page on which a run is held, and redacted.
type keepData struct {
	Run     *countersign.Run
	Title   string
	Hold    string // the reason that was typed for a hold
	Redact  string // and for a redaction
	Problem *web.Problem
}

func keepPage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.HoldRun); err != nil {
		return nil, err
	}
	return keepForm(v, nil)
}

func keepForm(v *web.Request, refused error) (*web.Page, error) {
	r, err := v.Control.Run(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := keepData{Run: &r, Title: cmp.Or(r.PlanSnapshot.Name, r.ID), Problem: web.ProblemOf(refused)}
	p := &web.Page{
		Name: "run-keep", Title: "Hold or redact " + d.Title, Nav: "runs",
		Crumbs: []web.Crumb{{Word: "Runs", Href: "/runs"}, {Word: r.ID, Href: "/runs/" + r.ID, ID: true}, {Word: "Hold or redact"}},
	}
	if refused != nil {
		p.Status = countersign.ErrorCode(refused).Status()
		if d.Hold = v.Form("reason"); v.Form("do") == "redact" {
			d.Hold, d.Redact = "", v.Form("reason")
		}
	}
	p.Data = d
	return p, nil
}

// keepRun holds the run, ends that, or redacts it. A refusal shows the form again with the typed reason.
func keepRun(v *web.Request) (string, error) {
	id, reason := v.R.PathValue("id"), v.Form("reason")
	var err error
	switch v.Form("do") {
	case "redact":
		if v.Form("sure") == "" {
			err = countersign.RefusedAt(countersign.CodeInvalidRequest, "sure", "confirm that a redaction is for good")
		} else {
			_, err = v.Control.RedactRun(v.R.Context(), v.Actor, id, reason)
		}
	default:
		_, err = v.Control.HoldRun(v.R.Context(), v.Actor, id, countersign.HoldWrite{Hold: v.Form("do") == "hold", Reason: reason})
	}
	if err == nil {
		return "/runs/" + id, nil
	}
	if s := countersign.ErrorCode(err).Status(); s == http.StatusBadRequest || s == http.StatusConflict || s == http.StatusForbidden {
		if p, failed := keepForm(v, err); failed == nil {
			return "", p
		}
	}
	return "", err
}
