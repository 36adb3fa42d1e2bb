// Package people holds the use cases of people and what they may: users, groups, delegations, tenants,
// tokens, accounts at chat services.
package people

import (
	"context"
	"errors"
	"net/mail"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// UserService is the use cases of a tenant's users.
type UserService struct {
	*core.Core
	sessions    *sessions.SessionService
	tokens      *TokenService
	groups      *GroupService
	delegations *DelegationService
	chats       *ChatService
}

// NewUsers returns the use cases. A user who leaves a tenant leaves everything else of it.
func NewUsers(c *core.Core, sessions *sessions.SessionService, tokens *TokenService, groups *GroupService, delegations *DelegationService, chats *ChatService) *UserService {
	return &UserService{Core: c, sessions: sessions, tokens: tokens, groups: groups, delegations: delegations, chats: chats}
}

// Users lists a tenant's users by e-mail.
func (s *UserService) Users(ctx context.Context, a core.Actor, l core.List, tenantID string) (page countersign.Page[countersign.User], err error) {
	err = s.View(ctx, a, access.ReadUsers, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		page, err = core.ShowPage(s.Core, tx, tenant, records.Users, l, l.Query(nil), func(u *records.User) (countersign.User, error) { return u.User, nil })
		return err
	})
	return page, err
}

// PutUser adds a user to a tenant, or changes their rights there. A user of another tenant
// is only invited, and has no rights before they accept. Runs that they started and
// decisions that they took before stay valid (contract 3).
func (s *UserService) PutUser(ctx context.Context, a core.Actor, email string, w countersign.UserWrite) (u countersign.User, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return u, err
	}
	if email, err = s.StoredSpelling(ctx, a, access.WriteUser, w.TenantID, email); err != nil {
		return u, err
	}
	a = a.Asking(email, w)
	if err := core.Wrong(slices.Concat(core.Repeated("roles", w.Roles), core.Repeated("projectIds", w.ProjectIDs))); err != nil {
		return u, err
	}
	err = s.Update(ctx, a, access.WriteUser, "user/"+email, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, w.TenantID)
		if err != nil {
			return err
		}
		if err := core.OwnProjectIDs(tenant, w.ProjectIDs); err != nil {
			return err
		}
		stored, version, err := records.Users.Get(tx, tenant, email)
		c := core.Change{}
		switch {
		case errors.Is(err, store.ErrNotFound):
			stored = &records.User{User: countersign.User{Email: email, TenantID: tenant, CreatedBy: a.ID, CreatedAt: s.Config.Now()}}
			if err := newUser(tx, tenant, email); err != nil {
				return err
			}
			if stored.Invited, err = sessions.Belongs(tx, email); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			c.Before = sessions.RightsOf(*stored)
		}
		if err := mayChangeUser(a, stored); err != nil {
			return err
		}
		c.Weaker = core.Granted(stored.Roles, stored.ProjectIDs, w.Roles, w.ProjectIDs)
		c.Weakens, c.Was, c.Now = len(c.Weaker) > 0, rightsShown(stored.Roles, stored.ProjectIDs), rightsShown(w.Roles, w.ProjectIDs)
		deciding, err := decidersOf(tx, tenant)
		if err != nil {
			return err
		}
		stored.Roles, stored.ProjectIDs, stored.UpdatedAt = w.Roles, w.ProjectIDs, s.Config.Now()
		if _, err := records.Users.Put(tx, tenant, email, stored, version); err != nil {
			return err
		}
		u, c.After = stored.User, sessions.RightsOf(*stored)
		if err := deciding.suffice(tx); err != nil {
			return err
		}
		return s.AuditIn(tx, tenant, a, access.WriteUser, "user/"+email, c)
	})
	return u, err
}

// DeleteUser ends somebody's membership of a tenant.
func (s *UserService) DeleteUser(ctx context.Context, a core.Actor, email, tenantID string) (u countersign.User, err error) {
	if email, err = s.StoredSpelling(ctx, a, access.DeleteUser, tenantID, email); err != nil {
		return u, err
	}
	err = s.Update(ctx, a, access.DeleteUser, "user/"+email, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		stored, _, err := records.Users.Get(tx, tenant, email)
		if err != nil {
			return core.Found(err, "user", email)
		}
		if err := mayChangeUser(a, stored); err != nil {
			return err
		}
		if stored.Realm {
			if err := keepsRealmAdmin(tx, s.Config.Now(), "user/"+email); err != nil {
				return err
			}
		}
		deciding, err := decidersOf(tx, tenant)
		if err != nil {
			return err
		}
		if err := records.Users.Delete(tx, tenant, email); err != nil {
			return err
		}
		if err := deciding.suffice(tx); err != nil {
			return err
		}
		if err := sessions.DropLink(tx, stored); err != nil {
			return err
		}
		if err := sessions.DropPasskeys(tx, tenant, email); err != nil {
			return err
		}
		if err := s.sessions.LeaveSessions(tx, email, tenant); err != nil {
			return err
		}
		if err := s.tokens.endConfirmations(tx, a, tenant, email); err != nil {
			return err
		}
		if err := s.groups.leaveGroups(tx, a, tenant, email); err != nil {
			return err
		}
		if err := s.delegations.leaveDelegations(tx, a, tenant, email); err != nil {
			return err
		}
		if err := s.chats.endChatLinks(tx, a, tenant, email); err != nil {
			return err
		}
		u = stored.User
		return s.AuditIn(tx, tenant, a, access.DeleteUser, "user/"+email, core.Change{Before: sessions.RightsOf(*stored), After: "gone"})
	})
	return u, err
}

// endSessions deletes a user's sessions in a tenant, so that an old browser is not signed
// in if they are added again.
func endSessions(tx store.Tx, email, tenant string) error {
	ids, err := sessions.SessionsOf(tx, email, tenant)
	for _, id := range ids {
		err = errors.Join(err, records.Sessions.Delete(tx, store.Realm, id))
	}
	return err
}

// Address returns the canonical form of an e-mail address, in which it is stored and
// compared.
func Address(path, text string) (string, error) {
	email, err := access.CanonicalEmail(text)
	if err != nil {
		return "", countersign.Invalid(path, "%v", err)
	}
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > maxEmail || strings.ContainsAny(email, " \t\r\n/\"") {
		return "", countersign.Invalid(path, "it is no e-mail address")
	}
	return email, nil
}

// NewAddress refuses an address that can be mistaken for another one. It judges new users
// only: existing ones keep theirs, and a sign-in treats all addresses alike.
func NewAddress(path, email string) error {
	if err := access.MistakableEmail(email); err != nil {
		return countersign.Invalid(path, "%v", err)
	}
	return nil
}

// maxEmail is the longest address that mail can carry.
const maxEmail = 254

// User reads one user of a tenant.
func (s *UserService) User(ctx context.Context, a core.Actor, email, tenantID string) (u countersign.User, err error) {
	if email, err = s.StoredSpelling(ctx, a, access.ReadUsers, tenantID, email); err != nil {
		return u, err
	}
	err = s.View(ctx, a, access.ReadUsers, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, tenantID)
		if err != nil {
			return err
		}
		rec, _, err := records.Users.Get(tx, tenant, email)
		if err != nil {
			return core.Found(err, "user", email)
		}
		u = rec.User
		return nil
	})
	return u, err
}
