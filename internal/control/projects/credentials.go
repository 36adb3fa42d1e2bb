package projects

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// CredentialService is the use cases of credential variables.
type CredentialService struct{ *core.Core }

// NewCredentials returns the use cases.
func NewCredentials(c *core.Core) *CredentialService { return &CredentialService{Core: c} }

// claim checks that a new project or webhook may use its credential, and binds an unbound
// one to the tenant. path is the request's field that names the credential.
func (s *CredentialService) claim(tx store.Tx, a core.Actor, u credential.Use, path, subject string) error {
	if u.Name == "" {
		return nil
	}
	bound, err := credowner.Claim(tx, s.Config.Allowed.Credentials, u, s.Config.Now())
	switch {
	case credential.IsRefusal(err):
		return project.NotAllowed(path, u, err)
	case err != nil || !bound:
		return err
	}
	return s.AuditIn(tx, store.Realm, a, access.BindCredential, credentialSubject(u.Name), core.Change{After: u.Tenant, Reason: "registered first by " + subject})
}

func credentialSubject(name string) string { return "credential/" + name }

// Credentials lists the variables with their tenants: those that are bound, and those that
// an entry of the settings gives to a tenant that uses them.
func (s *CredentialService) Credentials(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.Credential], err error) {
	err = s.View(ctx, a, access.ReadCredentials, func(tx store.Tx) error {
		all, err := s.credentials(tx)
		if err != nil {
			return err
		}
		first := min(l.Offset, len(all))
		last := min(first+l.Limit, len(all))
		page = countersign.NewPage(all[first:last], l.Offset, len(all))
		return nil
	})
	return page, err
}

func (s *CredentialService) credentials(tx store.Tx) ([]countersign.Credential, error) {
	uses, err := credowner.Uses(tx, s.Config.Unreadable.Pass)
	if err != nil {
		return nil, err
	}
	bindings, err := records.AllCredentials(tx)
	if err != nil {
		return nil, err
	}
	lists := s.Config.Allowed.Credentials
	var all []countersign.Credential
	listed := map[[2]string]bool{}
	add := func(name, tenant string, since time.Time) {
		if id := [2]string{name, tenant}; !listed[id] {
			listed[id] = true
			all = append(all, owned(name, tenant, since, lists.Origins(name, tenant), uses)...)
		}
	}
	for _, b := range bindings {
		if lists.Owns(b.TenantID, b.Name, b.TenantID) {
			add(b.Name, b.TenantID, b.Since)
		}
	}
	for _, u := range uses { // oldest first
		if named, err := lists.Judge(u.Use); err == nil && named {
			add(u.Name, u.Tenant, u.Since)
		}
	}
	slices.SortFunc(all, func(a, b countersign.Credential) int {
		return slices.Compare([]string{a.Name, a.TenantID, a.Origin}, []string{b.Name, b.TenantID, b.Origin})
	})
	return all, nil
}

// owned lists a tenant's variable, once for each origin that the settings limit it to.
func owned(name, tenant string, since time.Time, origins []string, uses []credowner.Use) (out []countersign.Credential) {
	if len(origins) == 0 {
		origins = []string{""}
	}
	for _, origin := range origins {
		c := countersign.Credential{Name: name, TenantID: tenant, Origin: origin, Since: since, Kinds: []string{}, Projects: []string{}}
		for _, u := range uses {
			if u.Name != name || u.Tenant != tenant || origin != "" && u.Origin != origin {
				continue
			}
			c.Kinds = append(c.Kinds, u.Kind)
			if u.Webhook != "" {
				c.Webhooks = append(c.Webhooks, u.Webhook)
			} else {
				c.Projects = append(c.Projects, u.Project)
			}
		}
		slices.Sort(c.Kinds)
		slices.Sort(c.Projects)
		slices.Sort(c.Webhooks)
		c.Kinds, c.Projects = slices.Compact(c.Kinds), slices.Compact(c.Projects)
		out = append(out, c)
	}
	return out
}

// FreeCredential ends the binding of a variable, even while projects use it: their calls
// with it are not sent, and the next tenant that registers it gets it.
func (s *CredentialService) FreeCredential(ctx context.Context, a core.Actor, name, reason string) (c countersign.Credential, err error) {
	if err := core.Given("reason", reason); err != nil {
		return c, err
	}
	err = s.Update(ctx, a, access.FreeCredential, credentialSubject(name), func(tx store.Tx) error {
		b, _, err := records.Credentials.Get(tx, store.Realm, records.CredentialID(name))
		if err != nil {
			return core.Found(err, "bound credential", name)
		}
		uses, err := credowner.Uses(tx, s.Config.Unreadable.Pass)
		if err != nil {
			return err
		}
		c = owned(name, b.TenantID, b.Since, nil, uses)[0]
		if err := records.Credentials.Delete(tx, store.Realm, records.CredentialID(name)); err != nil {
			return err
		}
		return s.AuditIn(tx, store.Realm, a, access.FreeCredential, credentialSubject(name), core.Change{Before: b.TenantID, Reason: strings.TrimSpace(reason)})
	})
	return c, err
}
