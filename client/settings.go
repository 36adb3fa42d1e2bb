package client

import (
	"context"

	"github.com/countersign/countersign"
)

// Settings returns what the tenant's administrators have set.
func (c *Client) Settings(ctx context.Context) (*countersign.TenantSettings, error) {
	return get[countersign.TenantSettings](ctx, c, "/settings")
}

// SaveSettings changes the tenant's settings (ADMIN).
func (c *Client) SaveSettings(ctx context.Context, w countersign.TenantSettingsWrite) (*countersign.TenantSettings, error) {
	return put[countersign.TenantSettings](ctx, c, "/settings", w)
}
