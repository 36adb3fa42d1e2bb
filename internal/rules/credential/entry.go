// Package credential decides who may use which credential variable, by the
// operator's lists and the bindings of variables to tenants (contract 11). It is
// pure and never sees a secret.
package credential

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Entry is one entry of a list: a variable, optionally limited to one tenant or one
// origin.
type Entry struct {
	Name   string
	Tenant string // "": the one that the variable is bound to
	Origin string // "": any, else normalized
}

// ParseEntry parses NAME, tenant/NAME, NAME@origin or tenant/NAME@origin.
func ParseEntry(text string) (e Entry, err error) {
	rest, origin, hasOrigin := strings.Cut(text, "@")
	tenant, name, hasTenant := strings.Cut(rest, "/")
	if !hasTenant {
		tenant, name = "", rest
	}
	e = Entry{Name: name, Tenant: tenant}
	switch {
	case !validName(name):
		return e, fmt.Errorf("%q is no name of an environment variable; an entry is NAME, tenant/NAME, NAME@https://origin or tenant/NAME@https://origin", name)
	case hasTenant && !countersign.ValidTenantID(tenant):
		return e, fmt.Errorf("%q is no tenant's id, which is 2 to 32 lower-case letters and digits, a letter first", tenant)
	case !hasOrigin:
		return e, nil
	}
	if e.Origin, err = request.NormalizeOrigin(origin); err != nil {
		return e, fmt.Errorf("the origin behind @: %w", err)
	}
	return e, nil
}

// validName reports a valid name of an environment variable.
func validName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && !strings.ContainsFunc(s, func(c rune) bool { return !isNameRune(c) })
}

func isNameRune(c rune) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// qualified reports an entry that names more than a variable.
func (e Entry) qualified() bool { return e.Tenant != "" || e.Origin != "" }

// Lists are the operator's lists: Signing for HMAC, General for every type.
type Lists struct{ Signing, General []Entry }

// Plain are lists of names alone.
func Plain(signing, general []string) (l Lists) {
	for _, name := range signing {
		l.Signing = append(l.Signing, Entry{Name: name})
	}
	for _, name := range general {
		l.General = append(l.General, Entry{Name: name})
	}
	return l
}

// Names are the variables on either list, each once.
func (l Lists) Names() (names []string) {
	seen := map[string]bool{}
	for _, e := range l.all() {
		if !seen[e.Name] {
			seen[e.Name] = true
			names = append(names, e.Name)
		}
	}
	return names
}

func (l Lists) all() []Entry {
	return append(append([]Entry{}, l.Signing...), l.General...)
}

// of are the entries that count for a variable: once one of them is qualified, on
// either list, those that name the variable alone count no more.
func (l Lists) of(name string, list []Entry) (out []Entry) {
	strict := l.qualifies(name)
	for _, e := range list {
		if e.counts(name, strict) {
			out = append(out, e)
		}
	}
	return out
}

func (e Entry) counts(name string, strict bool) bool {
	return e.Name == name && (!strict || e.qualified())
}

func (l Lists) qualifies(name string) bool {
	for _, list := range [...][]Entry{l.Signing, l.General} {
		for _, e := range list {
			if e.Name == name && e.qualified() {
				return true
			}
		}
	}
	return false
}

// Origins are those of a tenant's entries for a variable that name one, and those
// of entries that name no tenant.
func (l Lists) Origins(name, tenant string) (origins []string) {
	seen := map[string]bool{}
	for _, e := range l.of(name, l.all()) {
		if e.Origin != "" && (e.Tenant == "" || e.Tenant == tenant) && !seen[e.Origin] {
			seen[e.Origin] = true
			origins = append(origins, e.Origin)
		}
	}
	return origins
}
