package runs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Running an ended run again with other inputs: they stand in a form by field, what was
// changed is shown before anything starts, and the new run has a key of its own.

type againData struct {
	Run      *countersign.Run
	Title    string
	Steps    []againStep
	Warnings []string // what the earlier run did, or may have done
	Reason   form.Field
	Key      string // of the new run
	Back     string // address of the run

	// Reviewed is the digest of the inputs whose changes are shown, "" before the review.
	Reviewed string
	Changes  drawn.Alterations
	Problem  *web.Problem
}

type againStep struct {
	N          int
	Name       string
	Capability string
	Fields     []form.Field
	Given      []steps.TeamInput // inputs that nobody types: fixed or bound
	Suggested  bool              // the fields have what an approver suggested
}

// againOf is an ended run with what a new one is made of.
type againOf struct {
	run          *countersign.Run
	plan         *countersign.Plan
	capabilities []*countersign.Capability // by step, of the present projects
	was          map[string]map[string]countersign.Value
}

// mayStartAgain says whether the visitor may start a run of the kind.
func mayStartAgain(v *web.Request, r *countersign.Run) error {
	op := access.StartRun
	p := r.PlanSnapshot
	switch {
	case p == nil:
	case p.Team != nil:
		op = access.StartTeamRun
	case len(p.Agents) > 0:
		op = access.StartAgentRun
	case p.ModelID == "":
		op = access.StartProjectRun
	default:
		if err := v.May(access.CreatePlan); err != nil {
			return err
		}
	}
	return v.May(op)
}

func runAgainPage(v *web.Request) (*web.Page, error) {
	a, err := readAgain(v)
	if err != nil {
		return nil, err
	}
	return againForm(v, a, nil, nil)
}

