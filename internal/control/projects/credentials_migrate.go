package projects

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// BindCredentials runs once for each store: earlier releases let every tenant use every
// variable. It binds each variable in use to the tenant of the oldest project that uses
// it, and disables other tenants' projects that use it. It logs every use of another
// tenant's variable, and every secret that is too short.
func (s *CredentialService) BindCredentials(ctx context.Context) error {
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		_, _, err := records.CredentialMarks.Get(tx, store.Realm, records.CredentialsBoundID)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := s.bindAll(tx); err != nil {
			return err
		}
		mark := &records.CredentialsBound{At: s.Config.Now()}
		_, err = records.CredentialMarks.Put(tx, store.Realm, records.CredentialsBoundID, mark, 0)
		return err
	})
	if err != nil {
		return err
	}
	var look credowner.Look
	if err := s.Store.View(ctx, func(tx store.Tx) (err error) { look, err = credowner.LookAt(tx, s.Config.Unreadable.Pass); return err }); err != nil {
		return err
	}
	for _, u := range look.Foreign(s.Config.Allowed.Credentials) {
		s.Log.Warn("the credential belongs to another tenant: nothing is sent with it", "subject", u.Subject(), "tenant", u.Tenant, "credential", u.Name, "enabled", u.Enabled)
	}
	for _, u := range look.Uses {
		s.warnIfWeak(u)
	}
	return nil
}

func (s *CredentialService) warnIfWeak(u credowner.Use) {
	if !credential.Weak(u.Kind, s.Config.Allowed.SecretBytes(u.Name)) {
		return
	}
	s.Log.Warn("the secret is too short", "subject", u.Subject(), "tenant", u.Tenant, "credential", u.Name, "kind", u.Kind, "atLeast", credowner.AtLeast(u.Kind))
}

func (s *CredentialService) bindAll(tx store.Tx) error {
	look, err := credowner.LookAt(tx, credowner.Strict) // who is the oldest is decided once, for good
	if err != nil {
		return err
	}
	lists, system := s.Config.Allowed.Credentials, core.Actor{Principal: access.System(countersign.DefaultTenant)}
	for _, u := range look.Oldest(lists) {
		if err := credowner.Bind(tx, u.Name, u.Tenant, s.Config.Now()); err != nil {
			return err
		}
		c := core.Change{After: u.Tenant, Reason: "at the first start of a release that binds credentials: " + u.Subject() + " is the oldest that uses it"}
		if err := s.AuditIn(tx, store.Realm, system, access.BindCredential, credentialSubject(u.Name), c); err != nil {
			return err
		}
	}
	if look, err = credowner.LookAt(tx, credowner.Strict); err != nil {
		return err
	}
	for _, u := range look.Foreign(lists) {
		if err := s.disableForeign(tx, system, u); err != nil {
			return err
		}
	}
	return nil
}

// disableForeign disables a project and clears its health check: it can be enabled again
// only after a check with a credential of its own tenant. A webhook is left unchanged;
// nothing is sent for it.
func (s *CredentialService) disableForeign(tx store.Tx, system core.Actor, u credowner.Use) error {
	if u.Webhook != "" || !u.Enabled {
		return nil
	}
	h, version, err := records.Projects.Get(tx, u.Tenant, u.Project)
	if err != nil {
		return err
	}
	if !h.Enabled { // by another of its credentials
		return nil
	}
	h.Enabled, h.Health, h.UpdatedAt = false, nil, s.Config.Now()
	if _, err := records.Projects.Put(tx, u.Tenant, h.ID, h, version); err != nil {
		return err
	}
	c := core.Change{Before: enabledText(true), After: enabledText(false), Reason: "its credential " + u.Name + " belongs to another tenant"}
	return s.AuditIn(tx, u.Tenant, system, access.ToggleProject, u.Subject(), c)
}
