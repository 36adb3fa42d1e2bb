package httpapi

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// syncedAgents is the answer of a sync: the manifest's agents, in its order.
type syncedAgents struct {
	Items []countersign.Agent `json:"items" nullable:"false"`
}

func (a *API) syncAgents(c *call) (any, error) {
	items, err := a.control.SyncAgents(c.ctx, c.actor, c.id, bodyOf[countersign.Manifest](c))
	return syncedAgents{items}, err
}

func (a *API) listAgents(c *call) (any, error) {
	p, err := a.control.Agents(c.ctx, c.actor, c.list, control.AgentFilter{ProjectID: c.query["projectId"], Status: c.query["status"]})
	return listed(p, err)
}

func (a *API) getAgent(c *call) (any, error) { return a.control.Agent(c.ctx, c.actor, c.id) }

func (a *API) admitAgent(c *call) (any, error) {
	return a.control.AdmitAgent(c.ctx, c.actor, c.id, bodyOf[countersign.Admission](c))
}

func (a *API) suspendAgent(c *call) (any, error) {
	return a.control.SuspendAgent(c.ctx, c.actor, c.id, bodyOf[countersign.Admission](c))
}

func (a *API) heartbeat(c *call) (any, error) {
	return a.control.Heartbeat(c.ctx, c.actor, c.id, bodyOf[countersign.Heartbeat](c))
}

func (a *API) startAgentRun(c *call) (any, error) {
	started, err := a.control.StartAgentRun(c.ctx, c.actor, c.id, bodyOf[countersign.AgentRunStart](c), c.key)
	return c.started(started, err)
}

func (a *API) listTeams(c *call) (any, error) {
	p, err := a.control.Teams(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) getTeam(c *call) (any, error) { return a.control.Team(c.ctx, c.actor, c.id) }

func (a *API) putTeam(c *call) (any, error) {
	return a.control.PutTeam(c.ctx, c.actor, c.id, bodyOf[countersign.TeamWrite](c))
}

func (a *API) suspendTeam(c *call) (any, error) {
	return a.control.SuspendTeam(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) resumeTeam(c *call) (any, error) {
	return a.control.ResumeTeam(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) startTeamRun(c *call) (any, error) {
	started, err := a.control.StartTeamRun(c.ctx, c.actor, c.id, bodyOf[countersign.TeamRunStart](c), c.key)
	return c.started(started, err)
}
