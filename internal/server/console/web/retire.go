package web

import (
	"context"

	"github.com/countersign/countersign/internal/control"
)

// Models, projects, agents and teams are retired and restored in the same way.

// Move is a change of a record that takes a reason; its page shows the result.
type Move func(ctx context.Context, a control.Actor, id, reason string) error

// Moving makes a move of a change that also returns the record.
func Moving[T any](f func(context.Context, control.Actor, string, string) (T, error)) Move {
	return func(ctx context.Context, a control.Actor, id, reason string) error {
		_, err := f(ctx, a, id, reason)
		return err
	}
}

// changing is such a change, of any service.
type changing[T any] func(s *control.Service, ctx context.Context, a control.Actor, id, reason string) (T, error)

// RetireRoutes retire and restore what has its pages below an address such as /models/.
func RetireRoutes[T any](place string, retire, restore changing[T]) []Route {
	act := func(change changing[T]) func(*Request) (string, error) {
		return func(v *Request) (string, error) {
			id := v.R.PathValue("id")
			_, err := change(v.Control, v.R.Context(), v.Actor, id, v.Form("reason"))
			return place + id, err
		}
	}
	return []Route{
		{Method: "POST", Path: place + "{id}/retire", Act: act(retire)},
		{Method: "POST", Path: place + "{id}/restore", Act: act(restore)},
	}
}
