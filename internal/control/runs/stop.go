package runs

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// StopService is the use cases of stops.
type StopService struct {
	*core.Core
	runs *RunService
}

// NewStops returns the use cases.
func NewStops(c *core.Core, runs *RunService) *StopService { return &StopService{Core: c, runs: runs} }

// A stop keeps LIVE steps from beginning until somebody says go: those of one tenant, or
// all (contract 11). Neither ends a call that is on its way, nor touches a rehearsal.

// StopState says whether LIVE steps of the actor's tenant may begin.
func (s *StopService) StopState(ctx context.Context, a core.Actor) (out countersign.StopState, err error) {
	err = s.View(ctx, a, access.ReadStop, func(tx store.Tx) error {
		out, err = stopState(tx, a.Tenant, a.Tenant)
		return err
	})
	return out, err
}

// Stop keeps LIVE steps from beginning. One that stands stays as it is.
func (s *StopService) Stop(ctx context.Context, a core.Actor, w countersign.StopWrite) (countersign.StopState, error) {
	if err := core.WellFormed(a, w); err != nil {
		return countersign.StopState{}, err
	}
	out, _, err := s.moveStop(ctx, a, access.StopTenant, w, func(tx store.Tx, stands *countersign.Stop, tenant string) (bool, error) {
		if stands != nil {
			return false, nil
		}
		stop := countersign.Stop{TenantID: tenant, Since: s.Config.Now(), By: a.ID, Reason: w.Reason}
		_, err := records.Stops.Put(tx, store.Realm, records.StopID(tenant), &stop, 0)
		return true, err
	})
	return out, err
}

// Go lifts a stop. The runs that it held go on by themselves, as slots are free.
func (s *StopService) Go(ctx context.Context, a core.Actor, w countersign.StopWrite) (countersign.StopState, error) {
	if err := core.WellFormed(a, w); err != nil {
		return countersign.StopState{}, err
	}
	out, granted, err := s.moveStop(ctx, a, access.GoTenant, w, func(tx store.Tx, stands *countersign.Stop, tenant string) (bool, error) {
		if stands == nil {
			return false, nil
		}
		return true, records.Stops.Delete(tx, store.Realm, records.StopID(tenant))
	})
	for _, h := range granted {
		s.runs.moved(h)
	}
	return out, err
}

// moveStop changes a tenant's stop, or that of all, with its audit records. Lifting one
// gives free slots to the runs that waited for it.
func (s *StopService) moveStop(ctx context.Context, a core.Actor, op access.Operation, w countersign.StopWrite, move func(tx store.Tx, stands *countersign.Stop, tenant string) (bool, error)) (out countersign.StopState, granted []*runrepo.LoadedRun, err error) {
	if err := core.Given("reason", w.Reason); err != nil {
		return out, nil, err
	}
	subject := "tenant/" + a.Tenant
	if w.TenantID != "" {
		subject = "tenant/" + w.TenantID
	}
	err = s.Update(ctx, a, op, subject, func(tx store.Tx) error {
		out, granted = countersign.StopState{}, nil
		tenant, err := stoppable(tx, a, w.TenantID)
		if err != nil {
			return err
		}
		stands, _, err := records.Stops.Get(tx, store.Realm, records.StopID(tenant))
		if errors.Is(err, store.ErrNotFound) {
			stands, err = nil, nil
		}
		if err != nil {
			return err
		}
		moved, err := move(tx, stands, tenant)
		if err != nil {
			return err
		}
		if moved {
			if err := s.recordStop(tx, a, op, tenant, w.Reason); err != nil {
				return err
			}
			if op == access.GoTenant {
				granted, err = s.Repo.GrantSlots(tx)
			}
			if err != nil {
				return err
			}
		}
		out, err = stopState(tx, tenant, a.Tenant)
		return err
	})
	return out, granted, err
}

// stoppable is the tenant that a request is about, AllTenants for a realm administrator's.
func stoppable(tx store.Tx, a core.Actor, named string) (string, error) {
	if named != countersign.AllTenants {
		return core.TenantFor(tx, a, named)
	}
	if !a.Realm {
		return "", countersign.RefusedAt(countersign.CodeRoleRequired, "tenantId", "stopping all tenants needs a realm administrator")
	}
	return named, nil
}

// recordStop writes to the log of each tenant that it concerns, and for all tenants to the
// realm's too.
func (s *StopService) recordStop(tx store.Tx, a core.Actor, op access.Operation, tenant, reason string) error {
	c := core.Change{Before: "GOING", After: "STOPPED", Reason: reason}
	if op == access.GoTenant {
		c.Before, c.After = c.After, c.Before
	}
	subject := "tenant/" + tenant
	if tenant != countersign.AllTenants {
		return s.AuditIn(tx, tenant, a, op, subject, c)
	}
	if err := s.AuditIn(tx, store.Realm, a, op, subject, c); err != nil {
		return err
	}
	rows, err := tx.List(store.Tenants, store.Realm, store.Query{})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := s.AuditIn(tx, row.ID, a, op, subject, c); err != nil {
			return err
		}
	}
	return nil
}

// stopState reads the stops that stand for a tenant. Principals have names for a reader of
// their own tenant.
func stopState(tx store.Tx, tenant, reader string) (countersign.StopState, error) {
	out := countersign.StopState{TenantID: tenant, Stops: []countersign.Stop{}}
	asked := []string{countersign.AllTenants}
	if tenant != countersign.AllTenants {
		asked = []string{tenant, countersign.AllTenants}
	}
	for _, id := range asked {
		stop, _, err := records.Stops.Get(tx, store.Realm, records.StopID(id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return out, err
		}
		if stop.ByName, err = records.NameOf(tx, reader, stop.By); err != nil {
			return out, err
		}
		out.Stopped, out.Stops = true, append(out.Stops, *stop)
	}
	return out, nil
}
