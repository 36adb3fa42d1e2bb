package models

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Compiling takes two steps, so that it works without JavaScript: the address first
// says which capability carries out each action; then the form, with the fields of
// those capabilities, says what is sent and what the response must be.

type compileData struct {
	countersign.Model
	Scenarios []web.Option
	Scenario  string
	Problem   *web.Problem
	Actions   []bindingForm
	Groups    []capabilityGroup
	Kept      []web.Kept // hidden fields: the inputs given in the address
	Name      string
	Mode      string
	Chosen    bool   // every action has a capability
	From      string // the plan that prefills the form
	earlier   earlierPlan
}

// capabilityGroup is a project and its capabilities.
type capabilityGroup struct {
	Project      countersign.Project
	Capabilities []web.Option
}

func compilePage(v *web.Request) (*web.Page, error) {
	if err := access.Allow(v.Actor.Principal, access.CompilePlan); err != nil {
		return nil, err
	}
	d, err := compiling(v, v.R.URL.Query())
	if err != nil {
		return nil, err
	}
	for i := range d.Actions {
		d.Actions[i].prefill(d)
	}
	return d.page(), nil
}

func (d *compileData) page() *web.Page {
	return &web.Page{Name: "model-compile", Title: "Compile a plan", Nav: "models", Crumbs: modelCrumbs(d.Model, "Compile a plan"), Data: d, Status: d.Problem.Status()}
}

// compiling reads the form, from the address or the body, and simulates the scenario.
func compiling(v *web.Request, form url.Values) (*compileData, error) {
	m, err := v.Control.Model(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := &compileData{Model: m, Name: form.Get("name"), Mode: cmp.Or(form.Get("mode"), countersign.ModeDryRun)}
	d.choose(form.Get("scenario"))
	inputs := overridesIn(form)
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		d.Kept = append(d.Kept, web.Kept{Name: name, Text: inputs.Get(name)})
	}
	if d.Groups, err = capabilityGroups(v); err != nil {
		return nil, err
	}
	if err := loadEarlierPlan(v, d, form.Get("from")); err != nil {
		return nil, err
	}
	return d, actionsOf(v, d, inputs, form)
}

// choose selects the requested scenario, or the first.
func (d *compileData) choose(id string) {
	for i, s := range d.Document.Scenarios {
		here := s.ID == id || id == "" && i == 0
		if here {
			d.Scenario = s.ID
		}
		d.Scenarios = append(d.Scenarios, web.Option{Value: s.ID, Word: cmp.Or(s.Name, s.ID), Here: here})
	}
	d.Scenario = cmp.Or(d.Scenario, id)
}

// actionsOf simulates the scenario and makes a form for each action on its path.
func actionsOf(v *web.Request, d *compileData, inputs url.Values, form url.Values) error {
	given, ok := givenIn(inputs, d.Document)
	if !ok {
		d.Problem = notJSON
		return nil
	}
	sim, err := v.Control.Simulate(v.R.Context(), v.Actor, d.ID, countersign.SimulationRequest{ScenarioID: d.Scenario, Inputs: given.values()})
	if err != nil {
		if d.Problem = web.Refusal(err, "The scenario can't be simulated with these inputs."); d.Problem == nil {
			return err
		}
		return nil
	}
	d.Chosen = true
	for _, taken := range sim.Trace {
		known := slices.ContainsFunc(d.Actions, func(b bindingForm) bool { return b.Action.ID == taken.ActionID })
		if taken.ActionID == "" || known {
			continue
		}
		b := bindingOf(d, taken.ActionID, form)
		d.Chosen = d.Chosen && b.Capability != nil
		d.Actions = append(d.Actions, b)
	}
	d.Chosen = d.Chosen && len(d.Actions) > 0
	if !sim.Passed {
		d.Problem = &web.Problem{Sentence: "This scenario does not pass.", Detail: "A plan that is compiled from it is stored as INVALID.", Code: countersign.CodeExpectationNotMet}
	}
	return nil
}

// capabilityGroups are those of the projects that the visitor may use. Only one page of
// projects is offered; with more, compile through the API.
func capabilityGroups(v *web.Request) ([]capabilityGroup, error) {
	found, err := v.Control.Projects(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit})
	if err != nil {
		return nil, err
	}
	groups := make([]capabilityGroup, len(found.Items))
	for i, p := range found.Items {
		groups[i].Project = p
		for _, c := range p.Capabilities {
			groups[i].Capabilities = append(groups[i].Capabilities, web.Option{Value: p.ID + "/" + c.Name, Word: c.Name + ": " + c.Method + " " + c.Path})
		}
	}
	return groups, nil
}

// find returns the project and the capability that project/capability names; no project
// ID contains a slash.
func (d *compileData) find(chosen string) (*countersign.Project, *countersign.Capability) {
	project, name, _ := strings.Cut(chosen, "/")
	for i := range d.Groups {
		if p := &d.Groups[i].Project; p.ID == project {
			return p, p.Capability(name)
		}
	}
	return nil, nil
}

// compile makes the plan. A form that can't be parsed is shown again; a model or
// scenario with errors makes an INVALID plan.
func compile(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.CompilePlan, "model/"+id); err != nil {
		return "", err
	}
	d, err := compiling(v, v.R.PostForm)
	if err != nil {
		return "", err
	}
	req, ok := d.request(v.R.PostForm)
	if !ok {
		d.Problem = &web.Problem{Sentence: "Nothing was compiled: " + text.Plural(d.wrong(), "field", "fields") + " can't be read. Your text is kept.", Code: countersign.CodeInvalidRequest}
		return "", d.page()
	}
	made, err := v.Control.CompilePlan(v.R.Context(), v.Actor, id, req)
	if p := web.Refusal(err, "Nothing was compiled. Your text is kept."); p != nil {
		d.Problem = p
		return "", d.page()
	}
	return steps.PlanHref(made.ID), err
}

// request is the compile request of the form; ok is false if a field can't be parsed.
func (d *compileData) request(form url.Values) (req countersign.CompileRequest, ok bool) {
	given, ok := givenIn(overridesIn(form), d.Document)
	req = countersign.CompileRequest{
		ScenarioID: d.Scenario, Name: strings.TrimSpace(d.Name), Mode: d.Mode, Inputs: given.values(),
		ActionBindings: map[string]countersign.ActionBinding{},
	}
	for i := range d.Actions {
		b := &d.Actions[i]
		if binding, read := b.binding(); read {
			req.ActionBindings[b.Action.ID] = binding
		}
		ok = ok && len(b.Errs) == 0
	}
	return req, ok && (d.Mode == countersign.ModeDryRun || d.Mode == countersign.ModeLive)
}

func (d *compileData) wrong() int {
	n := 0
	for _, b := range d.Actions {
		n += len(b.Errs)
	}
	return n
}

func (d *compileData) Live() bool { return d.Mode == countersign.ModeLive }

func fieldID(i int, name string) string { return "a" + strconv.Itoa(i) + "-" + name }
