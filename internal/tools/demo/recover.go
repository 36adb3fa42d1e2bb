package demo

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
)

// settle waits after an uncertain side effect until the shop's signed word has settled it. Where
// the shop says nothing that does, a person resolves it.
func (d *demo) settle(ctx context.Context, r countersign.Run) error {
	stepID := r.WaitingFor.StepID
	d.print.say("It may or may not have happened. Nothing is sent again: the service asks the shop.")
	s, err := d.awaitWord(ctx, r.ID, stepID)
	if err != nil || s.Status != countersign.StepRecoveryRequired {
		d.showSettled(s)
		return err
	}
	return d.resolveByPerson(ctx, r, s)
}

// resolveByPerson does what a person does whom the shop's word leaves in doubt: the reviewer asks
// the shop, reads its answer, and resolves the step. Without a person the demo resolves as the
// reviewer.
func (d *demo) resolveByPerson(ctx context.Context, r countersign.Run, s countersign.StepRun) error {
	d.print.say("%s", doubtOf(s))
	probed, err := d.reviewer.ProbeRun(ctx, r.ID, s.ID)
	if err != nil {
		return err
	}
	s = stepOf(*probed, s.ID)
	if s.Status != countersign.StepRecoveryRequired || len(s.Probes) == 0 { // a probe asks for the shop's word, too
		d.showSettled(s)
		return nil
	}
	probe := s.Probes[len(s.Probes)-1]
	d.print.row("probe", "%s %s", probe.Request.Method, probe.Request.URL)
	if probe.Output.IsZero() {
		return fmt.Errorf("the shop doesn't say what happened: %s", failureOf(probe))
	}
	d.print.block(probe.Output)
	if d.Person != nil {
		return d.askWhatHappened(ctx, r, s, probe)
	}
	d.print.say("Here the demo itself decides, as %s.", d.place.kept.Reviewer.Email)
	return d.resolve(ctx, r.ID, s.ID, judge(probe, s, expectationOf(r, s.ID)))
}

// failureOf says why a probe shows nothing: a refusal by the shop is no error of the probe.
func failureOf(p countersign.ProbeRecord) string {
	if p.Error == "" && p.Response != nil {
		return fmt.Sprintf("it answered %d", p.Response.StatusCode)
	}
	return p.Error
}

// resolve sends the reviewer's resolution of a step and shows what is recorded.
func (d *demo) resolve(ctx context.Context, runID, stepID string, found countersign.Reconcile) error {
	r, err := d.reviewer.ReconcileRun(ctx, runID, found)
	if err == nil {
		d.showResolution(stepOf(*r, stepID))
	}
	return err
}

func (d *demo) showResolution(s countersign.StepRun) {
	if s.Reconciliation == nil {
		return
	}
	d.print.row("reconciled", "%s by %s", s.Reconciliation.Resolution, d.named(s.Reconciliation.By))
	d.print.row("", "%q", s.Reconciliation.Evidence)
}

// askWhatHappened asks the person what became of an uncertain step. An answer that the service
// refuses, such as a yes that the probe doesn't bear out, is asked for again.
func (d *demo) askWhatHappened(ctx context.Context, r countersign.Run, s countersign.StepRun, probe countersign.ProbeRecord) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	proposed := judge(probe, s, expectationOf(r, s.ID))
	proposed.Evidence = "..."
	body, err := countersign.Marshal(proposed)
	if err != nil {
		return err
	}
	d.showElsewhere("Answer", "/recovery/"+r.ID, string(body), "/runs/"+r.ID+"/reconcile")
	return d.ask(question{
		prompt:  "did it happen? [y/n] and what shows it: ",
		waiting: func() string { return "waiting for an answer from elsewhere" },
		elsewhere: d.leaves(ctx, r.ID, func(w countersign.WaitingFor) bool {
			return w.Kind == countersign.WaitReconcile && w.StepID == s.ID
		}),
		answer: func(line string) (string, error) {
			found, hint := resolutionOf(line, probe, s)
			if hint != "" {
				return hint, nil
			}
			err := d.resolve(ctx, r.ID, s.ID, found)
			switch countersign.ErrorCode(err) {
			case countersign.CodeExpectationNotMet, countersign.CodeInvalidRequest:
				return err.Error(), nil
			case countersign.CodeStateConflict: // somebody has said it meanwhile: the run shows what
				d.print.say("%s", err)
				return "", nil
			default:
				return "", err
			}
		},
		answered: func() error {
			now, err := d.reviewer.Run(ctx, r.ID)
			if err == nil {
				d.showResolution(stepOf(*now, s.ID))
			}
			return err
		},
	})
}

// resolutionOf parses y or n and the evidence. What was done is what the probe shows under the
// step's key.
func resolutionOf(line string, probe countersign.ProbeRecord, s countersign.StepRun) (found countersign.Reconcile, hint string) {
	yes, evidence, hint := yesOrNo(line, "A resolution carries its evidence", "the shop lists it under this key")
	found.Evidence, found.Resolution = evidence, countersign.ConfirmedNotExecuted
	if yes {
		made, _ := madeUnder(probe.Output, s.IdempotencyKey)
		found.Resolution = countersign.ConfirmedCompleted
		found.Output, _ = made.Object()
	}
	return found, hint
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
			"probe %d shows it: made under %s, %s %s", probe.N, s.IdempotencyKey, e.Field, state.Text())}
	case found:
		return countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: fmt.Sprintf(
			"probe %d shows it under key %s, but not done: %s %s", probe.N, s.IdempotencyKey, e.Field, state.Text())}
	default:
		return countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: fmt.Sprintf(
			"probe %d shows nothing made under key %s", probe.N, s.IdempotencyKey)}
	}
}

// madeUnder finds what was made under the key, in the shop's answer or in what it lists.
func madeUnder(answer countersign.Value, key string) (countersign.Value, bool) {
	candidates := []countersign.Value{answer}
	for _, made := range []string{"refunds", "payouts"} {
		if list, ok := answer.Lookup(made); ok {
			of, _ := list.Array()
			candidates = append(candidates, of...)
		}
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
