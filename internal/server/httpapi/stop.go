package httpapi

import "github.com/countersign/countersign"

func (a *API) stopState(c *call) (any, error) { return a.control.StopState(c.ctx, c.actor) }

func (a *API) stopTenant(c *call) (any, error) {
	return a.control.Stop(c.ctx, c.actor, bodyOf[countersign.StopWrite](c))
}

func (a *API) goOn(c *call) (any, error) {
	return a.control.Go(c.ctx, c.actor, bodyOf[countersign.StopWrite](c))
}
