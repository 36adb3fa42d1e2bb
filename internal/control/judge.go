package control

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// mayJudge is nil when the actor may decide, probe or reconcile for a run of this mode
// that the requester asked for: its token is good for the mode, and four eyes look.
func (s *Service) mayJudge(tx store.Tx, a Actor, mode string, r access.Requester) error {
	if err := access.Mode(a.Principal, mode); err != nil {
		return err
	}
	r, err := ledger.Makers(tx, a.Tenant, r)
	if err != nil {
		return err
	}
	p := a.Principal
	if s.cfg.Eyes == access.EyesOfPeople && p.Session == "" && p.Person != "" {
		if err := isUser(tx, a.Tenant, p.Person); countersign.ErrorCode(err) == countersign.CodeNotFound {
			p.Person, p.Email = "", "" // gone since the token was confirmed
		} else if err != nil {
			return err
		}
	}
	return s.cfg.Eyes.MayJudge(p, r)
}

// isUser is nil for an address that is a user of the tenant, not only invited; else
// not_found.
func isUser(tx store.Tx, tenant, email string) error {
	u, _, err := records.Users.Get(tx, tenant, email)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Invited {
		return countersign.Errorf(countersign.CodeNotFound, "%s is no user of tenant %s", email, tenant)
	}
	return err
}

// judges is mayJudge of a run.
func (s *Service) judges(a Actor) func(store.Tx, *records.Run) error {
	return func(tx store.Tx, rec *records.Run) error { return s.mayJudge(tx, a, rec.Mode, rec.Requester) }
}

// barred is why the actor may not do the operation for a run: its role, its modes, or
// that it asked for the run; nil where it may. A store that can't be read bars too.
func (s *Service) barred(tx store.Tx, a Actor, op access.Operation, mode string, r access.Requester) error {
	if err := access.Allow(a.Principal, op); err != nil {
		return err
	}
	return s.mayJudge(tx, a, mode, r)
}
