package client

import (
	"context"

	"github.com/countersign/countersign"
)

// WatchDesk follows what waits for the caller, and what changes in its scope, until seen returns
// false, the stream breaks off or the right to see ends. Who wants to go on calls it again: what
// waits comes at once.
func (c *Client) WatchDesk(ctx context.Context, seen func(countersign.DeskEvent) bool) error {
	return c.stream(ctx, "/events", func(name, data string) (bool, error) {
		var e countersign.DeskEvent
		var err error
		switch name {
		case "waiting":
			e.Waiting = new(countersign.WaitingCounts)
			err = decode([]byte(data), e.Waiting)
		case "changed":
			e.Changed = new(countersign.Changed)
			err = decode([]byte(data), e.Changed)
		default:
			return true, nil
		}
		return err == nil && seen(e), err
	})
}
