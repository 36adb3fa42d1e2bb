package people

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A user of one tenant is not added to another without consent: an admin invites them, and
// they accept in the console. An invitation is a user record without any rights
// (contract 11).

// Invitations lists the invitations of the session's user, by tenant.
func (s *UserService) Invitations(ctx context.Context, a core.Actor) (out []countersign.User, err error) {
	if a.Session == "" {
		return nil, nil
	}
	err = s.View(ctx, a, access.ReadSession, func(tx store.Tx) error {
		list, err := sessions.Invitations(tx, a.Email)
		out = make([]countersign.User, len(list))
		for i, u := range list {
			out[i] = u.User
		}
		return err
	})
	return out, err
}

// AcceptInvitation makes the session's user a user of the tenant that invites them.
func (s *UserService) AcceptInvitation(ctx context.Context, a core.Actor, tenant string) error {
	if err := access.Proven(a.Principal, access.AcceptInvitation); err != nil {
		return s.Refuse(ctx, a, access.AcceptInvitation, "user/"+a.Email, err)
	}
	return core.Public(s.UpdateAs(ctx, a, func(tx store.Tx) error {
		u, err := invited(tx, a, tenant)
		if err != nil {
			return err
		}
		return s.sessions.AdmitUser(tx, u, a.RequestID)
	}))
}

// DeclineInvitation deletes an invitation.
func (s *UserService) DeclineInvitation(ctx context.Context, a core.Actor, tenant string) error {
	if err := access.Proven(a.Principal, access.DeclineInvitation); err != nil {
		return s.Refuse(ctx, a, access.DeclineInvitation, "user/"+a.Email, err)
	}
	return core.Public(s.UpdateAs(ctx, a, func(tx store.Tx) error {
		u, err := invited(tx, a, tenant)
		if err != nil {
			return err
		}
		if err := records.Users.Delete(tx, tenant, u.Email); err != nil {
			return err
		}
		who := core.Actor{Principal: core.PrincipalOfUser(u), RequestID: a.RequestID}
		return s.AuditIn(tx, tenant, who, access.DeclineInvitation, "user/"+u.Email, core.Change{Before: "invited", After: "gone"})
	}))
}

func invited(tx store.Tx, a core.Actor, tenant string) (*records.User, error) {
	none := countersign.Errorf(countersign.CodeNotFound, "no tenant %s invites you", tenant)
	if a.Session == "" {
		return nil, none
	}
	u, _, err := records.Users.Get(tx, tenant, a.Email)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, none
	case err != nil:
		return nil, err
	case !u.Invited:
		return nil, none
	}
	return u, nil
}
