package agents

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// judgedManifest is a manifest with its problems by some facts.
type judgedManifest struct {
	*countersign.Manifest
	projectID string
	facts     registry.Facts
	users     map[string]string // an agent of each model that has one, by which its owner is known
	problems  []countersign.Problem
}

// judgeManifest checks a manifest.
func (s *SyncService) judgeManifest(ctx context.Context, a core.Actor, projectID string, m *countersign.Manifest) (judgedManifest, error) {
	var j judgedManifest
	err := s.Read(ctx, func(tx store.Tx) error {
		j = judgedManifest{Manifest: m, projectID: projectID}
		return j.read(tx, a)
	})
	if err != nil {
		return j, err
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) {
		facts := j.facts
		facts.Meter = m
		j.problems = registry.Check(j.Manifest, facts)
	})
	return j, err
}

// read reads what the manifest is checked against.
func (j *judgedManifest) read(tx store.Tx, a core.Actor) error {
	head, err := j.project(tx, a)
	if err != nil {
		return err
	}
	if j.facts.Project, _, err = records.ProjectRevisions.Get(tx, a.Tenant, records.RevisionID(j.projectID, head.Revision)); err != nil {
		return err
	}
	j.facts.Models, j.users = map[string]registry.ModelOwner{}, map[string]string{}
	for _, id := range registry.ModelIDs(j.Manifest) {
		head, _, err := records.Models.Get(tx, a.Tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		owner := registry.ModelOwner{Retired: head.Retired}
		// One agent is enough, since all agents of a model belong to one project.
		list, err := records.Agents.List(tx, a.Tenant, store.Query{Where: []store.Filter{store.Equal("model", id)}, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) > 0 {
			owner.ProjectID, j.users[id] = list[0].ProjectID, list[0].ID
		}
		j.facts.Models[id] = owner
	}
	return nil
}

func (j *judgedManifest) project(tx store.Tx, a core.Actor) (*records.ProjectHead, error) {
	head, _, err := reach.Project(tx, a, j.projectID)
	if err == nil && head.Retired {
		err = plan.Retired(plan.KindProject, j.projectID)
	}
	return head, err
}

// stillHolds gives the problems if the facts that they were found by are still so. It is asked
// while all other writers wait: by a few lists, however many models there are.
func (j *judgedManifest) stillHolds(tx store.Tx, a core.Actor) error {
	head, err := j.project(tx, a)
	if err != nil {
		return err
	}
	if head.Revision != j.facts.Project.Revision {
		return core.ErrMoved
	}
	if ids := registry.ModelIDs(j.Manifest); len(ids) > 0 {
		if owners, err := j.owners(tx, a.Tenant, ids); err != nil {
			return err
		} else if !maps.Equal(owners, j.facts.Models) {
			return core.ErrMoved
		}
	}
	return core.Wrong(j.problems)
}

// owners are the models of some ids that there are, with their projects if these are known by the
// same agents as before.
func (j *judgedManifest) owners(tx store.Tx, tenant string, ids []string) (map[string]registry.ModelOwner, error) {
	heads, err := records.Models.List(tx, tenant, store.Query{Where: []store.Filter{core.Within("id", ids)}})
	if err != nil {
		return nil, err
	}
	owners := map[string]registry.ModelOwner{}
	var free []string
	for _, head := range heads {
		owners[head.ID] = registry.ModelOwner{Retired: head.Retired}
		if j.users[head.ID] == "" {
			free = append(free, head.ID)
		}
	}
	taken, err := records.Agents.List(tx, tenant, store.Query{Where: []store.Filter{core.Within("model", free)}, Limit: 1})
	if err != nil {
		return nil, err
	}
	users, err := records.Agents.List(tx, tenant, store.Query{Where: []store.Filter{core.Within("id", slices.Collect(maps.Values(j.users)))}})
	if err != nil {
		return nil, err
	}
	for _, agent := range append(taken, users...) {
		owner, there := owners[agent.ModelID]
		if there {
			owner.ProjectID = agent.ProjectID
			owners[agent.ModelID] = owner
		}
	}
	return owners, nil
}
