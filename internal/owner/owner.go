// Package owner keeps in the store which tenant a credential variable is bound to, and
// says for each call whether it may use one (contract 11). What the operator's lists
// mean is internal/credential's to say.
package owner

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/credential"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// Viewer reads a store.
type Viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

// Guard judges calls by the lists and the bindings.
type Guard struct {
	Lists credential.Lists
	Store Viewer
}

// errUnread is the answer where nobody can say whose a variable is: then it is not used.
var errUnread = errors.New("can't be used now: the store doesn't say which tenant it belongs to")

// pause is how long a call waits before the store is asked once more.
const pause = 100 * time.Millisecond

// MayUse is nil when the use is allowed now. The binding is read anew for each call, so
// that a variable which was freed is sent by nobody, at any replica. While the store
// can't be read, a database that fails over say, the call waits, as long as it has time.
func (g Guard) MayUse(ctx context.Context, u credential.Use) error {
	named, err := g.Lists.Judge(u)
	if err != nil || named {
		return err
	}
	for {
		bound, err := g.boundTo(ctx, u.Name)
		switch {
		case err == nil:
			return g.Lists.Allows(u, bound)
		case !errors.Is(err, store.ErrUnavailable):
			return errUnread
		}
		select {
		case <-ctx.Done():
			return errUnread
		case <-time.After(pause):
		}
	}
}

func (g Guard) boundTo(ctx context.Context, name string) (bound string, err error) {
	err = g.Store.View(ctx, func(tx store.Tx) (err error) {
		bound, err = BoundTo(tx, name)
		return err
	})
	return bound, err
}

// BoundTo is the tenant that a variable is bound to, "" for none.
func BoundTo(tx store.Tx, name string) (string, error) {
	b, _, err := records.Credentials.Get(tx, store.Realm, records.CredentialID(name))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return b.TenantID, nil
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
