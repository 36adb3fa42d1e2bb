// Package credowner keeps in the store which tenant a credential variable is bound to
// (contract 11). What the operator's lists mean is internal/rules/credential's to say.
//
// Whoever decides that a call is made reads the binding in the same transaction and
// gives it to the call: once a variable is freed nothing is decided with it, and a call
// that has been decided needs the store no more.
package credowner

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// BoundTo is the tenant that a variable is bound to, "" for none and for no variable.
func BoundTo(tx store.Tx, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	b, _, err := records.Credentials.Get(tx, store.Realm, records.CredentialID(name))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return b.TenantID, nil
}

// OfProject are the tenants that the variables of a project are bound to, by variable.
func OfProject(tx store.Tx, p *countersign.Project) (map[string]string, error) {
	auths := p.EffectiveAuths()
	bound := make(map[string]string, len(auths))
	for _, a := range auths {
		to, err := BoundTo(tx, a.CredentialEnv)
		if err != nil {
			return nil, err
		}
		bound[a.CredentialEnv] = to
	}
	return bound, nil
}

// Bound are all bindings: tenants by variable.
func Bound(tx store.Tx) (map[string]string, error) {
	list, err := records.AllCredentials(tx)
	bound := make(map[string]string, len(list))
	for _, b := range list {
		bound[b.Name] = b.TenantID
	}
	return bound, err
}

// Claim lets a tenant use a variable, which becomes the tenant's where the lists leave
// that open and nobody has it. bound reports that it just did.
func Claim(tx store.Tx, l credential.Lists, u credential.Use, now time.Time) (bound bool, err error) {
	if named, err := l.Judge(u); err != nil || named {
		return false, err
	}
	to, err := BoundTo(tx, u.Name)
	if err != nil {
		return false, err
	}
	if to != "" {
		return false, l.Allows(u, to)
	}
	return true, Bind(tx, u.Name, u.Tenant, now)
}

// Bind makes a variable a tenant's that is nobody's.
func Bind(tx store.Tx, name, tenant string, now time.Time) error {
	b := &records.Credential{Name: name, TenantID: tenant, Since: now}
	_, err := records.Credentials.Put(tx, store.Realm, records.CredentialID(name), b, 0)
	return err
}
