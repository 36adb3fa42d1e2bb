package plans

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Routes are the pages of plans.
func Routes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/plans", Page: plansPage},
		{Method: "GET", Path: "/plans/new", Page: newPlanPage},
		// no ID contains a plus sign, so this path hides no plan
		{Method: "GET", Path: "/plans/+form", Page: planFormPage},
		{Method: "POST", Path: "/plans/+form", Act: planByForm},
		{Method: "POST", Path: "/plans", Act: createPlan},
		{Method: "GET", Path: "/plans/{id}", Page: planPage},
		{Method: "POST", Path: "/plans/{id}/runs", Act: startRun},
	}
}

var planStates = map[string]text.State{
	countersign.PlanReady:   {Class: "is-ok", Icon: "s-completed", Word: "Ready"},
	countersign.PlanInvalid: {Class: "is-fail", Icon: "s-failed", Word: "Invalid"},
}

type planRow struct {
	countersign.Plan
	State text.State
}

type plansData struct {
	Rows     []planRow
	Pager    web.Pager
	Filters  []web.Filter
	Model    string
	Models   []web.Option
	Status   string
	Filtered bool
}

// planRowOf keeps what a row shows: of the steps, how many there are.
func planRowOf(p countersign.Plan) (planRow, error) {
	p.Steps, p.PlanningInputs = make([]countersign.Step, len(p.Steps)), nil
	return planRow{p, planStates[p.Status]}, nil
}

func plansPage(v *web.Request) (*web.Page, error) {
	l := v.List()
	d := plansData{Model: v.Query("model"), Status: v.Query("status")}
	found, err := control.ListPlans(v.R.Context(), v.Control, v.Actor, l, control.PlanFilter{Status: d.Status, ModelID: d.Model}, planRowOf)
	if err != nil {
		return nil, err
	}
	d.Rows, d.Pager = found.Items, v.Pager(l, len(found.Items), found.Total, found.NextOffset)
	d.Filters = v.Filters("status", [2]string{countersign.PlanReady, "Ready"}, [2]string{countersign.PlanInvalid, "Invalid"})
	d.Filtered = d.Model != "" || d.Status != ""
	if d.Models, err = ModelChoices(v, d.Model); err != nil {
		return nil, err
	}
	return &web.Page{Name: "plans", Title: "Plans", Nav: "plans", Crumbs: []web.Crumb{{Word: "Plans"}}, Data: d}, nil
}

// ModelChoices are the models' IDs; the selected one is included even if the first page
// lacks it.
func ModelChoices(v *web.Request, now string) ([]web.Option, error) {
	found, err := v.Control.Models(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	var choices []web.Option
	listed := now == ""
	for _, m := range found.Items {
		choices = append(choices, web.Option{Value: m.ID, Word: m.ID, Here: m.ID == now})
		listed = listed || m.ID == now
	}
	if !listed {
		choices = append(choices, web.Option{Value: now, Word: now, Here: true})
	}
	return choices, nil
}

// newPlanData is a new plan as text, with the error that kept it from being stored.
type newPlanData struct {
	Text    string
	From    string // the plan that it was copied from
	Unfit   bool   // the form can't show all of it
	Problem *web.Problem
}

func (d newPlanData) page() *web.Page {
	return &web.Page{Name: "plan-new", Title: "New plan", Nav: "plans", Crumbs: []web.Crumb{{Word: "Plans", Href: "/plans"}, {Word: "New plan"}}, Data: d, Status: d.Problem.Status()}
}

// newPlanPage starts empty or from another plan, such as a rehearsed one to store again
// as LIVE.
func newPlanPage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.CreatePlan); err != nil {
		return nil, err
	}
	d := newPlanData{From: v.Query("from")}
	if d.From == "" {
		return d.page(), nil
	}
	w, err := planToCopy(v, d.From)
	d.Text = text.Pretty(w)
	return d.page(), err
}

// planToCopy is the request that makes a plan like another one, for the model as it is now.
func planToCopy(v *web.Request, id string) (w countersign.PlanWrite, err error) {
	p, err := v.Control.Plan(v.R.Context(), v.Actor, id)
	if err != nil {
		return w, err
	}
	w = planWriteOf(p)
	if m, err := v.Control.Model(v.R.Context(), v.Actor, p.ModelID); err == nil {
		w.ModelRevision = m.Revision // a plan for an earlier revision would be invalid
	}
	if mode := v.Query("mode"); mode == countersign.ModeLive || mode == countersign.ModeDryRun {
		w.Mode = mode
	}
	return w, nil
}

// planWriteOf is the request that makes a plan with the same content.
func planWriteOf(p countersign.Plan) countersign.PlanWrite {
	return countersign.PlanWrite{
		Name: p.Name, ModelID: p.ModelID, ModelRevision: p.ModelRevision, Steps: p.Steps, ScenarioID: p.ScenarioID,
		PlanningInputs: p.PlanningInputs, Mode: p.Mode,
	}
}

func createPlan(v *web.Request) (string, error) {
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.CreatePlan, "plan"); err != nil {
		return "", err
	}
	d := newPlanData{Text: v.Form("plan"), From: v.Form("from")}
	var w countersign.PlanWrite
	err := exactjson.Decode([]byte(d.Text), &w)
	if err == nil {
		var made countersign.Plan
		if made, err = v.Control.CreatePlan(v.R.Context(), v.Actor, w); err == nil {
			return steps.PlanHref(made.ID), nil
		}
	}
	if d.Problem = web.Refusal(err, "Nothing was stored. Your text is kept."); d.Problem == nil {
		return "", err
	}
	return "", d.page()
}
