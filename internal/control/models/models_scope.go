package models

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Models belong to the tenant and to no project, yet changing one makes every plan made
// from it drift. So an actor that is limited to projects changes only a model that nothing
// of another project uses (contract 11).

// mayChangeModel returns nil for a new model, and if all plans, agents and teams that use
// the model lie in the actor's projects.
func mayChangeModel(tx store.Tx, a core.Actor, id string) error {
	if !a.Limited() {
		return nil
	}
	beyond, err := usedOutsideScope(tx, a, id)
	if err == nil && beyond {
		err = countersign.Errorf(countersign.CodeProjectScope, "model %s is also used outside your projects; store the document under another id", id)
	}
	return err
}

func usedOutsideScope(tx store.Tx, a core.Actor, modelID string) (bool, error) {
	all, err := tx.Distinct(store.Plans, a.Tenant, "scope")
	if err != nil {
		return false, err
	}
	outside := slices.DeleteFunc(all, func(scope string) bool { return a.Covers(records.ProjectsIn(scope)...) })
	plans, err := tx.List(store.Plans, a.Tenant, store.Query{Where: []store.Filter{store.Equal("model", modelID), core.Within("scope", outside)}, Limit: 1})
	if err != nil || len(plans) > 0 {
		return true, err
	}
	return agentsOutsideScope(tx, a, modelID)
}

// agentsOutsideScope reports whether an agent or team outside the actor's projects uses the
// model. Plans don't tell: the plan of a team run names its members and no model.
func agentsOutsideScope(tx store.Tx, a core.Actor, modelID string) (bool, error) {
	agents, err := records.Agents.List(tx, a.Tenant, store.Query{Where: []store.Filter{store.Equal("model", modelID)}})
	if err != nil || len(agents) == 0 {
		return false, err
	}
	have := map[string]bool{}
	for _, h := range agents {
		if have[h.ID] = true; !a.Covers(h.ProjectID) {
			return true, nil
		}
	}
	teams, err := records.Teams.List(tx, a.Tenant, store.Query{})
	if err != nil {
		return false, err
	}
	for i := range teams {
		if a.Covers(teams[i].Projects...) {
			continue
		}
		team, err := reach.TeamOf(tx, a.Tenant, &teams[i])
		if err != nil || slices.ContainsFunc(team.Members, func(m countersign.TeamMember) bool { return have[m.AgentID] }) {
			return true, err
		}
	}
	return false, nil
}
