package httpapi

import "github.com/countersign/countersign"

func (a *API) retireModel(c *call) (any, error) {
	return a.control.RetireModel(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) restoreModel(c *call) (any, error) {
	return a.control.RestoreModel(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) retireProject(c *call) (any, error) {
	return a.control.RetireProject(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) restoreProject(c *call) (any, error) {
	return a.control.RestoreProject(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) retireAgent(c *call) (any, error) {
	return a.control.RetireAgent(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) restoreAgent(c *call) (any, error) {
	return a.control.RestoreAgent(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) retireTeam(c *call) (any, error) {
	return a.control.RetireTeam(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) restoreTeam(c *call) (any, error) {
	return a.control.RestoreTeam(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}
