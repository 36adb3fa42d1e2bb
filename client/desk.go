package client

import (
	"context"
	"iter"

	"github.com/countersign/countersign"
)

// WatchDesk follows what waits for the caller, and what changes in its scope, until the stream
// breaks off, the right to see ends or nobody iterates; with the error, if there is one. Who wants
// to go on calls it again: what waits comes at once.
func (c *Client) WatchDesk(ctx context.Context) iter.Seq2[countersign.DeskEvent, error] {
	return func(yield func(countersign.DeskEvent, error) bool) {
		over := false
		err := c.stream(ctx, "/events", func(name, data string) (bool, error) {
			e, known, err := deskEvent(name, data)
			if err == nil && known {
				over = !yield(e, nil)
			}
			return !over, err
		})
		if err != nil && !over {
			yield(countersign.DeskEvent{}, err)
		}
	}
}

// deskEvent reads an event; known is false for one of a newer service.
func deskEvent(name, data string) (e countersign.DeskEvent, known bool, err error) {
	switch name {
	case "waiting":
		e.Waiting = new(countersign.WaitingCounts)
		err = decode([]byte(data), e.Waiting)
	case "changed":
		e.Changed = new(countersign.Changed)
		err = decode([]byte(data), e.Changed)
	default:
		return e, false, nil
	}
	return e, true, err
}
