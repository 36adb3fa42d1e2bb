// Package sessions holds browsers' sessions: who is in which tenant, what a session begins and ends
// with, and what somebody signs in by.
package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// SessionService is the use cases of browsers' sessions, and what of them others need.
type SessionService struct {
	*core.Core
	touching sync.Map // ids of the sessions whose last use is being written
}

// New returns the use cases.
func New(c *core.Core) *SessionService { return &SessionService{Core: c} }

// AuthenticateSession finds the principal of a session's secret. It has the rights that its
// user has now.
func (s *SessionService) AuthenticateSession(ctx context.Context, secret string) (access.Principal, error) {
	if !access.WellFormedSecret(secret) {
		return access.Principal{}, core.ErrSignedOut
	}
	id := access.HashToken(secret)
	var rec *records.Session
	var user *records.User
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if rec, _, err = records.Sessions.Get(tx, store.Realm, id); err != nil {
			return err
		}
		user, _, err = records.Users.Get(tx, rec.TenantID, rec.Email)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return access.Principal{}, core.ErrSignedOut
	case err != nil:
		return access.Principal{}, core.Public(err)
	case user.Invited:
		return access.Principal{}, core.ErrSignedOut
	}
	if s.Over(rec) {
		s.forget(ctx, id)
		return access.Principal{}, core.ErrSignedOut
	}
	if now := s.Config.Now(); now.Sub(rec.SeenAt) > core.LastUsePrecision {
		s.touchSession(ctx, id, now)
	}
	return core.PrincipalOfSession(id, rec, user), nil
}

// sessionsTried bounds how many cookies of a request are looked up.
const sessionsTried = 4

// AuthenticateSessions finds the first of these secrets that belongs to a session, and its
// principal. There may be several: another host of the domain may have set a cookie of the
// same name, which a browser may send first.
func (s *SessionService) AuthenticateSessions(ctx context.Context, secrets []string) (p access.Principal, secret string, err error) {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(text string) bool { return !access.WellFormedSecret(text) })
	for _, secret := range secrets[:min(len(secrets), sessionsTried)] {
		if p, err = s.AuthenticateSession(ctx, secret); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
			return p, secret, err
		}
	}
	return access.Principal{}, "", core.ErrSignedOut
}

// forget deletes a session that was seen expired before the caller is told, so that a clock
// that is set back doesn't make it valid again. If the store can't write, the next use
// deletes it.
func (s *SessionService) forget(ctx context.Context, id string) {
	err := s.Store.Update(ctx, func(tx store.Tx) error { return records.Sessions.Delete(tx, store.Realm, id) })
	if err != nil {
		s.Log.WarnContext(ctx, "can't delete an expired session", "error", err)
	}
}

// touchSession writes a session's last use in the background.
func (s *SessionService) touchSession(ctx context.Context, id string, now time.Time) {
	if _, underway := s.touching.LoadOrStore(id, true); underway {
		return
	}
	s.Background.Go(func() {
		defer s.touching.Delete(id)
		ctx := context.WithoutCancel(ctx)
		err := s.Store.Update(ctx, func(tx store.Tx) error {
			rec, version, err := records.Sessions.Get(tx, store.Realm, id)
			if err != nil {
				return err
			}
			rec.SeenAt = now
			_, err = records.Sessions.Put(tx, store.Realm, id, rec, version)
			return err
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			s.Log.WarnContext(ctx, "can't record a session's last use", "error", err)
		}
	})
}

// Session returns the actor's own session, or what its token may do. The caller adds the CSRF
// token, since only the caller has the session's secret.
func (s *SessionService) Session(ctx context.Context, a core.Actor) (out countersign.Session, err error) {
	err = s.View(ctx, a, access.ReadSession, func(tx store.Tx) error {
		out = countersign.Session{
			Principal: a.ID, Email: a.Email, TenantID: a.Tenant, Roles: a.Roles, ProjectIDs: a.Projects, Modes: a.Modes, Realm: a.Realm,
			Tenants: []string{a.Tenant}, ExpiresAt: a.ExpiresAt,
		}
		if a.Session == "" {
			return nil
		}
		out.LinkMakers = a.Lineage
		out.Tenants, err = s.within(tx, a)
		if err != nil {
			return err
		}
		offers, err := Invitations(tx, a.Email)
		for _, u := range offers {
			out.Invitations = append(out.Invitations, u.TenantID)
		}
		return err
	})
	return out, err
}

// within lists the tenants that a session may act in.
func (s *SessionService) within(tx store.Tx, a core.Actor) ([]string, error) {
	rec, _, err := records.Sessions.Get(tx, store.Realm, a.Session)
	switch {
	case err != nil:
		return nil, core.Ended(err)
	case rec.Bound:
		return []string{rec.TenantID}, nil
	}
	list, err := Memberships(tx, a.Email)
	out := make([]string, len(list))
	for i, u := range list {
		out[i] = u.TenantID
	}
	return out, err
}

// Entrance is what a session remembers of how it began; zero for a sign-in that proved who
// somebody is by their address.
type Entrance struct {
	Way    access.Way
	Makers []string // of a sign-in link: the session may be theirs
	Bound  bool     // it acts in this tenant only
	By     string   // for the audit log
}

// BeginSession stores a new session of a user and records it. It ends the browser's earlier
// session, which the browser could no longer end.
func (s *SessionService) BeginSession(tx store.Tx, u *records.User, secret string, before core.Actor, how Entrance) error {
	if err := s.Config.SignIn.Begins(how.Way); err != nil {
		return err
	}
	if err := errors.Join(s.Sweep(tx, store.Sessions), s.replaced(tx, before)); err != nil {
		return err
	}
	now := s.Config.Now()
	rec := &records.Session{TenantID: u.TenantID, Email: u.Email, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(access.SessionAbsolute), Makers: how.Makers, Bound: how.Bound, Way: how.Way}
	if _, err := records.Sessions.Put(tx, store.Realm, access.HashToken(secret), rec, 0); err != nil {
		return err
	}
	if err := s.markUsed(tx, u); err != nil {
		return err
	}
	a := core.Actor{Principal: core.PrincipalOfUser(u), RequestID: before.RequestID}
	return s.AuditIn(tx, u.TenantID, a, access.SignIn, "user/"+u.Email, core.Change{After: "signed in", Reason: how.By})
}

// replaced ends the browser's earlier session, if there is one.
func (s *SessionService) replaced(tx store.Tx, before core.Actor) error {
	if before.Session == "" {
		return nil
	}
	if _, _, err := records.Sessions.Get(tx, store.Realm, before.Session); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	if err := records.Sessions.Delete(tx, store.Realm, before.Session); err != nil {
		return err
	}
	return s.Audit(tx, before, access.SignOut, "user/"+before.Email, core.Change{Before: "signed in", After: "signed out"})
}

// SwitchTenant lets a session act in another tenant of its user.
func (s *SessionService) SwitchTenant(ctx context.Context, a core.Actor, tenant string) error {
	return core.Public(s.Store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := records.Sessions.Get(tx, store.Realm, a.Session)
		if err != nil {
			return core.Ended(err)
		}
		if rec.Bound && tenant != rec.TenantID {
			return countersign.Errorf(countersign.CodeRoleRequired, "this session acts in tenant %s only, since a sign-in link or a passkey of that tenant began it; sign in with a code to act in another", rec.TenantID)
		}
		u, _, err := records.Users.Get(tx, tenant, rec.Email)
		if err == nil && u.Invited {
			err = store.ErrNotFound
		}
		if err != nil {
			return core.Found(err, "tenant", tenant)
		}
		if err := s.markUsed(tx, u); err != nil {
			return err
		}
		rec.TenantID = tenant
		if _, err := records.Sessions.Put(tx, store.Realm, a.Session, rec, version); err != nil {
			return err
		}
		here := core.Actor{Principal: core.PrincipalOfUser(u), RequestID: a.RequestID}
		return s.AuditIn(tx, tenant, here, access.SignIn, "user/"+u.Email, core.Change{After: "signed in"})
	}))
}