func readAgain(v *web.Request) (*againOf, error) {
	r, err := v.Control.Run(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := mayStartAgain(v, &r); err != nil {
		return nil, err
	}
	if !r.Status.IsTerminal() {
		return nil, countersign.Errorf(countersign.CodeStateConflict, "run %s has not ended; cancel it first, or wait", r.ID)
	}
	a := &againOf{run: &r, plan: r.PlanSnapshot, was: plan.Inputs(r.PlanSnapshot)}
	for i := range a.plan.Steps {
		s := &a.plan.Steps[i]
		p, err := v.Control.Project(v.R.Context(), v.Actor, s.ProjectID)
		if err != nil {
			return nil, err
		}
		c := p.Capability(s.Capability)
		if c == nil {
			return nil, countersign.Errorf(countersign.CodeStateConflict, "project %s no longer has the capability %s", p.ID, s.Capability)
		}
		a.capabilities = append(a.capabilities, c)
	}
	return a, nil
}

func againField(i int) string { return "steps[" + strconv.Itoa(i) + "].input" }

// notTyped are the inputs of a step that a manifest fixes or an earlier step brings.
func (a *againOf) notTyped(i int) map[string]countersign.Value {
	s := &a.plan.Steps[i]
	out := maps.Clone(plan.Fixed(a.plan, s))
	if out == nil {
		out = map[string]countersign.Value{}
	}
	for name := range s.InputBindings {
		out[name] = countersign.Value{}
	}
	return out
}

// againForm shows the form: after a review with what was typed and its changes.
func againForm(v *web.Request, a *againOf, typed map[string]map[string]countersign.Value, err error) (*web.Page, error) {
	r := a.run
	s := form.Of(v, err, "")
	d := againData{Run: r, Title: cmp.Or(a.plan.Name, r.ID), Warnings: doneBefore(r), Key: form.StartKey(v, err), Back: web.Prefix + "/runs/" + r.ID}
	suggested, unread := suggestedFor(v, a)
	if unread != nil {
		return nil, unread
	}
	for i := range a.plan.Steps {
		d.Steps = append(d.Steps, a.step(s, i, suggested))
	}
	d.Reason = s.Area("reason", "Why again", "Shown to whoever approves it, and kept in the audit log with your name.", "", 2)
	d.Reason.Required = r.Mode == countersign.ModeLive
	d.Problem = s.Problem()
	if typed != nil {
		d.Reviewed, d.Changes = digestOf(typed), a.changes(typed)
	}
	return &web.Page{
		Name: "run-again", Title: "Run again: " + d.Title, Nav: "runs", Data: d,
		Crumbs: []web.Crumb{{Word: "Runs", Href: "/runs"}, {Word: r.ID, Href: "/runs/" + r.ID, ID: true}, {Word: "Run again"}},
	}, nil
}

func (a *againOf) step(s *form.Form, i int, suggested map[string]map[string]countersign.Value) againStep {
	step := &a.plan.Steps[i]
	out := againStep{N: i + 1, Name: cmp.Or(step.Name, step.ID), Capability: step.Capability}
	stored := a.was[step.ID]
	if other := suggested[step.ID]; other != nil {
		stored, out.Suggested = other, true
	}
	out.Fields = s.InputsAt(againField(i), a.capabilities[i], a.notTyped(i), stored)
	out.Given = steps.FixedInputs(plan.Fixed(a.plan, step))
	for _, name := range slices.Sorted(maps.Keys(step.InputBindings)) {
		b := step.InputBindings[name]
		out.Given = append(out.Given, steps.TeamInput{Name: name, From: "from " + b.StepID + "." + b.Field})
	}
	return out
}

// suggestedFor is what whoever rejected the run's approval would approve instead, by the
// step that it was for.
func suggestedFor(v *web.Request, a *againOf) (map[string]map[string]countersign.Value, error) {
	suggested, err := v.Control.SuggestedInput(v.R.Context(), v.Actor, a.run.ID)
	if err != nil || suggested == nil {
		return nil, err
	}
	for i := range a.run.Steps {
		if a.run.Steps[i].ApprovalID == a.run.ApprovalID && i < len(a.plan.Steps) {
			suggested = maps.Clone(suggested)
			given := a.notTyped(i)
			maps.DeleteFunc(suggested, func(name string, _ countersign.Value) bool { _, is := given[name]; return is })
			return map[string]map[string]countersign.Value{a.run.Steps[i].ID: suggested}, nil
		}
	}
	return nil, nil
}

// doneBefore warns of what a LIVE run did or may have done: the new run does it again.
func doneBefore(r *countersign.Run) (out []string) {
	if r.Mode != countersign.ModeLive {
		return nil
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.SideEffect {
			continue
		}
		switch {
		case s.Status == countersign.StepCompleted:
			out = append(out, text.StepTitle(r, i)+" was completed in that run. A new run does it again.")
		case s.MayHaveHappened, s.Status == countersign.StepAbandoned:
			out = append(out, text.StepTitle(r, i)+" may have taken effect in that run. Check at "+text.HostOf(s)+" before you run it again.")
		}
	}
	return out
}

// typed reads every step's inputs from the form.
func typedAgain(v *web.Request, a *againOf) (map[string]map[string]countersign.Value, error) {
	out := map[string]map[string]countersign.Value{}
	var wrong []error
	for i := range a.plan.Steps {
		inputs, err := form.TypedInputsAt(v, againField(i), a.capabilities[i], a.notTyped(i))
		out[a.plan.Steps[i].ID] = inputs
		wrong = append(wrong, err)
	}
	if a.run.Mode == countersign.ModeLive {
		wrong = append(wrong, web.TypedReason(v.Form("reason")))
	}
	return out, web.Together(wrong...)
}

func (a *againOf) changes(typed map[string]map[string]countersign.Value) drawn.Alterations {
	var out drawn.Alterations
	for i := range a.plan.Steps {
		id, within := a.plan.Steps[i].ID, ""
		if len(a.plan.Steps) > 1 {
			within = id
		}
		out.Members(within, a.was[id], typed[id])
	}
	return out
}

func digestOf(typed map[string]map[string]countersign.Value) string {
	return countersign.SHA256Hex([]byte(text.RawOf(typed)))
}

// runAgain reviews what was typed, and starts what was reviewed.
func runAgain(v *web.Request) (string, error) {
	a, err := readAgain(v)
	if err != nil {
		return "", err
	}
	again := func(err error) (*web.Page, error) { return againForm(v, a, nil, err) }
	typed, err := typedAgain(v, a)
	if err != nil {
		return "", web.FormAgain(err, again)
	}
	if v.Form("do") != "start" || v.Form("reviewed") != digestOf(typed) {
		p, err := againForm(v, a, typed, nil)
		if err != nil {
			return "", err
		}
		return "", p
	}
	run, err := startAgain(v, a, typed)
	if err != nil {
		return "", web.FormAgain(err, again)
	}
	return "/runs/" + run, nil
}

func startAgain(v *web.Request, a *againOf, typed map[string]map[string]countersign.Value) (string, error) {
	key := form.StartKey(v, nil)
	if !countersign.ValidID(key) || len(key) > 100 {
		return "", countersign.Errorf(countersign.CodeIdempotencyKeyRequired, "the form has no key; open the page again")
	}
	revision, err := presentRevision(v, a.plan)
	if err != nil {
		return "", err
	}
	reason := v.Form("reason")
	start := plan.OfRun(a.plan, typed, revision, reason)
	switch {
	case start.Team != nil:
		started, err := v.Control.StartTeamRun(v.R.Context(), v.Actor, start.ID, *start.Team, key)
		return started.Run.ID, err
	case start.Agent != nil:
		started, err := v.Control.StartAgentRun(v.R.Context(), v.Actor, start.ID, *start.Agent, key)
		return started.Run.ID, atFirstStep(err)
	case start.Call != nil:
		started, err := v.Control.StartProjectRun(v.R.Context(), v.Actor, start.ID, *start.Call, key)
		return started.Run.ID, atFirstStep(err)
	}
	return startPlanAgain(v, *start.Plan, key, reason)
}

// atFirstStep gives the problems of one call's inputs the names that this form has.
func atFirstStep(err error) error {
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		return err
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.ReplaceAll(web.ProblemMessage(err), "inputs.", againField(0)+"."))
}

