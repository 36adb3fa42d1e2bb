package receiver

import (
	"context"
	"database/sql"
	"sync/atomic"
)

type callKey struct{}

type deliveryKey struct{}

// delivery is what a handler reaches through its context while it performs a side effect:
// the transaction, and whether Release was called.
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

// CallFrom returns the verified call that a handler behind Receiver.Handler answers. The
// second result is false for any other context.
func CallFrom(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// TxFrom returns the transaction in which a handler performs its side effect, so that key,
// effect and answer are committed together. The second result is false unless Config.Store
// is a Transactor and the call has a side effect. The Receiver commits or rolls back the
// transaction; the handler must not.
func TxFrom(ctx context.Context) (*sql.Tx, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*delivery)
	if !ok || d.tx == nil {
		return nil, false
	}
	return d.tx, true
}

// Release is called by a handler that knows that its effect did not happen, before it
// answers 5xx or panics: the key is freed, and a repeated call runs the handler again. No
// answer given after Release is remembered. Outside of a side effect it does nothing.
func Release(ctx context.Context) {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		d.released.Store(true)
	}
}

// withoutTransaction is a Transaction that makes each change in the Store at once, without a database
// transaction.
type withoutTransaction struct{ Store }

func (withoutTransaction) Tx() *sql.Tx { return nil }

func (withoutTransaction) Rollback() {}
