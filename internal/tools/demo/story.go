package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

// demoProject is the id of the shop's project.
const demoProject = countersign.DefaultTenant + "-shop"

// tell plays the story chapter by chapter. Each chapter first looks for the results of an
// earlier demo, so that a demo that was killed at any point continues from there.
func (d *demo) tell(ctx context.Context) error {
	d.print.line("countersign %s, a demonstration", d.wiring.Version)
	d.print.line("An agent wants to refund a returned order. Countersign executes it, under control.")
	for _, chapter := range []struct {
		title string
		tell  func(context.Context) error
	}{
		{"The parts, all of them on this machine", d.showParts},
		{"An administrator registers the shop", d.register},
		{"The operator stores the agent's model", d.storeModel},
		{"A plan is compiled from a scenario", d.plan},
		{"Rehearsal (DRY_RUN)", d.rehearse},
		{"The run (LIVE)", d.refund},
		{"An answer that lies (LIVE)", d.catchLie},
		{"A reply that is lost (LIVE)", d.loseReply},
		{"A balance that changes before the call leaves (LIVE)", d.payOut},
		{"Two agents of the shop", d.prepareAgents},
		{"The agents as a team (LIVE)", d.teamRefund},
		{"The evidence", d.evidence},
		{"The receipt", d.receipt},
	} {
		d.print.begin(chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return err
		}
	}
	return d.conclude()
}

func (d *demo) showParts(context.Context) error {
	d.print.row("service", "%s%s", d.service.Address, d.wiring.API)
	d.print.row("shop", "%s, a separate API that takes signed calls only", d.shop.URL())
	if d.place.temporary {
		d.print.row("store", "temporary; --store DIR keeps it")
	} else {
		d.print.row("store", "%s", d.place.file(StoreDir))
	}
	return nil
}

// register makes the project usable for LIVE runs, and creates the two identities.
func (d *demo) register(ctx context.Context) error {
	if err := d.registerProject(ctx); err != nil {
		return err
	}
	if err := d.createIdentities(ctx); err != nil {
		return err
	}
	d.print.row("operator", "%s, with a token for this project, asks for runs", d.place.kept.Operator.Email)
	d.print.row("reviewer", "%s, with another, decides them; nobody decides their own", d.place.kept.Reviewer.Email)
	return nil
}

func (d *demo) registerProject(ctx context.Context) (err error) {
	d.project, err = findOrSave(ctx, d.admin.Project, d.admin.SaveProject, demoProject, d.shopProject())
	if errors.Is(err, client.ErrUnauthenticated) {
		return fmt.Errorf("the store in %s doesn't know the demo's token, or it has expired; take another directory", d.place.dir)
	}
	if err != nil {
		return err
	}
	sideEffects := 0
	for _, c := range d.project.Capabilities {
		if c.HasSideEffect() {
			sideEffects++
		}
	}
	d.print.row("project", "%s, revision %d: %d reads, %d side effects, calls signed with HMAC",
		d.project.ID, d.project.Revision, len(d.project.Capabilities)-sideEffects, sideEffects)
	d.print.row("answer key", "%s", d.project.AnswerKeys[0])
	d.print.row("", "signs the shop's answers, also those to what became of a call")
	if !d.project.Enabled {
		err = d.enableProject(ctx)
	}
	if err == nil {
		d.print.row("enabled", "LIVE runs may use it")
	}
	return err
}

// shopProject registers the shop with the key that signs its answers.
func (d *demo) shopProject() countersign.ProjectWrite {
	return sample.Signing(sample.ShopProject(d.shop.URL(), shopSecretEnv), d.answerKey)
}

