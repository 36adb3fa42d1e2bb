package reach

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// AgentOf returns the agent at its head's revision, without liveness.
func AgentOf(tx store.Tx, tenant string, h *records.AgentHead) (countersign.Agent, error) {
	content, _, err := records.AgentRevisions.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
	if err != nil {
		return countersign.Agent{}, fmt.Errorf("content of agent %s: %w", h.ID, err)
	}
	return WithHead(*content, h), nil
}

// WithHead adds to an agent what its revisions don't have.
func WithHead(a countersign.Agent, h *records.AgentHead) countersign.Agent {
	a.Status, a.Suspended, a.Retired, a.UpdatedAt, a.Budgets = h.Status, h.Suspended, h.Retired, h.UpdatedAt, h.Budgets
	a.Identities, a.IdentitiesRevision = shownIdentities(h), h.IdentitiesRevision
	return a
}

func shownIdentities(h *records.AgentHead) []countersign.AgentIdentity {
	out := make([]countersign.AgentIdentity, len(h.Identities))
	for i, of := range h.Identities {
		out[i] = of.AgentIdentity
	}
	return out
}

// TeamOf returns the team at its head's revision.
func TeamOf(tx store.Tx, tenant string, h *records.TeamHead) (countersign.Team, error) {
	t, _, err := records.TeamRevisions.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
	if err != nil {
		return countersign.Team{}, fmt.Errorf("content of team %s: %w", h.ID, err)
	}
	t.Suspended, t.Retired, t.UpdatedAt = h.Suspended, h.Retired, h.UpdatedAt
	return *t, nil
}

// Model reads a model with its document.
func Model(tx store.Tx, tenant, id string) (countersign.Model, error) {
	head, _, err := records.Models.Get(tx, tenant, id)
	if err != nil {
		return countersign.Model{}, core.Found(err, "model", id)
	}
	return ModelOf(tx, tenant, *head)
}

// ModelOf adds the document that a head refers to.
func ModelOf(tx store.Tx, tenant string, head records.ModelHead) (countersign.Model, error) {
	rev, _, err := records.ModelRevisions.Get(tx, tenant, records.RevisionID(head.ID, head.DocumentRevision))
	if err != nil {
		return countersign.Model{}, fmt.Errorf("document of model %s: %w", head.ID, err)
	}
	return AssembleModel(head, *rev.Document), nil
}

// AssembleModel puts a model together from its head and its document.
func AssembleModel(h records.ModelHead, doc countersign.AgentModel) countersign.Model {
	return countersign.Model{
		ID: h.ID, Revision: h.Revision, Name: doc.Name, SchemaVersion: doc.SchemaVersion, Suspended: h.Suspended, Retired: h.Retired,
		CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Document: doc,
	}
}

// ProjectOf adds the content of the head's revision.
func ProjectOf(allowed project.Allowed, tx store.Tx, tenant string, h records.ProjectHead) (countersign.Project, error) {
	p, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
	if err != nil {
		return countersign.Project{}, fmt.Errorf("content of project %s: %w", h.ID, err)
	}
	return AssembleProject(allowed, h, *p), nil
}

// AssembleProject puts a project together from its head and the content of its revision.
func AssembleProject(allowed project.Allowed, h records.ProjectHead, p countersign.Project) countersign.Project {
	p.ID, p.Revision, p.Enabled, p.Retired, p.Health = h.ID, h.Revision, h.Enabled, h.Retired, h.Health
	p.AnswerKeys = h.AnswerKeys
	p.CreatedAt, p.UpdatedAt = h.CreatedAt, h.UpdatedAt
	p.SecretConfigured, p.WeakSecret = allowed.SecretConfigured(&p), allowed.WeakSecret(&p)
	return p
}
