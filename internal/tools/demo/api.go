package demo

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// caller is one identity at the API. The demo has no other way to the service
// than the SDK that everybody has.
type caller struct {
	*client.Client
	base string // with the version prefix
}

func (d *demo) caller(token string) (caller, error) {
	c, err := client.New(client.Config{BaseURL: d.service.Address, Prefix: d.wiring.API, Token: token})
	return caller{c, d.service.Address + d.wiring.API}, err
}

// order asks for a run under its own key: sending it again finds the run that it
// started before.
type order func(context.Context, caller) (*client.Started, error)

func runOf(planID, key string) order {
	return func(ctx context.Context, c caller) (*client.Started, error) {
		return c.StartRun(ctx, countersign.RunStart{PlanID: planID}, client.Key(key))
	}
}
