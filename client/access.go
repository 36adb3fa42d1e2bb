package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/countersign/countersign"
)

// Session says who asks and what the token, or a browser's session, may do.
func (c *Client) Session(ctx context.Context) (*countersign.Session, error) {
	return get[countersign.Session](ctx, c, "/session")
}

// Tenants lists the tenants (realm administrators).
func (c *Client) Tenants(ctx context.Context, p Paging) (*countersign.Page[countersign.Tenant], error) {
	return list[countersign.Tenant](ctx, c, "/tenants", p.query())
}

// AllTenants walks all pages of [Client.Tenants].
func (c *Client) AllTenants(ctx context.Context) iter.Seq2[countersign.Tenant, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Tenant], error) { return c.Tenants(ctx, p) })
}

// SaveTenant creates or renames a tenant (realm administrators).
func (c *Client) SaveTenant(ctx context.Context, id string, w countersign.TenantWrite) (*countersign.Tenant, error) {
	return put[countersign.Tenant](ctx, c, "/tenants/"+url.PathEscape(id), w)
}

// TenantFilter names another tenant than the caller's, for realm administrators.
type TenantFilter struct {
	Paging
	TenantID string
}

func (f TenantFilter) query() url.Values {
	q := f.Paging.query()
	set(q, "tenantId", f.TenantID)
	return q
}

// Users lists the tenant's users (ADMIN).
func (c *Client) Users(ctx context.Context, f TenantFilter) (*countersign.Page[countersign.User], error) {
	return list[countersign.User](ctx, c, "/users", f.query())
}

// AllUsers walks all pages of [Client.Users].
func (c *Client) AllUsers(ctx context.Context, f TenantFilter) iter.Seq2[countersign.User, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.User], error) {
		f.Paging = p
		return c.Users(ctx, f)
	})
}

// SaveUser adds a user or replaces their roles and projects (ADMIN).
func (c *Client) SaveUser(ctx context.Context, email string, w countersign.UserWrite) (*countersign.User, error) {
	return put[countersign.User](ctx, c, "/users/"+url.PathEscape(email), w)
}

// DeleteUser removes a user from the tenant (ADMIN). tenantID is "" for the caller's own
// tenant.
func (c *Client) DeleteUser(ctx context.Context, email, tenantID string) (*countersign.User, error) {
	return remove[countersign.User](ctx, c, "/users/"+url.PathEscape(email), tenantID)
}

// CreateSignInLink makes a link that signs a user in once (realm administrators). Only this
// answer contains it.
func (c *Client) CreateSignInLink(ctx context.Context, email string, w countersign.SignInLinkWrite) (*countersign.SignInLink, error) {
	return post[countersign.SignInLink](ctx, c, "/users/"+url.PathEscape(email)+"/sign-in-link", w)
}

// Tokens lists the tenant's tokens, never with their secrets (ADMIN).
func (c *Client) Tokens(ctx context.Context, f TenantFilter) (*countersign.Page[countersign.Token], error) {
	return list[countersign.Token](ctx, c, "/tokens", f.query())
}

// AllTokens walks all pages of [Client.Tokens].
func (c *Client) AllTokens(ctx context.Context, f TenantFilter) iter.Seq2[countersign.Token, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.Token], error) {
		f.Paging = p
		return c.Tokens(ctx, f)
	})
}

// CreateToken makes a token (ADMIN); one with reads does nothing but read. Only this answer contains its secret.
func (c *Client) CreateToken(ctx context.Context, w countersign.TokenWrite) (*countersign.NewToken, error) {
	return post[countersign.NewToken](ctx, c, "/tokens", w)
}

// RenewToken makes a token like the client's own, which must be a reading token: for 90 days, once.
// The client's own is good for 24 hours more. Only this answer contains the new secret.
func (c *Client) RenewToken(ctx context.Context) (*countersign.NewToken, error) {
	return post[countersign.NewToken](ctx, c, "/tokens/renew", nil)
}

// RevokeToken revokes a token at once (ADMIN). tenantID is "" for the caller's own
// tenant.
func (c *Client) RevokeToken(ctx context.Context, id, tenantID string) (*countersign.Token, error) {
	return remove[countersign.Token](ctx, c, "/tokens/"+url.PathEscape(id), tenantID)
}

// ConfirmToken confirms that a token belongs to its user. Only that user's session may do so;
// a client with a token is refused.
func (c *Client) ConfirmToken(ctx context.Context, id string) (*countersign.Token, error) {
	return post[countersign.Token](ctx, c, "/tokens/"+url.PathEscape(id)+"/confirm", nil)
}

func remove[T any](ctx context.Context, c *Client, path, tenantID string) (*T, error) {
	q := url.Values{}
	set(q, "tenantId", tenantID)
	return call[T](ctx, c, Request{Method: http.MethodDelete, Path: path, Query: q})
}
