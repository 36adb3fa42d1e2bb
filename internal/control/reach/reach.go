// Package reach finds what an actor may reach, with its content, whatever room changes it.
package reach

import (
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Project finds a project of the tenant that lies within the actor's scope.
func Project(tx store.Tx, a core.Actor, id string) (*records.ProjectHead, int64, error) {
	head, version, err := records.Projects.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, 0, core.Found(err, "project", id)
	}
	return head, version, access.InScope(a.Principal, id)
}

// Agent finds an agent of the tenant that lies within the actor's scope.
func Agent(tx store.Tx, a core.Actor, id string) (*records.AgentHead, int64, error) {
	if err := access.ActsFor(a.Principal, id); err != nil {
		return nil, 0, err
	}
	head, version, err := records.Agents.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, 0, core.Found(err, "agent", id)
	}
	return head, version, access.InScope(a.Principal, head.ProjectID)
}

// Team finds a team of the tenant whose members' systems all lie within the
// actor's scope.
func Team(tx store.Tx, a core.Actor, id string) (*records.TeamHead, int64, error) {
	head, version, err := records.Teams.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, 0, core.Found(err, "team", id)
	}
	return head, version, access.InScope(a.Principal, head.Projects...)
}

// Run finds a run that the actor may see.
func Run(tx store.Tx, a core.Actor, id string) (*records.Run, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, FoundRun(tx, a, id, err)
	}
	return rec, access.InRun(a.Principal, rec.AgentID, rec.Projects...)
}

// Approval finds an approval of a project within the actor's scope.
func Approval(tx store.Tx, a core.Actor, id string) (*records.Approval, error) {
	rec, _, err := records.Approvals.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, foundApproval(tx, a, id, err)
	}
	return rec, access.InScope(a.Principal, rec.ProjectID)
}

// OwnProjects limits a column to the actor's projects.
func OwnProjects(a core.Actor, column string) []store.Filter {
	if !a.Limited() {
		return nil
	}
	return []store.Filter{core.Within(column, a.Projects)}
}
