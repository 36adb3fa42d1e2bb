package credential

import (
	"errors"

	"github.com/countersign/countersign"
)

// Use is a requested use of a variable.
type Use struct {
	Tenant string
	Origin string // where to, normalized; "" for nowhere
	Kind   string // a type of authentication
	Name   string
}

// Why a use is refused.
var (
	ErrNotListed = errors.New("is not on the server's list")
	ErrElsewhere = errors.New("is listed for other tenants or origins only")
	ErrOthers    = errors.New("belongs to another tenant, which registered it first")
	ErrNobodys   = errors.New("belongs to no tenant: a project that uses it must be registered again")
)

// IsRefusal distinguishes refusals from errors of looking up a binding.
func IsRefusal(err error) bool {
	return errors.Is(err, ErrNotListed) || errors.Is(err, ErrElsewhere) || errors.Is(err, ErrOthers) || errors.Is(err, ErrNobodys)
}

// Judge says whether the lists allow a use. named reports that an entry names the
// tenant; without one the variable must also be bound to it.
func (l Lists) Judge(u Use) (named bool, err error) {
	lists := [...][]Entry{l.General, nil}
	if u.Kind == countersign.AuthHMAC { // either list serves
		lists[1] = l.Signing
	}
	listed, found, strict := false, false, l.qualifies(u.Name)
	for _, list := range lists {
		for _, e := range list {
			if !e.counts(u.Name, strict) {
				continue
			}
			listed = true
			if e.Origin == "" || e.Origin == u.Origin {
				named = named || e.Tenant != "" && e.Tenant == u.Tenant
				found = found || e.Tenant == "" || e.Tenant == u.Tenant
			}
		}
	}
	switch {
	case found:
		return named, nil
	case listed:
		return false, ErrElsewhere
	default:
		return false, ErrNotListed
	}
}

// Allows is nil when the lists and the binding allow a use. boundTo is the tenant
// that the variable is bound to, "" for none.
func (l Lists) Allows(u Use, boundTo string) error {
	switch named, err := l.Judge(u); {
	case err != nil || named || boundTo == u.Tenant:
		return err
	case boundTo == "":
		return ErrNobodys
	default:
		return ErrOthers
	}
}

// Owns reports whether a variable is a tenant's, by an entry or by its binding.
func (l Lists) Owns(tenant, name, boundTo string) bool {
	return l.namesTenant(name, tenant) || l.Bindable(name) && boundTo == tenant
}

func (l Lists) namesTenant(name, tenant string) bool {
	for _, e := range l.all() {
		if e.Name == name && e.Tenant == tenant {
			return true
		}
	}
	return false
}

// Bindable reports a variable that is bound to whoever registers it first: some entry
// that counts names no tenant, or there is no entry at all.
func (l Lists) Bindable(name string) bool {
	list := l.of(name, l.all())
	for _, e := range list {
		if e.Tenant == "" {
			return true
		}
	}
	return len(list) == 0
}

// The least bytes that a secret should have.
const (
	LeastSigning = 32
	LeastOther   = 16
)

// Weak reports a secret of so many bytes that could be guessed or searched for; none
// is missing rather than weak.
func Weak(kind string, bytes int) bool { return bytes > 0 && bytes < Least(kind) }

// Least is how many bytes a secret of this kind should have.
func Least(kind string) int {
	if kind == countersign.AuthHMAC {
		return LeastSigning
	}
	return LeastOther
}
