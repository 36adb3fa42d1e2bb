package signin

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// everyRole lists the roles of the first person, who must be able to do everything except
// decide their own requests.
var everyRole = []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator, countersign.RoleApprover}

// errSetupLink refuses every invalid set-up link.
var errSetupLink = countersign.Errorf(countersign.CodeUnauthenticated, "this set-up link is not right, or has expired; with the bootstrap token you can add a user: PUT /users/{email}")

// errIsSetUp refuses every set-up link once the service is set up.
var errIsSetUp = countersign.Errorf(countersign.CodeUnauthenticated, "this service is set up already, so no set-up link is good any more; sign in, or with the bootstrap token add a user: PUT /users/{email}")

// CanSetUp returns nil if a set-up link is valid now. It changes nothing, since mail
// scanners and previews follow links.
func (s *SignInService) CanSetUp(ctx context.Context, link string) error {
	return core.Public(s.Store.View(ctx, func(tx store.Tx) error {
		return s.checkLink(tx, link)
	}))
}

func (s *SignInService) checkLink(tx store.Tx, link string) error {
	rec, _, err := records.SetupLinks.Get(tx, store.Realm, records.SetupID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errIsSetUp
	case err != nil:
		return err
	case !access.SameHash(rec.Hash, access.HashToken(link)) || !s.Config.Now().Before(rec.ExpiresAt):
		return errSetupLink
	}
	return nil
}

// SetUp makes the first realm administrator of the console, signs them in, and deletes the
// link. before is as in SignIn.
func (s *SignInService) SetUp(ctx context.Context, link, email, from string, before core.Actor) (session string, err error) {
	if err := s.Try(ctx, from); err != nil {
		return "", err
	}
	if email, err = people.Address("email", email); err != nil {
		return "", err
	}
	session = access.FormatSecret(s.Config.NewSecret())
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if err := s.checkLink(tx, link); err != nil {
			return err
		}
		if err := records.SetupLinks.Delete(tx, store.Realm, records.SetupID); err != nil {
			return err
		}
		u, err := s.realmUser(tx, "email", email, before.RequestID)
		if err != nil {
			return err
		}
		return s.sessions.BeginSession(tx, u, session, before, sessions.Entrance{Way: access.BySetUp})
	})
	if err != nil {
		return "", core.Public(err)
	}
	s.succeeded(ctx, from)
	return session, nil
}

// realmUser makes an address a realm administrator with every role in `default`. path is
// the request's field with the address.
func (s *SignInService) realmUser(tx store.Tx, path, email, requestID string) (*records.User, error) {
	now, tenant := s.Config.Now(), countersign.DefaultTenant
	u, version, err := records.Users.Get(tx, tenant, email)
	c := core.Change{}
	switch {
	case errors.Is(err, store.ErrNotFound):
		if err := people.NewAddress(path, email); err != nil {
			return nil, err
		}
		u = &records.User{User: countersign.User{Email: email, TenantID: tenant, CreatedBy: countersign.SystemPrincipal, CreatedAt: now}}
	case err != nil:
		return nil, err
	default:
		c.Before = sessions.RightsOf(*u)
	}
	c.Weakens = !u.Realm || len(core.Granted(u.Roles, u.ProjectIDs, everyRole, nil)) > 0
	u.Roles, u.ProjectIDs, u.Realm, u.Invited, u.UpdatedAt = everyRole, nil, true, false, now
	if _, err := records.Users.Put(tx, tenant, email, u, version); err != nil {
		return nil, err
	}
	c.After = sessions.RightsOf(*u)
	system := core.Actor{Principal: access.System(tenant), RequestID: requestID}
	return u, s.AuditIn(tx, tenant, system, access.WriteUser, "user/"+email, c)
}

// EnsureAdmin makes an address the first realm administrator of the console, unless there
// is one already, and reports whether it did.
func (s *SignInService) EnsureAdmin(ctx context.Context, email string) (made bool, err error) {
	if email, err = people.Address("SVC_PLATFORM_ADMIN_EMAIL", email); err != nil {
		return false, err
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		made = false
		users, err := records.Users.List(tx, countersign.DefaultTenant, store.Query{})
		if err != nil {
			return err
		}
		for _, u := range users {
			if u.Realm {
				return nil
			}
		}
		made = true
		_, err = s.realmUser(tx, "SVC_PLATFORM_ADMIN_EMAIL", email, "")
		return err
	})
	return made, core.Public(err)
}