func (d *demo) enableProject(ctx context.Context) error {
	check, err := d.admin.CheckProjectHealth(ctx, demoProject)
	if err != nil {
		return err
	}
	if !check.Healthy {
		return fmt.Errorf("the shop is not healthy: %s", check.Error)
	}
	d.print.row("health check", "%d in %s", check.StatusCode, took(check.LatencyMs))
	enabled, err := d.admin.EnableProject(ctx, demoProject, countersign.Toggle{ExpectedRevision: d.project.Revision, Reason: "healthy"})
	if err == nil {
		d.project = *enabled
	}
	return err
}

// findOrSave reads the record of an id, or saves it.
func findOrSave[T, W any](ctx context.Context, find func(context.Context, string) (*T, error), save func(context.Context, string, W) (*T, error), id string, w W) (T, error) {
	found, err := find(ctx, id)
	if errors.Is(err, client.ErrNotFound) {
		found, err = save(ctx, id, w)
	}
	if err != nil {
		var none T
		return none, err
	}
	return *found, nil
}

func (d *demo) storeModel(ctx context.Context) (err error) {
	d.model, err = findOrSave(ctx, d.operator.Model, d.operator.SaveModel, sample.RefundModelID, countersign.ModelWrite{Document: sample.RefundModel()})
	if err != nil {
		return err
	}
	doc := d.model.Document
	d.print.row("model", "%s, revision %d: %d states, %d transitions, %d actions", d.model.ID, d.model.Revision, len(doc.States), len(doc.Transitions), len(doc.Actions))
	v, err := d.operator.ValidateModel(ctx, sample.RefundModelID)
	if err != nil {
		return err
	}
	d.holds(v.Valid, "the model is valid")
	d.print.row("validate", "%s, %s", count(len(v.Errors), "error", "errors"), count(len(v.Warnings), "warning", "warnings"))
	label := "simulate"
	for _, scenario := range doc.Scenarios {
		if err := d.simulate(ctx, label, scenario.ID); err != nil {
			return err
		}
		label = ""
	}
	return nil
}

func (d *demo) simulate(ctx context.Context, label, scenario string) error {
	sim, err := d.operator.SimulateModel(ctx, sample.RefundModelID, countersign.SimulationRequest{ScenarioID: scenario})
	if err != nil {
		return err
	}
	verdict := "passes"
	if !sim.Passed {
		verdict = "does not pass"
	}
	d.holds(sim.Passed, "scenario %s passes", scenario)
	d.print.row(label, "%-19s%s   %s", scenario, verdict, strings.Join(sim.Path, " > "))
	return nil
}

// conclude prints the result and where to look further.
func (d *demo) conclude() error {
	d.print.line("")
	if len(d.broke) > 0 {
		d.print.line("What does not hold:")
		for _, what := range d.broke {
			d.print.say("%s", what)
		}
		return nil
	}
	d.print.line("All of it holds.")
	switch {
	case d.Keep:
	case d.place.temporary:
		d.print.line("The temporary store is removed now; --keep leaves everything up, --store DIR keeps it.")
	default:
		d.print.line("It is kept in %s; the same command finds it all again.", d.place.dir)
	}
	return nil
}

// stayUp keeps everything running, so that the user can look at it from elsewhere.
func (d *demo) stayUp(ctx context.Context) {
	d.print.line("")
	d.print.line("Service and shop stay up until Ctrl-C. In the browser, as %s or %s:", d.place.kept.Operator.Email, d.place.kept.Reviewer.Email)
	d.print.say("%s%s/runs/%s", d.service.Address, d.wiring.Console, d.refundRun.ID)
	d.print.say("the code for signing in is then in %s", d.place.file(ServiceLog))
	d.print.line("Mara's token reads, for instance:")
	d.print.say(`curl -H "@%s" %s/runs/%s`, d.place.file(reviewerFile), d.reviewer.base, d.refundRun.ID)
	d.print.say(`curl -H "@%s" %s/approvals`, d.place.file(reviewerFile), d.reviewer.base)
	d.print.say("the API's description: %s/openapi.json", d.reviewer.base)
	<-ctx.Done()
}
