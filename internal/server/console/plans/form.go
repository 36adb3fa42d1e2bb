package plans

import (
	"net/url"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// A plan built by form: its model, its steps, and what each of them sends. What would make
// the plan INVALID stands at its field, and nothing is stored then.

type planFormData struct {
	From    string     // the plan that it was copied from
	Kept    []web.Kept // what that plan says of itself and nobody types
	Head    []form.Field
	Rows    []steps.StepRow
	Offers  steps.StepOffers
	JSON    string // the same as a document
	Problem *web.Problem
}

// planFormPage starts empty or from another plan. A plan that the form can't show whole is
// shown as JSON.
func planFormPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.CreatePlan); err != nil {
		return nil, err
	}
	f, err := typedPlanSteps(v)
	if err != nil {
		return nil, err
	}
	v.R.PostForm = url.Values{}
	if from := v.Query("from"); from != "" {
		w, err := planToCopy(v, from)
		if err != nil {
			return nil, err
		}
		if !writePlan(f, w) {
			return newPlanData{From: from, Text: text.Pretty(w), Unfit: true}.page(), nil
		}
		v.R.PostForm.Set("from", from)
	}
	return planForm(v, f, nil)
}

// typedPlanSteps are the form's steps, which may call what the visitor's projects have. Only
// one page of projects is offered; with more, store the plan as JSON.
func typedPlanSteps(v *web.Request) (*steps.Form, error) {
	found, err := v.Control.Projects(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	f := &steps.Form{Request: v}
	for _, p := range found.Items {
		for i := range p.Capabilities {
			f.Offers = append(f.Offers, steps.Offer{Owner: p.ID, Word: p.Name, Capability: &p.Capabilities[i]})
		}
	}
	return f, nil
}

// writePlan puts a plan into the form, and reports whether the form has all of it.
func writePlan(f *steps.Form, w countersign.PlanWrite) bool {
	form := f.Request.R.PostForm
	form.Set("name", w.Name)
	form.Set("modelId", w.ModelID)
	form.Set("mode", w.Mode)
	form.Set("scenarioId", w.ScenarioID)
	if w.PlanningInputs != nil {
		form.Set("planningInputs", text.RawOf(w.PlanningInputs))
	}
	list := make([]steps.BuiltStep, len(w.Steps))
	for i, s := range w.Steps {
		list[i] = steps.BuiltStep{ID: s.ID, Name: s.Name, Owner: s.ProjectID, Capability: s.Capability, ActionID: s.ActionID, Input: s.Input, DependsOn: s.DependsOn, Bindings: s.InputBindings, Expectation: s.Expectation}
	}
	return f.Write(list)
}

func planForm(v *web.Request, f *steps.Form, err error) (*web.Page, error) {
	models, unread := ModelChoices(v, v.Form("modelId"))
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	s.Filled = true
	choices := []form.Choice{{Word: "choose"}}
	for _, m := range models {
		choices = append(choices, form.Choice{Value: m.Value, Word: m.Word})
	}
	d := planFormData{From: v.Form("from"), Head: []form.Field{
		form.Must(s.Line("name", "Name", "", "")),
		form.Must(s.Choose("select", "modelId", "Model", "What the plan is for. A plan uses the model’s current revision.", "", choices...)),
		s.Mode(true),
	}}
	for _, name := range []string{"from", "scenarioId", "planningInputs"} {
		d.Kept = append(d.Kept, web.Kept{Name: name, Text: v.Form(name)})
	}
	d.Rows = f.Rows(s)
	d.Offers = f.OffersFor("project", "No project that you may use has a capability yet.")
	w, _ := typedPlan(v, f)
	d.JSON = text.Pretty(w)
	d.Problem = s.Problem()
	return &web.Page{Name: "plan-form", Title: "New plan", Nav: "plans", Crumbs: []web.Crumb{{Word: "Plans", Href: "/plans"}, {Word: "New plan"}}, Data: d}, nil
}

// typedPlan reads the form, as far as it can be read.
func typedPlan(v *web.Request, f *steps.Form) (w countersign.PlanWrite, wrong error) {
	w = countersign.PlanWrite{Name: v.Form("name"), ModelID: v.Form("modelId"), Mode: v.Form("mode"), Steps: []countersign.Step{}, ScenarioID: v.Form("scenarioId")}
	steps, wrong := f.Typed()
	inputs, err := form.ObjectOf("planningInputs", v.Form("planningInputs"))
	w.PlanningInputs, wrong = inputs, web.Together(wrong, err)
	for _, s := range steps {
		w.Steps = append(w.Steps, countersign.Step{ID: s.ID, Name: s.Name, ProjectID: s.Owner, Capability: s.Capability, ActionID: s.ActionID, Input: s.Input, DependsOn: s.DependsOn, InputBindings: s.Bindings, Expectation: s.Expectation})
	}
	if len(steps) == 0 {
		wrong = web.Together(wrong, web.Invalid("steps", "add at least one step below"))
	}
	if w.Mode != "" && w.Mode != countersign.ModeDryRun && w.Mode != countersign.ModeLive {
		wrong = web.Together(wrong, web.Invalid("mode", "choose one"))
	}
	m, err := v.Control.Model(v.R.Context(), v.Actor, w.ModelID)
	if w.ModelRevision = m.Revision; w.ModelID != "" && err != nil {
		wrong = web.Together(wrong, web.Invalid("modelId", "there is no model %s", w.ModelID))
	}
	return w, web.Together(v.Chosen("name", "modelId", "mode"), wrong)
}

// planByForm edits the form's rows, shows it as JSON, or stores the plan.
func planByForm(v *web.Request) (string, error) {
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.CreatePlan, "plan"); err != nil {
		return "", err
	}
	f, err := typedPlanSteps(v)
	if err != nil {
		return "", err
	}
	again := func(err error) (*web.Page, error) { return planForm(v, f, err) }
	if f.Edit() || v.Form("do") != "store" {
		return "", web.ShownAgain(again)
	}
	w, err := typedPlan(v, f)
	if err != nil {
		return "", web.FormAgain(err, again)
	}
	p, err := runs.StorePlan(v, w)
	if err != nil {
		return "", web.FormAgain(err, again)
	}
	return steps.PlanHref(p.ID), nil
}
