package demo

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

// refund runs the plan LIVE: a read, an approved side effect and an idempotent one.
func (d *demo) refund(ctx context.Context) (err error) {
	d.refundRun, err = d.live(ctx, runOf(d.plans.live.ID, "demo-refund-live"))
	if err != nil {
		return err
	}
	if left := neverDone(d.refundRun); left != nil {
		return d.notifyAlone(ctx, *left)
	}
	d.showEnd("the refund's run", d.refundRun)
	return nil
}

// notifyAlone does what a run has left undone whose refund is made: a second run of the plan would
// refund the order again.
func (d *demo) notifyAlone(ctx context.Context, left countersign.StepRun) error {
	d.print.say("The refund is made, so what is left is done in a run of its own.")
	r, err := d.live(ctx, func(ctx context.Context, c caller, n int) (*client.Started, error) {
		return c.StartProjectRun(ctx, demoProject, countersign.ProjectRunStart{
			Capability: left.Capability, Mode: countersign.ModeLive, Inputs: left.Input,
			Expectation: d.plans.live.Step(left.ID).Expectation,
		}, keyOf("demo-notify", n))
	})
	if err == nil {
		d.showEnd("the run that tells the customer", r)
	}
	return err
}

// showEnd prints how a run ended that should complete.
func (d *demo) showEnd(which string, r countersign.Run) {
	d.holds(r.Status == countersign.RunCompleted, "%s completes; it is %s", which, r.Status)
	if r.Status == countersign.RunCompleted {
		d.print.say("Completed. %d of %d steps are verified.", len(r.Steps)-r.UnverifiedSteps, len(r.Steps))
	} else {
		d.print.say("The run is %s: %s", r.Status, d.named(countersign.CancelledWords(r.Error, d.named)))
	}
}

// catchLie runs the plan whose capability answers 200 without having done anything.
func (d *demo) catchLie(ctx context.Context) (err error) {
	if d.plans.closing, err = d.compile(ctx, closingName, sample.CloseReturnedGoods, countersign.ModeLive); err != nil {
		return err
	}
	d.closingRun, err = d.live(ctx, runOf(d.plans.closing.ID, "demo-close-return"))
	if err != nil {
		return err
	}
	s := stepOf(d.closingRun, sample.ActionCloseReturn)
	caught := d.closingRun.Status == countersign.RunFailed && s.Error != nil && s.Error.Code == countersign.CodeExpectationNotMet
	d.holds(caught, "the lying answer fails its run; it is %s (%s)", d.closingRun.Status, d.named(d.closingRun.Error))
	if !caught || s.Response == nil || s.Verification == nil {
		return nil
	}
	d.print.say("The shop answered %d. The answer says %s, not %s; so the run failed.",
		s.Response.StatusCode, s.Verification.Actual.Text(), s.Verification.Expected.Text())
	d.print.say("%s: the return is looked at before anybody is told that it is closed.", s.Error.Code)
	return nil
}

// mostTries bounds how many runs are started for one purpose.
const mostTries = 5

// live starts a run, or finds that of an earlier demo, and follows it to its end. A step that the
// shop never saw, or of which a person says that it didn't happen, is never sent a second time
// under its key: it is another run that does it.
func (d *demo) live(ctx context.Context, o order) (r countersign.Run, err error) {
	for n := range mostTries {
		if r, err = d.liveOnce(ctx, o, n); err != nil || neverDone(r) == nil || hasActed(r) {
			return r, err
		}
		d.print.say("Nothing is sent a second time under one key, so a new run does it.")
	}
	return r, nil
}

// neverDone is the step of a failed run that didn't happen, nil for none.
func neverDone(r countersign.Run) *countersign.StepRun {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Error != nil && (s.Error.Code == countersign.CodeNotExecuted || s.Error.Code == countersign.CodeWithdrawn) {
			return s
		}
	}
	return nil
}

func hasActed(r countersign.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool { return s.SideEffect && s.Status == countersign.StepCompleted })
}

func (d *demo) liveOnce(ctx context.Context, o order, n int) (countersign.Run, error) {
	r, err := o(ctx, d.operator, n)
	if err != nil {
		return countersign.Run{}, err
	}
	d.print.row("run", "%s", r.ID)
	if r.Replayed {
		d.print.say("It was started before, under the same key: this is that run, and no second one.")
	}
	return d.follow(ctx, r.ID)
}

// follow prints a run's steps as they end, and does what a person must do when the run waits,
// until the run has ended.
func (d *demo) follow(ctx context.Context, runID string) (countersign.Run, error) {
	for {
		r, err := d.watch(ctx, runID)
		switch {
		case err != nil:
			return r, err
		case r.Status.IsTerminal():
			return r, nil
		case r.WaitingFor.Kind == countersign.WaitApproval:
			err = d.decide(ctx, r)
		default:
			err = d.settle(ctx, r)
		}
		if err != nil {
			return r, err
		}
	}
}

// watch prints a run's steps as they end, until the run has ended or waits for a person. It
// returns the run as it is then.
func (d *demo) watch(ctx context.Context, runID string) (r countersign.Run, err error) {
	for changed, err := range d.operator.WatchRun(ctx, runID) {
		if err == nil && !standsStill(changed) && !d.hasNews(changed) {
			continue
		}
		if err != nil {
			return r, err
		}
		now, err := d.operator.Run(ctx, runID)
		if err != nil {
			return r, err
		}
		r = *now
		d.showSteps(r)
		if standsStill(r) {
			break
		}
	}
	return r, nil
}

// standsStill reports whether a run has ended or waits for a person.
func standsStill(r countersign.Run) bool {
	return r.Status.IsTerminal() || r.WaitingFor != nil && r.WaitingFor.Kind != countersign.WaitSlot
}

func stepOf(r countersign.Run, id string) countersign.StepRun {
	for _, s := range r.Steps {
		if s.ID == id {
			return s
		}
	}
	return countersign.StepRun{}
}
