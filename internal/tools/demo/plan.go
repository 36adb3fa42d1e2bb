package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

// The ids of the demo's plans, or names where compiling chooses the id, and the keys of its
// runs. They are constant, so that a continued demo finds its plans and runs.
const (
	rehearsalPlan = "demo-refund-rehearsal"
	livePlan      = "demo-refund-live"
	refundName    = "Refund a returned order"
	closingName   = "Close a return"
)

// plan compiles the scenario and binds the inputs that the agent merely claims to outputs of
// the shop. It stores the plan twice: for the rehearsal and for the LIVE run.
func (d *demo) plan(ctx context.Context) error {
	compiled, err := d.compile(ctx, refundName, sample.ReturnedInTime, countersign.ModeDryRun)
	if err != nil {
		return err
	}
	d.print.row("compiled", "%s, %s from scenario %s", compiled.Status, count(len(compiled.Steps), "step", "steps"), sample.ReturnedInTime)
	claimed := compiled.Step(sample.ActionRefund).Input["amount"].Raw()
	w := countersign.PlanWrite{
		ID: rehearsalPlan, Name: refundName, ModelID: compiled.ModelID, ModelRevision: compiled.ModelRevision, ScenarioID: compiled.ScenarioID,
		PlanningInputs: compiled.PlanningInputs, Steps: sample.BindVerified(compiled.Steps), Mode: countersign.ModeDryRun,
	}
	if d.plans.rehearsal, err = d.post(ctx, w); err != nil {
		return err
	}
	w.ID, w.Mode = livePlan, countersign.ModeLive
	if d.plans.live, err = d.post(ctx, w); err != nil {
		return err
	}
	for _, s := range d.plans.live.Steps {
		d.showPlanned(s)
	}
	d.print.say("The agent was told EUR %s. That is not used: the verified order says what is paid.", claimed)
	d.print.row("plan digest", "%s", d.plans.live.PlanDigest)
	d.holds(d.plans.rehearsal.PlanDigest == d.plans.live.PlanDigest, "what is rehearsed is what runs")
	return nil
}

func (d *demo) showPlanned(s countersign.Step) {
	c := d.project.Capability(s.Capability)
	kind := "read"
	switch {
	case c.NeedsApproval():
		kind = "side effect, asks for approval"
	case c.HasSideEffect():
		kind = "side effect, can be repeated without harm"
	}
	d.print.row(s.ID, "%-5s%-26s%s", c.Method, c.Path, kind)
	for _, name := range slices.Sorted(maps.Keys(s.InputBindings)) {
		b := s.InputBindings[name]
		d.print.row("", "     %s comes from %s.%s, once that is verified", name, b.StepID, b.Field)
	}
}

// post stores a plan under its id, or finds the one that was stored.
func (d *demo) post(ctx context.Context, w countersign.PlanWrite) (countersign.Plan, error) {
	return ready(d.operator.CreatePlan(ctx, w))
}

func ready(p *countersign.Plan, err error) (countersign.Plan, error) {
	if err != nil {
		return countersign.Plan{}, err
	}
	if p.Status != countersign.PlanReady {
		return *p, fmt.Errorf("plan %s is %s: %s", p.ID, p.Status, strings.Join(p.ValidationErrors, "; "))
	}
	return *p, nil
}

// compile compiles a scenario to a plan, or finds the one that was compiled.
func (d *demo) compile(ctx context.Context, name, scenario, mode string) (countersign.Plan, error) {
	for p, err := range d.operator.AllPlans(ctx, client.PlanFilter{ModelID: d.model.ID, Status: countersign.PlanReady}) {
		if err != nil {
			return countersign.Plan{}, err
		}
		if p.Name == name && p.ID != rehearsalPlan && p.ID != livePlan {
			return p, nil
		}
	}
	return ready(d.operator.CompilePlan(ctx, d.model.ID, countersign.CompileRequest{
		ScenarioID: scenario, ActionBindings: sample.Bindings(demoProject), Name: name, Mode: mode,
	}))
}

// rehearse runs the plan without sending anything, and checks that in the shop's log.
func (d *demo) rehearse(ctx context.Context) error {
	started, err := runOf(d.plans.rehearsal.ID, "demo-refund-rehearsal")(ctx, d.operator, 0)
	if err != nil {
		return err
	}
	r, err := d.follow(ctx, started.ID)
	if err != nil {
		return err
	}
	asking := 0
	for _, s := range r.Steps {
		if s.ApprovalRequired {
			asking++
		}
	}
	received := len(d.receivedOf(r.ID))
	d.holds(r.Status == countersign.RunCompleted, "the rehearsal completes")
	d.holds(received == 0, "the shop receives nothing of the rehearsal")
	d.print.row("shop's log", "%s of %s", count(received, "request", "requests"), r.ID)
	d.print.say("Rehearsed. Nothing was sent; %s will ask for approval.", count(asking, "step", "steps"))
	return nil
}

// receivedOf lists the requests of a run in the shop's own log.
func (d *demo) receivedOf(runID string) (of []sample.Entry) {
	for _, e := range d.shop.Received() {
		if e.RunID == runID {
			of = append(of, e)
		}
	}
	return of
}
