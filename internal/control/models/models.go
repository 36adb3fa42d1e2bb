// Package models holds the use cases of models: their documents, validation and simulation.
package models

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ModelService is the use cases of models.
type ModelService struct {
	*core.Core
	documents *cache.Cache[documentKey, ListedModel]
	machines  *cache.Cache[cache.Stamp, *model.Machine]
}

// NewModels returns the use cases.
func NewModels(c *core.Core) *ModelService {
	return &ModelService{Core: c, documents: cache.New[documentKey, ListedModel](cachedModels), machines: cache.New[cache.Stamp, *model.Machine](cachedMachines)}
}

// Model reads one model.
func (s *ModelService) Model(ctx context.Context, a core.Actor, id string) (m countersign.Model, err error) {
	err = s.View(ctx, a, access.ReadModels, func(tx store.Tx) error {
		m, err = reach.Model(tx, a.Tenant, id)
		return err
	})
	return m, err
}

// PutModel creates a model or, with the present revision, updates it (specification 2.4).
// The document is stored verbatim, valid or not; ValidateModel judges its meaning.
func (s *ModelService) PutModel(ctx context.Context, a core.Actor, id string, w countersign.ModelWrite) (m countersign.Model, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return m, err
	}
	if w.Document.ID != id {
		return m, countersign.Invalid("document.id", "it must be %s, the id in the path, not %s", id, w.Document.ID)
	}
	subject := "model/" + id
	err = s.UpdateInTurn(ctx, a, access.WriteModel, subject, func(tx store.Tx) error {
		if err := mayChangeModel(tx, a, id); err != nil {
			return err
		}
		head, version, err := headFor(tx, a, id, w.ExpectedRevision)
		if err != nil {
			return err
		}
		if head.Retired {
			return plan.Retired(plan.KindModel, id)
		}
		before := modelRevisionText(head)
		now := s.Config.Now()
		if head.Revision == 0 {
			head.ID, head.CreatedAt = id, now
		}
		head.Revision++
		head.DocumentRevision, head.UpdatedAt, head.ChangedBy = head.Revision, now, a.ID
		if err := saveModel(tx, a.Tenant, head, version, &w.Document, s.Config.Quotas.ModelBytes); err != nil {
			return err
		}
		m = reach.AssembleModel(*head, w.Document)
		return s.Audit(tx, a, access.WriteModel, subject, core.Change{Before: before, After: modelRevisionText(head)})
	})
	return m, err
}

// headFor returns the head that a write changes: the stored one if it has the expected
// revision, or a new one if there is none and none is expected.
func headFor(tx store.Tx, a core.Actor, id string, expected int64) (*records.ModelHead, int64, error) {
	tenant := a.Tenant
	head, version, err := records.Models.Get(tx, tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return &records.ModelHead{}, 0, core.Compare("model", id, 0, expected)
	}
	if err == nil {
		err = access.Replace(a.Principal)
	}
	if err != nil {
		return nil, 0, err
	}
	err = core.Compare("model", id, head.Revision, expected)
	if err != nil && head.ChangedBy != "" {
		err = changedMeanwhile(tx, tenant, head, expected)
	}
	return head, version, err
}

// changedMeanwhile is the conflict of a write that began with another revision: it says who
// made the present one, so that the two can talk before either overwrites the other.
func changedMeanwhile(tx store.Tx, tenant string, head *records.ModelHead, expected int64) error {
	who := head.ChangedBy
	name, err := records.NameOf(tx, tenant, who)
	if err != nil {
		return err
	}
	if name != "" && who != "user:"+name {
		who = name + " (" + who + ")"
	}
	return countersign.Errorf(countersign.CodeRevisionConflict, "model %s is at revision %d, not %d: %s changed it at %s; read it and send expectedRevision %d",
		head.ID, head.Revision, expected, who, head.UpdatedAt.UTC().Format(time.RFC3339), head.Revision)
}

