package receiver

import (
	"context"
	"database/sql"
	"sync/atomic"
)

type callKey struct{}

type deliveryKey struct{}

// delivery is what a handler may ask of the Receiver while it has the effect.
type delivery struct {
	tx       *sql.Tx
	released atomic.Bool
}

func withCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func withDelivery(ctx context.Context, d *delivery) context.Context {
	return context.WithValue(ctx, deliveryKey{}, d)
}

// CallFrom is the verified call that a handler behind Receiver.Handler answers; it
// is false elsewhere.
func CallFrom(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// TxFrom is the transaction that a handler makes its effect with, so that key,
// effect and answer are committed together. It is false unless Config.Store is a
// Transactor and the call has a side effect. The Receiver ends the transaction; the
// handler must not.
func TxFrom(ctx context.Context) (*sql.Tx, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*delivery)
	if !ok || d.tx == nil {
		return nil, false
	}
	return d.tx, true
}

// Release says, before a handler answers 5xx or panics, that the effect has surely
// not happened: the key is freed, and a repeat runs. Whatever is answered after it
// is not remembered. Outside of a side effect it does nothing.
func Release(ctx context.Context) {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		d.released.Store(true)
	}
}

// atOnce is a Store without a transaction around.
type atOnce struct{ Store }

func (atOnce) Tx() *sql.Tx { return nil }

func (atOnce) Rollback() {}
