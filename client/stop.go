package client

import (
	"context"

	"github.com/countersign/countersign"
)

// Stopped says whether LIVE steps of the tenant may begin.
func (c *Client) Stopped(ctx context.Context) (*countersign.StopState, error) {
	return get[countersign.StopState](ctx, c, "/stop")
}

// Stop lets no LIVE step begin until Go (ADMIN): runs wait. What is on its way ends.
func (c *Client) Stop(ctx context.Context, w countersign.StopWrite) (*countersign.StopState, error) {
	return post[countersign.StopState](ctx, c, "/stop", w)
}

// Go lifts a stop (ADMIN): the runs that it held go on by themselves.
func (c *Client) Go(ctx context.Context, w countersign.StopWrite) (*countersign.StopState, error) {
	return post[countersign.StopState](ctx, c, "/go", w)
}
