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

// PrincipalOfIdentity is an agent's principal by one of its identities; false where it has none such.
func PrincipalOfIdentity(head *records.AgentHead, tenant string, as countersign.Identity) (p access.Principal, ok bool) {
	at := slices.IndexFunc(head.Identities, func(i records.AgentIdentity) bool { return i.Identity() == as })
	if at < 0 {
		return p, false
	}
	i := head.Identities[at]
	return access.Principal{
		ID: "agent:" + head.ID, Tenant: tenant, Roles: []countersign.Role{countersign.RoleOperator}, Agents: []string{head.ID},
		Modes: i.Modes, Lineage: i.Makers, Identity: &as,
	}, true
}

// presentIdentity is the principal of an agent that signed in at an identity provider: while the
// agent has the identity, and its token holds.
func (s *Rights) presentIdentity(tx store.Tx, a Actor) (p access.Principal, err error) {
	head, _, err := records.Agents.Get(tx, a.Tenant, strings.TrimPrefix(a.ID, "agent:"))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return p, ErrToken
	case err != nil:
		return p, err
	}
	p, ok := PrincipalOfIdentity(head, a.Tenant, *a.Identity)
	if !ok || !s.Config.Now().Before(a.ExpiresAt) {
		return p, ErrToken
	}
	return p, nil
}
