package changes

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// book is where proposed changes are kept, and where each stands.
type book struct {
	*core.Core
	makers Makers
}

// find reads a change that the actor reaches, and the tenant that it is kept in: for a realm administrator,
// who proposes for every tenant, that of what they have proposed.
func (b *book) find(tx store.Tx, a core.Actor, id string) (tenant string, rec *records.Change, version int64, err error) {
	rec, version, err = records.Changes.Get(tx, a.Tenant, records.ChangeID(id))
	if errors.Is(err, store.ErrNotFound) && a.Realm {
		return b.findElsewhere(tx, a, id)
	}
	if err != nil {
		return "", nil, 0, core.Found(err, "change", id)
	}
	if !proposedBy(a, rec) {
		err = reached(a, rec)
	}
	return a.Tenant, rec, version, err
}

func (b *book) findElsewhere(tx store.Tx, a core.Actor, id string) (string, *records.Change, int64, error) {
	tenants, err := records.TenantIDs(tx)
	if err != nil {
		return "", nil, 0, err
	}
	for _, tenant := range tenants {
		rec, version, err := records.Changes.Get(tx, tenant, records.ChangeID(id))
		if err == nil && proposedBy(a, rec) {
			return tenant, rec, version, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", nil, 0, err
		}
	}
	return "", nil, 0, core.Found(store.ErrNotFound, "change", id)
}

// reached returns nil if the actor reaches what a change is about.
func reached(a core.Actor, r *records.Change) error {
	if r.ProjectID == "" && a.Limited() {
		return access.InScope(a.Principal, r.Subject)
	}
	return access.InScope(a.Principal, r.ProjectID)
}

// proposedBy reports whoever proposed a change: the same token, or the same user, who signed in as
// well as then.
func proposedBy(a core.Actor, r *records.Change) bool {
	return a.ID == r.Proposer.ID && a.Tenant == r.ProposerTenant && slices.Equal(a.Lineage, r.Proposer.Makers)
}

// shown is a change as it is at this moment: what nobody has acted on in time has lapsed.
func (b *book) shown(r *records.Change) countersign.ProposedChange {
	out := r.ProposedChange
	if b.lapsed(r) {
		out.Status, out.EndedAt, out.EndedReason = countersign.ChangeLapsed, out.ExpiresAt, inTime(r)
	}
	return out
}

func (b *book) lapsed(r *records.Change) bool {
	return r.Status.Open() && !b.Config.Now().Before(r.ExpiresAt)
}

func inTime(r *records.Change) string {
	if r.Status == countersign.ChangeApproved {
		return "its proposer has not made it in time"
	}
	return "nobody has decided it in time"
}

// open reads what is open of a tenant.
func (b *book) open(tx store.Tx, tenant string) (*records.OpenChanges, int64, error) {
	open, version, err := records.AllOpenChanges.Get(tx, tenant, records.OpenChangesID)
	if errors.Is(err, store.ErrNotFound) {
		return &records.OpenChanges{}, 0, nil
	}
	return open, version, err
}

// move stores a change with another status, and takes it off what is open once it has ended.
func (b *book) move(tx store.Tx, tenant string, r *records.Change, version int64, to countersign.ChangeStatus, at time.Time) error {
	r.Status = to
	if !to.Open() {
		r.EndedAt = at
	}
	if _, err := records.Changes.Put(tx, tenant, records.ChangeID(r.ID), r, version); err != nil {
		return err
	}
	open, version, err := b.open(tx, tenant)
	if err != nil {
		return err
	}
	next := records.OpenChanges{Items: slices.Clone(open.Items)}
	i := slices.IndexFunc(next.Items, func(o records.OpenChange) bool { return o.ID == r.ID })
	switch {
	case i < 0:
		return nil
	case to.Open():
		next.Items[i].ExpiresAt, next.Items[i].Approved = r.ExpiresAt, to == countersign.ChangeApproved
	default:
		next.Items = slices.Delete(next.Items, i, i+1)
	}
	_, err = records.AllOpenChanges.Put(tx, tenant, records.OpenChangesID, &next, version)
	return err
}
