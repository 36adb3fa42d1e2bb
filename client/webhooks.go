package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/countersign/countersign"
)

func webhookPath(id string) string { return "/webhooks/" + url.PathEscape(id) }

// Webhooks lists the tenant's webhooks by id (ADMIN).
func (c *Client) Webhooks(ctx context.Context, p Paging) (*countersign.Page[countersign.Webhook], error) {
	return list[countersign.Webhook](ctx, c, "/webhooks", p.query())
}

// AllWebhooks walks all pages of [Client.Webhooks].
func (c *Client) AllWebhooks(ctx context.Context) iter.Seq2[countersign.Webhook, error] {
	return walk(Paging{}, func(p Paging) (*countersign.Page[countersign.Webhook], error) { return c.Webhooks(ctx, p) })
}

// Webhook reads a webhook and the state of its deliveries (ADMIN).
func (c *Client) Webhook(ctx context.Context, id string) (*countersign.Webhook, error) {
	return get[countersign.Webhook](ctx, c, webhookPath(id))
}

// SaveWebhook creates or updates a webhook; its origin must be on the server's list (ADMIN).
func (c *Client) SaveWebhook(ctx context.Context, id string, w countersign.WebhookWrite) (*countersign.Webhook, error) {
	return put[countersign.Webhook](ctx, c, webhookPath(id), w)
}

// DeleteWebhook deletes a webhook with its pending notifications (ADMIN).
func (c *Client) DeleteWebhook(ctx context.Context, id string) (*countersign.Webhook, error) {
	return remove[countersign.Webhook](ctx, c, webhookPath(id), "")
}
