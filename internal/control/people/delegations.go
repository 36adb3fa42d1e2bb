package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// DelegationService is the use cases of delegations.
type DelegationService struct{ *core.Core }

// NewDelegations returns the use cases.
func NewDelegations(c *core.Core) *DelegationService { return &DelegationService{Core: c} }

// Delegations lists the tenant's delegations by who is away, those that are over too.
func (s *DelegationService) Delegations(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.Delegation], err error) {
	err = s.View(ctx, a, access.ReadDelegations, func(tx store.Tx) error {
		page, err = records.Delegations.Page(tx, a.Tenant, l.Query(nil, records.AllDelegations()...))
		return err
	})
	return page, err
}

// PutDelegation lets another user decide in place of one who is away, who says so themself
// or for whom an ADMIN does. It takes the place of an earlier one.
func (s *DelegationService) PutDelegation(ctx context.Context, a core.Actor, away string, w countersign.DelegationWrite) (d countersign.Delegation, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return d, err
	}
	d = countersign.Delegation{From: w.From, Until: w.Until, Reason: w.Reason, CreatedBy: a.ID, CreatedAt: s.Config.Now()}
	if d.From.IsZero() {
		d.From = d.CreatedAt
	}
	if err := checkDelegation(d); err != nil {
		return d, err
	}
	a = a.Asking(away, w)
	subject := "delegation/" + access.Folded(away)
	err = s.Update(ctx, a, access.WriteDelegation, subject, func(tx store.Tx) error {
		if d.User, err = awayUser(tx, a, away); err != nil {
			return err
		}
		if d.Delegate, err = delegateOf(tx, a.Tenant, d.User, w.Delegate); err != nil {
			return err
		}
		was, version, err := delegationOf(tx, a.Tenant, d.User)
		if err != nil {
			return err
		}
		if _, err := records.Delegations.Put(tx, a.Tenant, records.DelegationID(d.User), &d, version); err != nil {
			return err
		}
		c := core.Change{Before: delegationState(was), After: delegationState(&d), Reason: d.Reason, Weakens: true, Was: delegationShown(was), Now: delegationShown(&d)}
		return s.Audit(tx, a, access.WriteDelegation, "delegation/"+d.User, c)
	})
	return d, err
}

// EndDelegation ends a delegation, or takes one back that has not begun. What was decided
// within it stays decided.
func (s *DelegationService) EndDelegation(ctx context.Context, a core.Actor, away string) (d countersign.Delegation, err error) {
	err = s.Update(ctx, a, access.DeleteDelegation, "delegation/"+access.Folded(away), func(tx store.Tx) error {
		email, err := awayUser(tx, a, away)
		if err != nil {
			return err
		}
		was, _, err := delegationOf(tx, a.Tenant, email)
		if err != nil {
			return err
		}
		if was == nil {
			return countersign.Errorf(countersign.CodeNotFound, "%s has delegated to nobody", email)
		}
		d = *was
		return s.dropDelegation(tx, a, a.Tenant, access.DeleteDelegation, was)
	})
	return d, err
}

// checkDelegation checks what a delegation says by itself.
func checkDelegation(d countersign.Delegation) error {
	switch {
	case d.Until.IsZero():
		return countersign.Invalid("until", "say when it ends")
	case !d.Until.After(d.From) || !d.Until.After(d.CreatedAt):
		return countersign.Invalid("until", "it must be after from, and in the future")
	case d.Until.Sub(d.From) > countersign.MaxDelegation:
		return countersign.Invalid("until", "it must be within 90 days of from")
	}
	return core.Given("reason", d.Reason)
}

// mayDelegate returns nil if the actor may delegate in a user's name: the user, or an ADMIN
// of the whole tenant. What is limited to projects or a mode lends no more than it has,
// except of a user who signed in, whose projects bound the delegation anyway.
func mayDelegate(a core.Actor, away string) error {
	if a.Modes != nil {
		return countersign.Errorf(countersign.CodeRoleRequired, "this token is limited to some modes, and a delegation is not")
	}
	if a.Person == away && (a.Session != "" || !a.Limited()) {
		return nil
	}
	err := access.Allow(a.Principal, access.WriteGroup)
	if countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		return err
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "a delegation of %s is made by themself, signed in or with a token of theirs that is not limited to projects, or by an ADMIN", away)
}

// delegateOf finds the user who is to decide in place of another.
func delegateOf(tx store.Tx, tenant, away, delegate string) (string, error) {
	email, err := Address("delegate", delegate)
	if err == nil {
		email, err = memberOf(tx, tenant, "delegate", email)
	}
	if err != nil {
		return "", err
	}
	u, err := core.UserOf(tx, tenant, email)
	if err != nil {
		return "", err
	}
	if email == away {
		return "", countersign.Invalid("delegate", "name another user than %s", away)
	}
	if access.Allow(core.PrincipalOfUser(u), access.DecideApproval) != nil {
		return "", countersign.Invalid("delegate", "%s does not have the role APPROVER; a delegate decides as themself", email)
	}
	return email, nil
}

// awayUser finds the user in whose name the actor delegates, if it may.
func awayUser(tx store.Tx, a core.Actor, text string) (string, error) {
	email, err := Address("email", text)
	if err != nil {
		return "", err
	}
	if err := mayDelegate(a, email); err != nil {
		return "", err
	}
	u, err := core.UserOf(tx, a.Tenant, email)
	if countersign.ErrorCode(err) == countersign.CodeNotFound {
		return "", countersign.Errorf(countersign.CodeNotFound, "there is no user %s in tenant %s", email, a.Tenant)
	}
	if err != nil {
		return "", err
	}
	return u.Email, nil
}

// delegationOf reads the delegation of who is away, nil for none.
func delegationOf(tx store.Tx, tenant, email string) (*countersign.Delegation, int64, error) {
	d, version, err := records.Delegations.Get(tx, tenant, records.DelegationID(email))
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	return d, version, err
}

func (s *DelegationService) dropDelegation(tx store.Tx, a core.Actor, tenant string, op access.Operation, d *countersign.Delegation) error {
	if err := records.Delegations.Delete(tx, tenant, records.DelegationID(d.User)); err != nil {
		return err
	}
	return s.AuditIn(tx, tenant, a, op, "delegation/"+d.User, core.Change{Before: delegationState(d), After: "gone"})
}

// leaveDelegations ends the delegations by and to a user who leaves a tenant: if they are
// added again, none of them comes back.
func (s *DelegationService) leaveDelegations(tx store.Tx, a core.Actor, tenant, email string) error {
	all, err := records.Delegations.List(tx, tenant, store.Query{Where: records.AllDelegations()})
	if err != nil {
		return err
	}
	for i := range all {
		if d := &all[i]; d.User == email || d.Delegate == email {
			if err := s.dropDelegation(tx, a, tenant, access.DeleteUser, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// delegationShown is a delegation as a change of it is shown.
func delegationShown(d *countersign.Delegation) countersign.Value {
	if d == nil {
		return countersign.ObjectValue(nil)
	}
	return core.Members(map[string]any{"delegate": d.Delegate, "from": d.From, "until": d.Until})
}

// delegationState describes a delegation in the audit log.
func delegationState(d *countersign.Delegation) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("%s from %s until %s", d.Delegate, d.From.UTC().Format(time.RFC3339), d.Until.UTC().Format(time.RFC3339))
}
