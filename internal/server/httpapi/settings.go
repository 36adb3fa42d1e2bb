package httpapi

import "github.com/countersign/countersign"

func (a *API) settings(c *call) (any, error) { return a.control.Settings(c.ctx, c.actor) }

func (a *API) putSettings(c *call) (any, error) {
	return a.control.PutSettings(c.ctx, c.actor, bodyOf[countersign.TenantSettingsWrite](c))
}
