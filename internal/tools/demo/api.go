package demo

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// caller is a client with one identity. Like every program, the demo uses the service only
// through the SDK.
type caller struct {
	*client.Client
	base string // with the version prefix
}

func (d *demo) caller(token string) (caller, error) {
	c, err := client.New(client.Config{BaseURL: d.service.Address, Prefix: d.wiring.API, Token: token})
	return caller{c, d.service.Address + d.wiring.API}, err
}

// order starts a run under a fixed idempotency key: repeating it finds the run that it
// started.
type order func(context.Context, caller) (*client.Started, error)

func runOf(planID, key string) order {
	return func(ctx context.Context, c caller) (*client.Started, error) {
		return c.StartRun(ctx, countersign.RunStart{PlanID: planID}, client.Key(key))
	}
}
