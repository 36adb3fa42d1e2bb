package projects

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Trying a capability is a DRY_RUN run of one call.

type tryData struct {
	Project    countersign.Project
	Capability countersign.Capability
	Key        string // makes one run, however often the form is sent
	Fields     []form.Field
	Problem    *web.Problem
}

func tryPage(v *web.Request) (*web.Page, error) { return tryAgain(v, nil) }

// toTry reads the capability in the address if the visitor may try it.
func toTry(v *web.Request) (p countersign.Project, c *countersign.Capability, err error) {
	if err := v.May(access.StartProjectRun); err != nil {
		return p, nil, err
	}
	if p, err = v.Control.Project(v.R.Context(), v.Actor, v.R.PathValue("id")); err != nil {
		return p, nil, err
	}
	if c = p.Capability(v.Query("capability")); c == nil {
		return p, nil, countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.Query("capability"))
	}
	return p, c, nil
}

// tryAgain shows the form; a refused one keeps its key, which started nothing.
func tryAgain(v *web.Request, err error) (*web.Page, error) {
	p, c, unread := toTry(v)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := tryData{Project: p, Capability: *c, Key: form.StartKey(v, err), Fields: s.Inputs(c, nil)}
	d.Problem = s.Problem()
	return &web.Page{Name: "try", Title: "Try " + c.Name, Nav: "projects", Crumbs: Crumbs(p.ID, web.Crumb{Word: "Try " + c.Name}), Data: d}, nil
}

func tryCapability(v *web.Request) (string, error) {
	p, c, err := toTry(v)
	if err != nil {
		return "", err
	}
	run, err := rehearse(v, p, c)
	if err == nil {
		return "/runs/" + run, nil
	}
	return "", v.FormAgain(err, tryAgain)
}

func rehearse(v *web.Request, p countersign.Project, c *countersign.Capability) (runID string, err error) {
	start := countersign.ProjectRunStart{Capability: c.Name, Mode: countersign.ModeDryRun}
	if start.Inputs, err = form.TypedInputs(v, c, nil); err != nil {
		return "", err
	}
	started, err := v.Control.StartProjectRun(v.R.Context(), v.Actor, p.ID, start, form.StartKey(v, nil))
	return started.Run.ID, err
}
