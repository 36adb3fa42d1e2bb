package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
)

func planRoutes() []route {
	return []route{
		{method: "GET", path: "/plans", page: plansPage},
		{method: "GET", path: "/plans/new", page: newPlanPage},
		// no ID contains a plus sign, so this path hides no plan
		{method: "GET", path: "/plans/+form", page: planFormPage},
		{method: "POST", path: "/plans/+form", act: planByForm},
		{method: "POST", path: "/plans", act: createPlan},
		{method: "GET", path: "/plans/{id}", page: planPage},
		{method: "POST", path: "/plans/{id}/runs", act: startRun},
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
	Pager    pager
	Filters  []filter
	Model    string
	Models   []option
	Status   string
	Filtered bool
}

// planRowOf keeps what a row shows: of the steps, how many there are.
func planRowOf(p countersign.Plan) (planRow, error) {
	p.Steps, p.PlanningInputs = make([]countersign.Step, len(p.Steps)), nil
	return planRow{p, planStates[p.Status]}, nil
}

func plansPage(v *pageRequest) (*page, error) {
	l := v.list()
	d := plansData{Model: v.query("model"), Status: v.query("status")}
	found, err := control.ListPlans(v.r.Context(), v.control, v.actor, l, control.PlanFilter{Status: d.Status, ModelID: d.Model}, planRowOf)
	if err != nil {
		return nil, err
	}
	d.Rows, d.Pager = found.Items, v.pager(l, len(found.Items), found.Total, found.NextOffset)
	d.Filters = v.filters("status", [2]string{countersign.PlanReady, "Ready"}, [2]string{countersign.PlanInvalid, "Invalid"})
	d.Filtered = d.Model != "" || d.Status != ""
	if d.Models, err = modelChoices(v, d.Model); err != nil {
		return nil, err
	}
	return &page{name: "plans", Title: "Plans", Nav: "plans", Crumbs: []crumb{{Word: "Plans"}}, Data: d}, nil
}

// modelChoices are the models' IDs; the selected one is included even if the first page
// lacks it.
func modelChoices(v *pageRequest, now string) ([]option, error) {
	found, err := v.control.Models(v.r.Context(), v.actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	var choices []option
	listed := now == ""
	for _, m := range found.Items {
		choices = append(choices, option{m.ID, m.ID, m.ID == now})
		listed = listed || m.ID == now
	}
	if !listed {
		choices = append(choices, option{now, now, true})
	}
	return choices, nil
}

// newPlanData is a new plan as text, with the error that kept it from being stored.
type newPlanData struct {
	Text    string
	From    string // the plan that it was copied from
	Unfit   bool   // the form can't show all of it
	Problem *problem
}

func (d newPlanData) page() *page {
	return &page{name: "plan-new", Title: "New plan", Nav: "plans", Crumbs: []crumb{{Word: "Plans", Href: "/plans"}, {Word: "New plan"}}, Data: d, status: d.Problem.status()}
}

// newPlanPage starts empty or from another plan, such as a rehearsed one to store again
// as LIVE.
func newPlanPage(v *pageRequest) (*page, error) {
	if err := access.Allow(v.actor.Principal, access.CreatePlan); err != nil {
		return nil, err
	}
	d := newPlanData{From: v.query("from")}
	if d.From == "" {
		return d.page(), nil
	}
	w, err := planToCopy(v, d.From)
	d.Text = text.Pretty(w)
	return d.page(), err
}

// planToCopy is the request that makes a plan like another one, for the model as it is now.
func planToCopy(v *pageRequest, id string) (w countersign.PlanWrite, err error) {
	p, err := v.control.Plan(v.r.Context(), v.actor, id)
	if err != nil {
		return w, err
	}
	w = planWriteOf(p)
	if m, err := v.control.Model(v.r.Context(), v.actor, p.ModelID); err == nil {
		w.ModelRevision = m.Revision // a plan for an earlier revision would be invalid
	}
	if v.query("mode") == countersign.ModeLive {
		w.Mode = countersign.ModeLive
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

func createPlan(v *pageRequest) (string, error) {
	if err := v.control.Authorize(v.r.Context(), v.actor, access.CreatePlan, "plan"); err != nil {
		return "", err
	}
	d := newPlanData{Text: v.form("plan"), From: v.form("from")}
	var w countersign.PlanWrite
	err := exactjson.Decode([]byte(d.Text), &w)
	if err == nil {
		var made countersign.Plan
		if made, err = v.control.CreatePlan(v.r.Context(), v.actor, w); err == nil {
			return planHref(made.ID), nil
		}
	}
	if d.Problem = refusal(err, "Nothing was stored. Your text is kept."); d.Problem == nil {
		return "", err
	}
	return "", d.page()
}
