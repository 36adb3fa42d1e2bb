package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/countersign/countersign"
)

// Credentials lists the credential variables with the tenants that own them, never a value
// (realm administrators).
func (c *Client) Credentials(ctx context.Context, p Paging) (*countersign.Page[countersign.Credential], error) {
	return list[countersign.Credential](ctx, c, "/credentials", p.query())
}

// AllCredentials walks all pages of [Client.Credentials].
func (c *Client) AllCredentials(ctx context.Context) iter.Seq2[countersign.Credential, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Credential], error) { return c.Credentials(ctx, p) })
}

// FreeCredential ends a tenant's ownership of a credential variable (realm administrators).
// Calls with it are not sent until a tenant registers it again.
func (c *Client) FreeCredential(ctx context.Context, name, reason string) (*countersign.Credential, error) {
	return call[countersign.Credential](ctx, c, Request{Method: http.MethodDelete, Path: "/credentials/" + url.PathEscape(name), Body: countersign.Reason{Reason: reason}})
}
