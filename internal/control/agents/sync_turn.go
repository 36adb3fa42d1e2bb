package agents

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// What a manifest changes is found before the turn to write, in which all other writers of all
// tenants wait. The turn sees that what it was found by is still so: the project and the models by
// what says so, and the agents by their versions, those that change as they are written.

// applyManifest makes a manifest's changes, or says that what they were found by has moved.
func (s *SyncService) applyManifest(ctx context.Context, a core.Actor, subject string, m judgedManifest, changes []agentChange) error {
	return s.UpdateInTurn(ctx, a, access.SyncAgents, subject, func(tx store.Tx) error {
		if err := m.stillHolds(tx, a); err != nil {
			return err
		}
		if err := stillUnchanged(tx, a.Tenant, changes); err != nil {
			return err
		}
		err := s.saveChanges(tx, a, changes)
		if errors.Is(err, store.ErrConflict) {
			return core.ErrMoved
		}
		return err
	})
}

// stillUnchanged sees that the agents which a manifest leaves as they are still are so.
func stillUnchanged(tx store.Tx, tenant string, changes []agentChange) error {
	versions, ids := map[string]int64{}, []string(nil)
	for _, c := range changes {
		if !c.is {
			versions[c.next.ID], ids = c.version, append(ids, c.next.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.List(store.Agents, tenant, store.Query{Where: []store.Filter{core.Within("id", ids)}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if versions[row.ID] == row.Version {
			delete(versions, row.ID)
		}
	}
	if len(versions) > 0 {
		return core.ErrMoved
	}
	return nil
}
