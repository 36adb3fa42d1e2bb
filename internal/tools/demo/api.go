package demo

import (
	"context"
	"strconv"

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

// order starts the n-th run for one purpose, from 0, under a fixed idempotency key: repeating it
// finds the run that it started.
type order func(ctx context.Context, c caller, n int) (*client.Started, error)

func runOf(planID, key string) order {
	return func(ctx context.Context, c caller, n int) (*client.Started, error) {
		return c.StartRun(ctx, countersign.RunStart{PlanID: planID}, keyOf(key, n))
	}
}

// keyOf is the idempotency key of the n-th run.
func keyOf(key string, n int) client.StartOption {
	if n > 0 {
		key += "-" + strconv.Itoa(n+1)
	}
	return client.Key(key)
}
