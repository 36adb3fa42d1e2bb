package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/sample"
)

// decide shows a pending approval and waits for the decision: of the person at the terminal,
// or of someone elsewhere. Without a person the demo decides as the reviewer.
func (d *demo) decide(ctx context.Context, r countersign.Run) error {
	found, err := d.reviewer.Approval(ctx, r.WaitingFor.ApprovalID)
	if err != nil {
		return err
	}
	a := *found
	d.showApproval(a, r.PlanSnapshot)
	if a.Capability == sample.CreatePayout { // the customer doesn't wait for what is decided here
		if err := d.shop.FillBasket(); err != nil {
			return err
		}
	}
	if d.Person != nil {
		return d.askDecision(ctx, a)
	}
	d.print.say("Here the demo itself decides, as %s.", d.place.kept.Reviewer.Email)
	return d.decideAs(ctx, a, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: reasonFor(a)})
}

// reasonFor is why the demo approves.
func reasonFor(a countersign.Approval) string {
	money := a.InputSnapshot["currency"].Text() + " " + a.InputSnapshot["amount"].Text()
	if a.State != nil {
		return fmt.Sprintf("the account %s has %s, which covers %s", a.InputSnapshot["accountId"].Text(), a.State.Values["balance"].Text(), money)
	}
	return fmt.Sprintf("order %s came back, and its total is %s", a.InputSnapshot["orderId"].Text(), money)
}

// showApproval prints exactly what will be sent, its receiver and the expiry.
func (d *demo) showApproval(a countersign.Approval, p *countersign.Plan) {
	planned := p.Step(a.StepID)
	d.shown[a.RunID+"."+a.StepID] = countersign.StepWaitingApproval
	d.print.step(a.StepID, countersign.StepWaitingApproval, "")
	if a.PreviousID != "" {
		d.print.say("Asked again: nothing was sent, for the customer has spent from the balance meanwhile.")
	}
	d.print.say("Waiting for an approver's decision. This will be sent, once:")
	d.print.row("", "%s %s", a.Request.Method, a.Request.URL)
	for _, m := range request.Describe(a.Request).Others {
		d.print.row(m.Name, "%s", m.Value.Raw())
	}
	d.print.block(a.Request.Body)
	for _, name := range slices.Sorted(maps.Keys(planned.InputBindings)) {
		b := planned.InputBindings[name]
		d.print.row("", "%s %s comes from %s.%s, verified above", name, a.InputSnapshot[name].Raw(), b.StepID, b.Field)
	}
	d.showFixed(p, planned)
	d.showState(a)
	d.print.row("digest", "%s", a.RequestDigest)
	d.print.row("asked by", "%s", d.named(a.RequestedBy))
	d.print.row("expires", "%s", a.ExpiresAt.Format("2006-01-02 15:04:05 UTC"))
}

// decideAs sends the reviewer's decision. If somebody else has decided before, it says so and
// returns no error: the run shows the result.
func (d *demo) decideAs(ctx context.Context, a countersign.Approval, decision countersign.Decision) error {
	decided, err := d.reviewer.Decide(ctx, a.ID, decision)
	switch countersign.ErrorCode(err) {
	case "":
		d.showDecision(*decided)
		return nil
	case countersign.CodeStateConflict, countersign.CodeApprovalExpired:
		d.print.say("%s", err)
		return nil
	default:
		return err
	}
}

func (d *demo) showDecision(a countersign.Approval) {
	d.print.row(strings.ToLower(string(a.Status)), "by %s: %q", d.named(a.DecidedBy), countersign.DecisionWords(a.DecidedBy, a.DecisionReason, d.named))
}
