package sessions

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// endedAtOnce is how many sessions are ended in one commit.
const endedAtOnce = 200

// EndOthers ends, where the identity provider alone begins sessions, each that began otherwise: the
// first set-up's, too, for whoever has it can sign in there by now. It is called at the start. One
// that can't be read is ended as well: nobody can say how it began.
func (s *SessionService) EndOthers(ctx context.Context) error {
	if s.Config.SignIn != access.SignInByProvider {
		return nil
	}
	for from, done := "", false; !done; {
		err := s.Store.Update(ctx, func(tx store.Tx) error {
			next := from
			rows, err := tx.List(store.Sessions, store.Realm, store.Query{
				Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{next}}}, Order: []store.Order{{Column: "id"}}, Limit: endedAtOnce,
			})
			if err != nil {
				return err
			}
			done = len(rows) < endedAtOnce
			for _, row := range rows {
				next = row.ID + "\x00" // the first id behind it
				if err := s.endOther(tx, row); err != nil {
					return err
				}
			}
			from = next
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *SessionService) endOther(tx store.Tx, row store.Row) error {
	var rec records.Session
	unread := records.Decode(row, &rec)
	if unread == nil && rec.Way == access.ByProvider {
		return nil
	}
	if err := tx.Delete(store.Sessions, store.Realm, row.ID); err != nil || unread != nil {
		return err
	}
	if _, err := tx.Get(store.Tenants, store.Realm, rec.TenantID); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	if _, _, err := audit.Head(tx, rec.TenantID); err != nil {
		return s.Config.Unreadable.Pass(unreadable.Record{Tenant: rec.TenantID, Kind: "audit log", ID: rec.TenantID}, err)
	}
	system := core.Actor{Principal: access.System(rec.TenantID)}
	return s.Audit(tx, system, access.SignOut, "user/"+rec.Email, core.Change{Before: "signed in", After: "signed out", Reason: "sessions begin by the identity provider alone"})
}
