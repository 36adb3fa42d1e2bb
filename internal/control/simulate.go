package control

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// How many models are remembered compiled, those that are asked for again and again;
// and none of them whose document is larger, in bytes.
const (
	rememberedMachines = 32
	maxMachine         = 64 << 10
)

// Simulate runs a scenario of a stored model on paper.
func (s *Service) Simulate(ctx context.Context, a Actor, id string, req countersign.SimulationRequest) (sim countersign.Simulation, err error) {
	var row store.Row
	err = s.view(ctx, a, access.ReadModels, func(tx store.Tx) error {
		head, _, err := records.Models.Get(tx, a.Tenant, id)
		if err != nil {
			return found(err, "model", id)
		}
		row, err = tx.Get(store.ModelRevisions, a.Tenant, records.RevisionID(id, head.DocumentRevision))
		return err
	})
	if err != nil {
		return sim, err
	}
	var failed error
	err = s.think(ctx, a.Tenant, func() {
		var m *model.Machine
		if m, failed = s.machine(a.Tenant, row); failed == nil {
			sim, failed = m.Simulate(req.ScenarioID, req.Inputs)
		}
	})
	return sim, cmp.Or(err, failed)
}

// machine compiles a stored document, unless it was of late.
func (s *Service) machine(tenant string, row store.Row) (*model.Machine, error) {
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

// think runs what may cost a processor for a while and tens of megabytes, few at once
// and the tenants in turn, so that simulations can starve neither the runs nor another
// tenant's.
func (s *Service) think(ctx context.Context, tenant string, f func()) error {
	return public(s.computing.Do(ctx, tenant, f))
}
