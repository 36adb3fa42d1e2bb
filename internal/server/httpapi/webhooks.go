package httpapi

import "github.com/countersign/countersign"

func (a *API) listWebhooks(c *call) (any, error) {
	p, err := a.control.Webhooks(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) getWebhook(c *call) (any, error) { return a.control.Webhook(c.ctx, c.actor, c.id) }

func (a *API) putWebhook(c *call) (any, error) {
	return a.control.PutWebhook(c.ctx, c.actor, c.id, bodyOf[countersign.WebhookWrite](c))
}

func (a *API) deleteWebhook(c *call) (any, error) {
	return a.control.DeleteWebhook(c.ctx, c.actor, c.id)
}