// saveModel writes a head with its revision. A new document must not take the tenant's
// models beyond their limit. A revision without one is always accepted: it is small, and
// may suspend the model.
func saveModel(tx store.Tx, tenant string, head *records.ModelHead, version int64, doc *countersign.AgentModel, most int) error {
	if _, err := records.Models.Put(tx, tenant, head.ID, head, version); err != nil {
		return err
	}
	rev := &records.ModelRevision{Head: *head, Document: doc}
	id := records.RevisionID(head.ID, head.Revision)
	text, _, err := records.ModelRevisions.PutDoc(tx, tenant, id, rev, 0)
	if err != nil {
		return err
	}
	all, err := records.AddModelBytes(tx, tenant, id, len(text))
	if err == nil && doc != nil && all > int64(most) {
		return quota.Exceeded("tenant "+tenant, most, "model bytes", "all revisions count, and this one would make it "+strconv.FormatInt(all, 10))
	}
	return err
}

// ValidateModel lists the errors and warnings of a stored model.
func (s *ModelService) ValidateModel(ctx context.Context, a core.Actor, id string) (v countersign.Validation, err error) {
	busy := s.Compute(ctx, a.Tenant, func() {
		var m countersign.Model
		if m, err = s.Model(ctx, a, id); err == nil {
			v = model.Validate(&m.Document)
		}
	})
	return v, cmp.Or(busy, err)
}

// CheckModel lists the errors and warnings of a document that somebody edits and that isn't
// stored, or not as it is.
func (s *ModelService) CheckModel(ctx context.Context, a core.Actor, doc *countersign.AgentModel) (v countersign.Validation, err error) {
	if err := access.Allow(a.Principal, access.WriteModel); err != nil {
		return v, err
	}
	return s.checkModel(ctx, a, doc)
}

func (s *ModelService) checkModel(ctx context.Context, a core.Actor, doc *countersign.AgentModel) (v countersign.Validation, err error) {
	err = s.Compute(ctx, a.Tenant, func() { v = model.Validate(doc) })
	return v, err
}

// SuspendModel raises the revision, so that earlier plans never run again.
func (s *ModelService) SuspendModel(ctx context.Context, a core.Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.SuspendModel, id, reason)
}

// ResumeModel lets new plans be made, at the revision that the suspension made.
func (s *ModelService) ResumeModel(ctx context.Context, a core.Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.ResumeModel, id, reason)
}

func (s *ModelService) moveModel(ctx context.Context, a core.Actor, op access.Operation, id, reason string) (m countersign.Model, err error) {
	if err := core.Given("reason", reason); err != nil {
		return m, err
	}
	subject := "model/" + id
	err = s.Update(ctx, a, op, subject, func(tx store.Tx) error {
		head, version, err := records.Models.Get(tx, a.Tenant, id)
		if err != nil {
			return core.Found(err, "model", id)
		}
		if err := mayChangeModel(tx, a, id); err != nil {
			return err
		}
		flag, set := core.FlagOf(op, &head.Suspended, &head.Retired)
		if *flag != set {
			if err := s.toggleModel(tx, a, op, head, version, reason); err != nil {
				return err
			}
		}
		m, err = reach.ModelOf(tx, a.Tenant, *head)
		return err
	})
	return m, err
}

// toggleModel raises the revision if it sets a flag, and keeps it if it clears one.
func (s *ModelService) toggleModel(tx store.Tx, a core.Actor, op access.Operation, head *records.ModelHead, version int64, reason string) error {
	c := core.Change{Before: modelRevisionText(head), Reason: reason}
	flag, set := core.FlagOf(op, &head.Suspended, &head.Retired)
	*flag, head.UpdatedAt, head.ChangedBy = set, s.Config.Now(), a.ID
	if set {
		head.Revision++
		if err := saveModel(tx, a.Tenant, head, version, nil, 0); err != nil {
			return err
		}
	} else if _, err := records.Models.Put(tx, a.Tenant, head.ID, head, version); err != nil {
		return err
	}
	c.After = modelRevisionText(head)
	return s.Audit(tx, a, op, "model/"+head.ID, c)
}

func modelRevisionText(h *records.ModelHead) string {
	return core.RevisionText(h.Revision, h.Suspended, h.Retired)
}

// RetireModel retires a model.
func (s *ModelService) RetireModel(ctx context.Context, a core.Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RetireModel, id, reason)
}

// RestoreModel ends the retirement of a model. It keeps the revision.
func (s *ModelService) RestoreModel(ctx context.Context, a core.Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RestoreModel, id, reason)
}
