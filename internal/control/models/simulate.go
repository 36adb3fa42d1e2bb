package models

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// How many compiled models are cached, and the largest document among them in bytes.
const (
	cachedMachines = 32
	maxMachine     = 64 << 10
)

// Simulate simulates a scenario of a stored model.
func (s *ModelService) Simulate(ctx context.Context, a core.Actor, id string, req countersign.SimulationRequest) (sim countersign.Simulation, err error) {
	if err := core.WellFormed(a, req); err != nil {
		return sim, err
	}
	busy := s.Compute(ctx, a.Tenant, func() {
		var row store.Row
		if row, err = s.modelRow(ctx, a, id); err != nil {
			return
		}
		var m *model.Machine
		if m, err = s.machine(a.Tenant, row); err == nil {
			sim, err = m.Simulate(req.ScenarioID, req.Inputs)
		}
	})
	return sim, cmp.Or(busy, err)
}

// modelRow reads the document of a stored model.
func (s *ModelService) modelRow(ctx context.Context, a core.Actor, id string) (row store.Row, err error) {
	err = s.View(ctx, a, access.ReadModels, func(tx store.Tx) error {
		head, _, err := records.Models.Get(tx, a.Tenant, id)
		if err != nil {
			return core.Found(err, "model", id)
		}
		row, err = tx.Get(store.ModelRevisions, a.Tenant, records.RevisionID(id, head.DocumentRevision))
		return err
	})
	return row, err
}

// TryModel simulates a scenario of a document that somebody edits, with the scenario's own
// inputs.
func (s *ModelService) TryModel(ctx context.Context, a core.Actor, doc *countersign.AgentModel, scenarioID string) (sim countersign.Simulation, err error) {
	if err := access.Allow(a.Principal, access.WriteModel); err != nil {
		return sim, err
	}
	var failed error
	err = s.Compute(ctx, a.Tenant, func() {
		var m *model.Machine
		if m, failed = model.Compile(doc); failed == nil {
			sim, failed = m.Simulate(scenarioID, nil)
		}
	})
	return sim, cmp.Or(err, failed)
}

// machine returns the compiled form of a stored document, from the cache if it is there.
func (s *ModelService) machine(tenant string, row store.Row) (*model.Machine, error) {
	k := cache.StampOf(tenant, row.ID, row.Version, row.Doc)
	if m, ok := s.machines.Get(k); ok {
		return m, nil
	}
	var rev records.ModelRevision
	if err := records.Decode(row, &rev); err != nil {
		return nil, err
	}
	m, err := model.Compile(rev.Document)
	if err == nil && len(row.Doc) <= maxMachine {
		s.machines.Put(k, m)
	}
	return m, err
}
