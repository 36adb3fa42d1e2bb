package core

import (
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// PrincipalIn is PrincipalOf in a transaction, which knows what the maker of a reading token has
// at this moment.
func (s *Rights) PrincipalIn(tx store.Tx, t *records.Token) (access.Principal, error) {
	p := s.PrincipalOf(t)
	if t.Reads == nil {
		return p, nil
	}
	makers, err := s.makers(tx, t)
	p.Reads = access.StillReads(t.Reads, t.TenantID, makers...)
	return p, err
}

// makers are the principals of a token's maker: its own tenant's, and where a realm administrator
// may have made it those of `default`. One that has ended is none.
func (s *Rights) makers(tx store.Tx, t *records.Token) (out []access.Principal, err error) {
	tenants := slices.Compact([]string{t.TenantID, countersign.DefaultTenant})
	for _, tenant := range tenants {
		p, is, err := s.maker(tx, tenant, t.CreatedBy)
		if err != nil {
			return nil, err
		}
		if is {
			out = append(out, p)
		}
	}
	return out, nil
}

func (s *Rights) maker(tx store.Tx, tenant, principal string) (p access.Principal, is bool, err error) {
	kind, id, _ := strings.Cut(principal, ":")
	switch kind {
	case "token":
		var t *records.Token
		if t, _, err = records.Tokens.Get(tx, tenant, id); err == nil && s.Usable(t) {
			return s.PrincipalOf(t), true, nil
		}
	case "user":
		var u *records.User
		if u, _, err = records.Users.Get(tx, tenant, id); err == nil && !u.Invited {
			return PrincipalOfUser(u), true, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return p, false, err
}
