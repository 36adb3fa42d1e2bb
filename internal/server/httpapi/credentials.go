package httpapi

import "github.com/countersign/countersign"

func (a *API) listCredentials(c *call) (any, error) {
	p, err := a.control.Credentials(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) freeCredential(c *call) (any, error) {
	return a.control.FreeCredential(c.ctx, c.actor, c.r.PathValue("name"), bodyOf[countersign.Reason](c).Reason)
}
