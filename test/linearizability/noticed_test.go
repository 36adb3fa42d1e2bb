package linearizability

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/countersign/countersign/internal/storage/store"
)

// noticed is a store that sends to committed after each commit, and keeps the last error of an outage, of which callers are told nothing.
type noticed struct {
	store.Store
	committed chan struct{}
	outage    *atomic.Pointer[string]
}

func newNoticed(s store.Store) *noticed {
	return &noticed{s, make(chan struct{}, 1), &atomic.Pointer[string]{}}
}

func (n *noticed) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := n.Store.Update(ctx, fn)
	if end, is := ctx.Value(behindCommit{}).(context.CancelFunc); is {
		end()
	}
	if errors.Is(err, store.ErrUnavailable) {
		n.outage.Store(new(err.Error()))
	}
	if err == nil {
		select {
		case n.committed <- struct{}{}:
		default:
		}
	}
	return err
}

// beside is another store that sends to the same channel.
func (n *noticed) beside(s store.Store) *noticed { return &noticed{s, n.committed, n.outage} }

// behindCommit is the context key of a function to call after a request's commit.
type behindCommit struct{}

// brief is the context of a request that ends right after its commit.
func brief() context.Context {
	ctx, end := context.WithCancel(background())
	return context.WithValue(ctx, behindCommit{}, end)
}
