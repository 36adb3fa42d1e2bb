package plans

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What a plan is made of is bounded as a whole: each of its projects, models and agents has up to a
// mebibyte, and all of them are read for each answer that shows the plan, and for its runs. A
// plan that is stored goes on, however large.

// Planned counts the bytes of the documents that a plan is made of, in one transaction.
type Planned struct{ bytes int }

// document reads one of them, unless with it there are too many bytes: then it isn't decoded.
func document[T any](d *Planned, tx store.Tx, t *store.Table, tenant, kind, id string, revision int64, v *T) error {
	row, err := tx.Get(t, tenant, records.RevisionID(id, revision))
	if err != nil {
		return fmt.Errorf("content of %s %s: %w", kind, id, err)
	}
	if d.bytes += len(row.Doc); d.bytes > countersign.MaxPlanDocuments {
		return countersign.Errorf(countersign.CodeInvalidRequest,
			"with %s %s, the projects, models and agents that this is made of have %d bytes or more, and may have %d together; make several of it, each with fewer of them, or register projects with fewer capabilities",
			kind, id, d.bytes, countersign.MaxPlanDocuments)
	}
	return records.Decode(row, v)
}

func plannedProject(allowed project.Allowed, tx store.Tx, tenant string, d *Planned, h records.ProjectHead) (p countersign.Project, err error) {
	if err = document(d, tx, store.ProjectRevisions, tenant, "project", h.ID, h.Revision, &p); err != nil {
		return p, err
	}
	return reach.AssembleProject(allowed, h, p), nil
}

func plannedModel(tx store.Tx, tenant string, d *Planned, id string) (m countersign.Model, err error) {
	head, _, err := records.Models.Get(tx, tenant, id)
	if err != nil {
		return m, core.Found(err, "model", id)
	}
	var rev records.ModelRevision
	if err = document(d, tx, store.ModelRevisions, tenant, "model", id, head.DocumentRevision, &rev); err != nil {
		return m, err
	}
	return reach.AssembleModel(*head, *rev.Document), nil
}

// plannedAgent is reach.AgentOf for an agent that a plan is made of.
func plannedAgent(tx store.Tx, tenant string, d *Planned, h *records.AgentHead) (agent countersign.Agent, err error) {
	err = document(d, tx, store.AgentRevisions, tenant, "agent", h.ID, h.Revision, &agent)
	return reach.WithHead(agent, h), err
}

// checkScope refuses what is of projects whose ids no index of every store can hold.
func checkScope(what string, projects []string) error {
	if n := len(records.Scope(projects)); n > countersign.MaxScope {
		return countersign.Errorf(countersign.CodeInvalidRequest, "the ids of the projects of %s have %d characters together, and may have %d; make several of it, each of fewer projects", what, n, countersign.MaxScope)
	}
	return nil
}
