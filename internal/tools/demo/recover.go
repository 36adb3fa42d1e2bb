package demo

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
)

// settle does what a person does after an uncertain side effect: the reviewer asks the shop,
// reads its answer, and resolves the step.
func (d *demo) settle(ctx context.Context, r countersign.Run) error {
	s := stepOf(r, r.WaitingFor.StepID)
	d.print.say("It may or may not have happened. Nothing is sent again until a person says what did.")
	probed, err := d.reviewer.ProbeRun(ctx, r.ID, s.ID)
	if err != nil {
		return err
	}
	s = stepOf(*probed, s.ID)
	probe := s.Probes[len(s.Probes)-1]
	d.print.row("probe", "%s %s", probe.Request.Method, probe.Request.URL)
	if probe.Output.IsZero() {
		return fmt.Errorf("the shop doesn't say what happened: %s", probe.Error)
	}
	d.print.block(probe.Output)
	found := judge(probe, s, expectationOf(r, s.ID))
	if _, err := d.reviewer.ReconcileRun(ctx, r.ID, found); err != nil {
		return err
	}
	d.print.row("reconciled", "%s by %s", found.Resolution, d.place.kept.Reviewer.Email)
	d.print.row("", "%q", found.Evidence)
	return nil
}

// judge searches the shop's answer for what was made under the step's key. Only a result that
// meets the expectation counts as done.
func judge(probe countersign.ProbeRecord, s countersign.StepRun, e countersign.Expectation) countersign.Reconcile {
	made, found := madeUnder(probe.Output, s.IdempotencyKey)
	state, _ := made.Lookup(e.Field)
	switch {
	case found && state.Equal(e.Equals):
		output, _ := made.Object()
		return countersign.Reconcile{Resolution: countersign.ConfirmedCompleted, Output: output, Evidence: fmt.Sprintf(
			"probe %d shows it: made under key %s, %s %s", probe.N, s.IdempotencyKey, e.Field, state.Text())}
	case found:
		return countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: fmt.Sprintf(
			"probe %d shows it under key %s, but not done: %s %s", probe.N, s.IdempotencyKey, e.Field, state.Text())}
	default:
		return countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: fmt.Sprintf(
			"probe %d shows nothing made under key %s", probe.N, s.IdempotencyKey)}
	}
}

// madeUnder finds what was made under the key, in the shop's answer or in the refunds that it
// lists.
func madeUnder(answer countersign.Value, key string) (countersign.Value, bool) {
	candidates := []countersign.Value{answer}
	if list, ok := answer.Lookup("refunds"); ok {
		refunds, _ := list.Array()
		candidates = append(candidates, refunds...)
	}
	for _, c := range candidates {
		if under, ok := c.Lookup("key"); ok && under.Text() == key {
			return c, true
		}
	}
	return countersign.Value{}, false
}

func expectationOf(r countersign.Run, stepID string) countersign.Expectation {
	if s := r.PlanSnapshot.Step(stepID); s != nil && s.Expectation != nil {
		return *s.Expectation
	}
	return countersign.Expectation{}
}