// SignOut ends the session that asks.
func (s *SessionService) SignOut(ctx context.Context, a core.Actor) error {
	return s.end(ctx, a, func(tx store.Tx) ([]string, error) {
		if _, _, err := records.Sessions.Get(tx, store.Realm, a.Session); err != nil {
			return nil, core.Ended(err)
		}
		return []string{a.Session}, nil
	})
}

// SignOutEverywhere ends all sessions of the user, in every tenant. One that a sign-in link
// began may be somebody else's: it ends those that links and passkeys of its tenant began.
func (s *SessionService) SignOutEverywhere(ctx context.Context, a core.Actor) error {
	return s.end(ctx, a, func(tx store.Tx) ([]string, error) {
		if a.Requester().ByLink() {
			return boundSessionsOf(tx, a.Email, a.Tenant)
		}
		return SessionsOf(tx, a.Email, "")
	})
}

// boundSessionsOf lists the sessions of a user that are a tenant's own.
func boundSessionsOf(tx store.Tx, email, tenant string) (bound []string, err error) {
	ids, err := SessionsOf(tx, email, tenant)
	for _, id := range ids {
		rec, _, err := records.Sessions.Get(tx, store.Realm, id)
		if err != nil {
			return nil, err
		}
		if rec.Bound {
			bound = append(bound, id)
		}
	}
	return bound, err
}

func (s *SessionService) end(ctx context.Context, a core.Actor, which func(store.Tx) ([]string, error)) error {
	return core.Public(s.Store.Update(ctx, func(tx store.Tx) error {
		ids, err := which(tx)
		if err != nil {
			return err
		}
		in := []string{a.Tenant}
		for _, id := range ids {
			rec, _, err := records.Sessions.Get(tx, store.Realm, id)
			if err != nil {
				return err
			}
			in = append(in, rec.TenantID)
			if err := records.Sessions.Delete(tx, store.Realm, id); err != nil {
				return err
			}
		}
		slices.Sort(in)
		for _, tenant := range slices.Compact(in) { // each has the end of what acted in it
			if err := s.AuditIn(tx, tenant, a, access.SignOut, "user/"+a.Email, core.Change{Before: "signed in", After: "signed out"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// SessionsOf lists the sessions of an address; with a tenant, those that act there.
func SessionsOf(tx store.Tx, email, tenant string) ([]string, error) {
	rows, err := tx.List(store.Sessions, store.Realm, store.Query{Where: []store.Filter{store.Equal("email", email)}})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, row := range rows {
		var rec records.Session
		if err := records.Decode(row, &rec); err != nil {
			return nil, err
		}
		if tenant == "" || rec.TenantID == tenant {
			ids = append(ids, row.ID)
		}
	}
	return ids, nil
}
