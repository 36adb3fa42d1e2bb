package client

import (
	"context"

	"github.com/countersign/countersign"
)

// Stopped reports whether LIVE steps of the tenant may begin.
func (c *Client) Stopped(ctx context.Context) (*countersign.StopState, error) {
	return get[countersign.StopState](ctx, c, "/stop")
}

// Stop prevents LIVE steps from beginning until Go (ADMIN): runs wait. Steps in flight are completed.
func (c *Client) Stop(ctx context.Context, w countersign.StopWrite) (*countersign.StopState, error) {
	return post[countersign.StopState](ctx, c, "/stop", w)
}

// Go lifts a stop (ADMIN): the runs that waited for it continue by themselves.
func (c *Client) Go(ctx context.Context, w countersign.StopWrite) (*countersign.StopState, error) {
	return post[countersign.StopState](ctx, c, "/go", w)
}
