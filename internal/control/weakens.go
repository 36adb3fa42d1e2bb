package control

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/project"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// What weakens a gate is marked in the audit log, so that who reads the log for that
// finds it without reading every revision (contract 11).

// rememberedBack is how many revisions are searched for a capability that an edit
// brings back: to take one away and to add it again, lowered, is to lower it.
const rememberedBack = 50

// weakensProject compares what is written with the revision before it.
func weakensProject(tx store.Tx, tenant, id string, before int64, content *countersign.Project) (bool, error) {
	if before == 0 {
		return false, nil
	}
	was, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(id, before))
	if err != nil {
		return false, err
	}
	known := func(name string) *countersign.Capability {
		c := was.Capability(name)
		for n := before - 1; c == nil && err == nil && n > 0 && n > before-rememberedBack; n-- {
			c, err = capabilityOf(tx, tenant, records.RevisionID(id, n), name)
		}
		return c
	}
	weakens := project.Weakens(was, content, known)
	return weakens, err
}

func capabilityOf(tx store.Tx, tenant, revisionID, name string) (*countersign.Capability, error) {
	p, _, err := records.ProjectRevisions.Get(tx, tenant, revisionID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.Capability(name), nil
}

// grantsApproval reports rights that let somebody decide where they could not before:
// the role, or more projects with it.
func grantsApproval(before []countersign.Role, projectsBefore []string, now []countersign.Role, projects []string) bool {
	if !slices.Contains(now, countersign.RoleApprover) {
		return false
	}
	if !slices.Contains(before, countersign.RoleApprover) {
		return true
	}
	if projects == nil || projectsBefore == nil {
		return projectsBefore != nil
	}
	return slices.ContainsFunc(projects, func(id string) bool { return !slices.Contains(projectsBefore, id) })
}
