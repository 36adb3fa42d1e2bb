package linearizability

import (
	"context"

	"github.com/countersign/countersign/internal/storage/store"
)

// noticed is a store whose commits are noticed: behind each there is something in
// committed.
type noticed struct {
	store.Store
	committed chan struct{}
}

func (n *noticed) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := n.Store.Update(ctx, fn)
	if end, is := ctx.Value(behindCommit{}).(context.CancelFunc); is {
		end()
	}
	if err == nil {
		select {
		case n.committed <- struct{}{}:
		default:
		}
	}
	return err
}

// beside is another store whose commits are noticed in the same place.
func (n *noticed) beside(s store.Store) *noticed { return &noticed{s, n.committed} }

// behindCommit is the key of what is called behind the commit of a request.
type behindCommit struct{}

// brief is the context of a request that ends right behind its commit.
func brief() context.Context {
	ctx, end := context.WithCancel(background())
	return context.WithValue(ctx, behindCommit{}, end)
}