func presentRevision(v *web.Request, p *countersign.Plan) (int64, error) {
	switch ctx := v.R.Context(); {
	case p.Team != nil:
		t, err := v.Control.Team(ctx, v.Actor, p.Team.ID)
		return t.Revision, err
	case len(p.Agents) > 0:
		a, err := v.Control.Agent(ctx, v.Actor, p.Agents[0].ID)
		return a.Revision, err
	case p.ModelID == "":
		return 0, nil
	default:
		m, err := v.Control.Model(ctx, v.Actor, p.ModelID)
		return m.Revision, err
	}
}

// startPlanAgain stores the changed plan and starts it. The plan's id comes from the key,
// so that the same form sent twice makes one plan and one run.
func startPlanAgain(v *web.Request, w countersign.PlanWrite, key, reason string) (string, error) {
	w.ID = "plan-of-" + key
	p, err := StorePlan(v, w)
	if err != nil {
		return "", err
	}
	started, err := v.Control.StartRun(v.R.Context(), v.Actor, countersign.RunStart{PlanID: p.ID, Reason: reason}, key)
	return started.Run.ID, err
}

// problemsOf are those that would make the plan INVALID; such a plan isn't stored.
func problemsOf(v *web.Request, w countersign.PlanWrite) ([]string, error) {
	m, err := v.Control.Model(v.R.Context(), v.Actor, w.ModelID)
	if err != nil {
		return nil, err
	}
	of := plan.Sources{Model: &m, Projects: map[string]plan.Source{}}
	for _, s := range w.Steps {
		p, err := v.Control.Project(v.R.Context(), v.Actor, s.ProjectID)
		if err != nil {
			return nil, err
		}
		of.Projects[s.ProjectID] = plan.Source{Project: &p, InScope: true}
	}
	return plan.New(w, of, nil, plan.Creation{}).ValidationErrors, nil
}

// StorePlan stores a plan that is READY, and no other.
func StorePlan(v *web.Request, w countersign.PlanWrite) (p countersign.Plan, err error) {
	problems, err := problemsOf(v, w)
	if err != nil {
		return p, err
	}
	if len(problems) > 0 {
		return p, countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(problems, "; "))
	}
	p, err = v.Control.CreatePlan(v.R.Context(), v.Actor, w)
	if err == nil && p.Status != countersign.PlanReady {
		err = countersign.Errorf(countersign.CodePlanInvalid, "%s", strings.Join(p.ValidationErrors, "; "))
	}
	return p, err
}
