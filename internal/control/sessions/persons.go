package sessions

import (
	"errors"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What is a person's over all tenants (their sessions, and their accounts at chat services) is
// ended by themself, or with their last membership. No tenant ends, or is told of, what serves
// others; each that it concerns has it in its own log (contract 12.1).

// AuditOfPerson records what a person did about themself in each tenant that they are a user of.
func (s *SessionService) AuditOfPerson(tx store.Tx, a core.Actor, op access.Operation, email string, c core.Change) error {
	list, err := Memberships(tx, email)
	for _, u := range list {
		if err == nil {
			err = s.AuditIn(tx, u.TenantID, a, op, "user/"+email, c)
		}
	}
	return err
}

// LeaveSessions ends a user's sessions in a tenant that they leave, so that no old browser is
// signed in if they are added again. A session that isn't the tenant's own, by a link or a
// passkey of it, goes on in another tenant of its user.
func (s *SessionService) LeaveSessions(tx store.Tx, email, tenant string) error {
	ids, err := SessionsOf(tx, email, tenant)
	if err != nil {
		return err
	}
	others, err := Memberships(tx, email)
	if err != nil {
		return err
	}
	for _, id := range ids {
		rec, version, err := records.Sessions.Get(tx, store.Realm, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return err
		case rec.Bound || len(others) == 0:
			err = records.Sessions.Delete(tx, store.Realm, id)
		default:
			err = s.goOn(tx, id, rec, version, lastUsed(others))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goOn lets a session act in another tenant of its user, since its own has let them go.
func (s *SessionService) goOn(tx store.Tx, id string, rec *records.Session, version int64, u *records.User) error {
	rec.TenantID = u.TenantID
	if _, err := records.Sessions.Put(tx, store.Realm, id, rec, version); err != nil {
		return err
	}
	return s.AuditIn(tx, u.TenantID, core.Actor{Principal: core.PrincipalOfUser(u)}, access.SignIn, "user/"+u.Email, core.Change{After: "signed in", Reason: "the user was removed from the tenant in which the session acted"})
}

// sweepMost bounds how many expired records one request deletes.
const sweepMost = 20

// Sweep deletes some expired records, so that abandoned ones don't stay.
func (s *SessionService) Sweep(tx store.Tx, t *store.Table) error {
	rows, err := tx.List(t, store.Realm, store.Query{
		Where: []store.Filter{{Column: "expires", Op: store.AtMost, Values: []any{s.Config.Now().UnixMicro()}}},
		Order: []store.Order{{Column: "expires"}}, Limit: sweepMost,
	})
	for _, row := range rows {
		err = errors.Join(err, tx.Delete(t, store.Realm, row.ID))
	}
	return err
}
