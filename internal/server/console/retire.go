package console

import (
	"context"

	"github.com/countersign/countersign/internal/control"
)

// Models, projects, agents and teams are retired and restored in the same way.

// move is a change of a record that takes a reason; its page shows the result.
type move func(ctx context.Context, a control.Actor, id, reason string) error

// moving makes a move of a change that also returns the record.
func moving[T any](f func(context.Context, control.Actor, string, string) (T, error)) move {
	return func(ctx context.Context, a control.Actor, id, reason string) error {
		_, err := f(ctx, a, id, reason)
		return err
	}
}

// changing is such a change, of any service.
type changing[T any] func(s *control.Service, ctx context.Context, a control.Actor, id, reason string) (T, error)

// retireRoutes retire and restore what has its pages below an address such as /models/.
func retireRoutes[T any](place string, retire, restore changing[T]) []route {
	act := func(change changing[T]) func(*pageRequest) (string, error) {
		return func(v *pageRequest) (string, error) {
			id := v.r.PathValue("id")
			_, err := change(v.control, v.r.Context(), v.actor, id, v.form("reason"))
			return place + id, err
		}
	}
	return []route{
		{method: "POST", path: place + "{id}/retire", act: act(retire)},
		{method: "POST", path: place + "{id}/restore", act: act(restore)},
	}
}
