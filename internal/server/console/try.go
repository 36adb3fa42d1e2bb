package console

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// Trying a capability makes a DRY_RUN plan of one step and runs it. A plan belongs to a
// model (contract 5), so the form asks for one.

type tryData struct {
	Project    countersign.Project
	Capability countersign.Capability
	Key        string // makes one plan and one run, however often the form is sent
	Fields     []field
	Models     bool
	Problem    *problem
}

func tryPage(v *pageRequest) (*page, error) { return v.tryAgain(nil) }

// toTry reads the capability in the address if the visitor may try it.
func (v *pageRequest) toTry() (p countersign.Project, c *countersign.Capability, err error) {
	for _, op := range []access.Operation{access.CreatePlan, access.StartRun} {
		if err := v.may(op); err != nil {
			return p, nil, err
		}
	}
	if p, err = v.control.Project(v.r.Context(), v.actor, v.r.PathValue("id")); err != nil {
		return p, nil, err
	}
	if c = p.Capability(v.query("capability")); c == nil {
		return p, nil, countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.query("capability"))
	}
	return p, c, nil
}

// tryAgain shows the form; a refused one gets a new key, because its plan may have been
// stored.
func (v *pageRequest) tryAgain(err error) (*page, error) {
	p, c, unread := v.toTry()
	if unread != nil {
		return nil, unread
	}
	models, unread := v.usableModels()
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(err, "")
	d := tryData{Project: p, Capability: *c, Key: v.cfg.NewID("try"), Fields: s.inputs(c, nil), Models: len(models) > 0}
	if d.Models {
		model := must(s.choose("select", "model", "Model", "A plan belongs to a model; nothing of it is carried out here.", "", models...))
		d.Fields = append(d.Fields, model)
	}
	d.Problem = s.problem()
	return &page{name: "try", Title: "Try " + c.Name, Nav: "projects", Crumbs: projectCrumbs(p.ID, crumb{Word: "Try " + c.Name}), Data: d}, nil
}

// usableModels are the models that aren't suspended.
func (v *pageRequest) usableModels() ([]choice, error) {
	list, err := v.control.Models(v.r.Context(), v.actor, control.List{Limit: 200})
	if err != nil {
		return nil, err
	}
	var out []choice
	for _, m := range list.Items {
		if !m.Suspended {
			out = append(out, choice{Value: m.ID, Word: m.ID})
		}
	}
	if len(out) > 1 {
		out = append([]choice{{Word: "choose"}}, out...)
	}
	return out, nil
}

func tryCapability(v *pageRequest) (string, error) {
	p, c, err := v.toTry()
	if err != nil {
		return "", err
	}
	run, err := v.rehearse(p, c)
	if err == nil {
		return "/runs/" + run, nil
	}
	return "", formAgain(err, v.tryAgain)
}

func (v *pageRequest) rehearse(p countersign.Project, c *countersign.Capability) (runID string, err error) {
	input, err := v.typedInputs(c, nil)
	if err := together(err, v.chosen("model")); err != nil {
		return "", err
	}
	m, err := v.control.Model(v.r.Context(), v.actor, v.form("model"))
	if err != nil {
		return "", err
	}
	plan, err := v.control.CreatePlan(v.r.Context(), v.actor, countersign.PlanWrite{
		ID: v.form("key"), Name: "Try " + c.Name, ModelID: m.ID, ModelRevision: m.Revision, Mode: countersign.ModeDryRun,
		Steps: []countersign.Step{{ID: "try", Name: c.Name, ProjectID: p.ID, Capability: c.Name, Input: input}},
	})
	if err != nil {
		return "", err
	}
	if plan.Status != countersign.PlanReady {
		problems := make([]string, len(plan.ValidationErrors))
		for i, e := range plan.ValidationErrors {
			problems[i] = strings.TrimPrefix(e, "steps[0].")
		}
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(problems, "; "))
	}
	started, err := v.control.StartRun(v.r.Context(), v.actor, plan.ID, v.form("key"))
	return started.Run.ID, err
}
