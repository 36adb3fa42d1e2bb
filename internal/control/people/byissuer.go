package people

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// hasParts reports a token that may be an identity provider's. None of ours has a dot.
func hasParts(token string) bool { return strings.Count(token, ".") >= 2 }

// byIssuer finds the agent that a token's claims bind: with the rights of an agent token of it.
func (s *AuthenticationService) byIssuer(ctx context.Context, token, door string) (p access.Principal, err error) {
	t, err := s.Config.Issuers.Verify(ctx, token, door)
	if err != nil {
		return p, err
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		p, err = principalOfToken(tx, t)
		return err
	})
	return p, err
}

func principalOfToken(tx store.Tx, t issuer.Token) (p access.Principal, err error) {
	agent, as, err := boundAgent(tx, t)
	if err != nil {
		return p, err
	}
	head, _, err := records.Agents.Get(tx, t.Tenant, agent)
	if errors.Is(err, store.ErrNotFound) {
		return p, notBound(t)
	}
	if err != nil {
		return p, err
	}
	p, ok := core.PrincipalOfIdentity(head, t.Tenant, as)
	if !ok {
		return p, notBound(t)
	}
	if p.Name, err = records.NameOf(tx, t.Tenant, p.ID); err != nil && !unreadable.Is(err) {
		return p, err
	}
	p.ExpiresAt = t.ExpiresAt
	if as.Claim != claimSubject && t.Subject != "" {
		p.OnBehalfOf = &countersign.OnBehalfOf{Issuer: t.Issuer, Subject: t.Subject, Email: t.Email}
	}
	return p, nil
}

const claimSubject = "sub"

// boundAgent is the one agent of the tenant that a token's claims bind, and by which of them: the
// first in the order of contract 12.3. Claims that bind different agents bind none.
func boundAgent(tx store.Tx, t issuer.Token) (agent string, as countersign.Identity, err error) {
	for _, claim := range claimsInOrder(t.Texts) {
		i := countersign.Identity{Issuer: t.Issuer, Claim: claim, Value: t.Texts[claim]}
		owner, _, err := records.IdentityOwners.Get(tx, t.Tenant, records.IdentityID(i))
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return "", as, err
		case agent == "":
			agent, as = owner.AgentID, i
		case agent != owner.AgentID:
			return "", as, &issuer.RefusedError{Check: "identity", Why: "its claims bind different agents of tenant " + t.Tenant}
		}
	}
	if agent == "" {
		return "", as, notBound(t)
	}
	return agent, as, nil
}

func notBound(t issuer.Token) error {
	return &issuer.RefusedError{Check: "identity", Why: "no agent of tenant " + t.Tenant + " has a claim of it as an identity"}
}

func claimsInOrder(texts map[string]string) (names []string) {
	named := slices.Sorted(maps.Keys(texts))
	for _, one := range []string{"act.sub", "client_id", "azp"} {
		if _, has := texts[one]; has {
			names = append(names, one)
		}
	}
	names = append(names, slices.DeleteFunc(named, func(name string) bool { return !strings.HasPrefix(name, "https://") })...)
	if _, has := texts[claimSubject]; has {
		names = append(names, claimSubject)
	}
	return names
}
