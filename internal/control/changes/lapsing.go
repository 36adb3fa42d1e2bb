package changes

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// LapseEvery is the interval between looks for changes whose time is over.
const LapseEvery = 10 * time.Second

// LapseChanges ends what nobody has acted on in time: in its record, and in the audit log, from which
// webhooks are told. Until then it is shown as lapsed by its time alone. Whatever goes wrong is logged: the
// next look is soon.
func (s *ChangeService) LapseChanges(ctx context.Context) {
	err := s.Config.Unreadable.EachTenant(ctx, s.Store, "open changes", func(tenant string) error {
		due, err := s.due(ctx, tenant)
		if err != nil || !due {
			return err
		}
		return s.Store.Update(ctx, func(tx store.Tx) error { return s.sweep(tx, tenant, "") })
	})
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "changes that nobody decided in time have not lapsed yet", "error", err)
	}
}

// due reports that something of a tenant is to lapse: most looks find nothing, and write nothing.
func (b *book) due(ctx context.Context, tenant string) (due bool, err error) {
	err = b.Store.View(ctx, func(tx store.Tx) error {
		open, _, err := b.open(tx, tenant)
		due = err == nil && slices.ContainsFunc(open.Items, b.over)
		return err
	})
	return due, err
}

func (b *book) over(o records.OpenChange) bool { return !b.Config.Now().Before(o.ExpiresAt) }

// sweep ends what nobody has acted on in time. A change that can't be read keeps no other.
func (b *book) sweep(tx store.Tx, tenant, requestID string) error {
	open, _, err := b.open(tx, tenant)
	if err != nil {
		return err
	}
	for _, o := range open.Items {
		if !b.over(o) {
			continue
		}
		rec, version, err := b.readable(tx, tenant, o.ID)
		if err != nil {
			return err
		}
		if rec == nil || !b.lapsed(rec) {
			continue
		}
		if err := b.end(tx, tenant, requestID, rec, version, inTime(rec)); err != nil {
			return err
		}
	}
	return nil
}

// readable reads an open change; nil for one that can't be read.
func (b *book) readable(tx store.Tx, tenant, id string) (*records.Change, int64, error) {
	rec, version, err := records.Changes.Get(tx, tenant, records.ChangeID(id))
	if passed, failed := b.Passes(records.Changes.Table, tenant, records.ChangeID(id), err); passed || failed != nil {
		return nil, 0, failed
	}
	return rec, version, nil
}

// lapse ends a change that can't be made any more.
func (b *book) lapse(ctx context.Context, a core.Actor, id, why string) error {
	service := core.Actor{Principal: access.System(a.Tenant)}
	return core.Public(b.UpdateAs(ctx, service, func(tx store.Tx) error {
		tenant, rec, version, err := b.find(tx, a, id)
		if err != nil || !rec.Status.Open() {
			return err
		}
		return b.end(tx, tenant, a.RequestID, rec, version, why)
	}))
}

// end lets a change lapse, by the service itself.
func (b *book) end(tx store.Tx, tenant, requestID string, was *records.Change, version int64, why string) error {
	r := *was
	r.EndedReason = why
	if err := b.move(tx, tenant, &r, version, countersign.ChangeLapsed, b.Config.Now()); err != nil {
		return err
	}
	system := core.Actor{Principal: access.System(tenant), RequestID: requestID}
	return b.AuditIn(tx, tenant, system, access.LapseChange, "change/"+r.ID, core.Change{Before: string(was.Status), After: string(r.Status), Reason: why})
}
