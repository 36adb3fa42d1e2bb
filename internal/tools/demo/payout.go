package demo

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

// payOut pays a part of a customer's balance out. While the yes to it is on its way, the customer
// spends from the same balance.
func (d *demo) payOut(ctx context.Context) (err error) {
	d.print.say("The balance is looked at before anybody is asked, and again before anything is sent.")
	if d.payoutRun, err = d.live(ctx, payoutOrder); err != nil {
		return err
	}
	d.showEnd("the payout's run", d.payoutRun)
	return nil
}

func payoutOrder(ctx context.Context, c caller, n int) (*client.Started, error) {
	return c.StartProjectRun(ctx, demoProject, countersign.ProjectRunStart{
		Capability: sample.CreatePayout, Mode: countersign.ModeLive,
		Inputs: map[string]countersign.Value{
			"accountId": countersign.String(sample.CustomerAccount), "amount": countersign.RawValue("20.00"), "currency": countersign.String("EUR"),
		},
		Expectation: &countersign.Expectation{Field: "status", Equals: countersign.String("succeeded")},
	}, keyOf("demo-payout", n))
}

// showState prints what was looked at for an approval, and what of it has changed since the one
// before.
func (d *demo) showState(a countersign.Approval) {
	if a.State == nil {
		return
	}
	d.print.row("looked at", "%s %s", a.State.Request.Method, a.State.Request.URL)
	for _, field := range slices.Sorted(maps.Keys(a.State.Values)) {
		d.print.row("", "%s %s", field, a.State.Values[field].Raw())
	}
	for _, c := range a.Changed {
		d.print.row("changed", "%s was %s, is %s", c.Field, c.Then.Raw(), c.Now.Raw())
	}
	d.print.row("its digest", "%s", a.StateDigest)
}

// payoutEvidence shows that the payout was made once, and on the state that was approved last.
func (d *demo) payoutEvidence(ctx context.Context, s countersign.StepRun) error {
	d.print.say("Witnesses of the payout from %s:", s.Input["accountId"].Text())
	asked, err := payoutOrder(ctx, d.operator, 0) // the run in which the balance changed
	if err != nil {
		return err
	}
	if id := asked.Steps[0].ApprovalID; id != "" {
		last, err := d.reviewer.Approval(ctx, id)
		if err != nil {
			return err
		}
		if err := d.secondAsking(ctx, *last); err != nil {
			return err
		}
	}
	return d.paymentEvidence(ctx, "the payout", s)
}

// secondAsking shows the approval that a change has superseded.
func (d *demo) secondAsking(ctx context.Context, last countersign.Approval) error {
	d.holds(last.PreviousID != "" && len(last.Changed) == 1, "who has approved another balance is asked again")
	if last.PreviousID == "" {
		return nil
	}
	first, err := d.reviewer.Approval(ctx, last.PreviousID)
	if err != nil {
		return err
	}
	d.holds(first.Superseded, "a yes to another balance lets nothing out")
	d.showDecision(*first)
	for _, c := range last.Changed {
		d.print.row("", "and let nothing out: %s was %s then, and %s when it was looked at again", c.Field, c.Then.Raw(), c.Now.Raw())
	}
	return nil
}
