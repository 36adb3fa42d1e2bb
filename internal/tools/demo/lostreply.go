package demo

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/sample"
)

// loseReply refunds an order whose refund the shop carries out without its answer arriving.
func (d *demo) loseReply(ctx context.Context) (err error) {
	d.print.say("One call, without a plan. The shop will carry it out, and its answer will be lost.")
	if d.lostRun, err = d.live(ctx, lostOrder); err != nil {
		return err
	}
	d.showEnd("the run whose answer is lost", d.lostRun)
	step := d.lostRun.Steps[0]
	d.holds(step.SettledBy != nil && step.Reconciliation == nil, "what became of a call whose answer is lost is settled by the shop's signed word")
	sent := d.sentUnder(step.IdempotencyKey)
	d.holds(sent == 1, "a request whose answer is lost isn't sent again; the shop received %d", sent)
	d.print.row("shop's log", "%s under %s", count(sent, "request", "requests"), step.IdempotencyKey)
	return nil
}

// lostOrder asks for the refund as a single call, so that nothing but the refund happens.
func lostOrder(ctx context.Context, c caller, n int) (*client.Started, error) {
	return c.StartProjectRun(ctx, demoProject, countersign.ProjectRunStart{
		Capability: sample.CreateRefund, Mode: countersign.ModeLive,
		Inputs: map[string]countersign.Value{
			"orderId": countersign.String(sample.LostOrder), "amount": countersign.RawValue("119.90"), "currency": countersign.String("EUR"),
		},
		Expectation: &countersign.Expectation{Field: "status", Equals: countersign.String("succeeded")},
	}, keyOf("demo-lost-reply", n))
}

// sentUnder counts the requests that the shop received under a key.
func (d *demo) sentUnder(key string) (n int) {
	for _, e := range d.shop.Received() {
		if e.Key == key {
			n++
		}
	}
	return n
}
