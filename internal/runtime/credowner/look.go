package credowner

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/storage/store"
)

// Look is what stands in a store of the use of credentials.
type Look struct {
	Uses  []Use             // the oldest first
	Bound map[string]string // tenants by variable
}

// LookAt reads it.
func LookAt(tx store.Tx, damaged Damaged) (l Look, err error) {
	if l.Uses, err = Uses(tx, damaged); err != nil {
		return l, err
	}
	l.Bound, err = Bound(tx)
	return l, err
}

// Oldest are the first uses of the variables that are to be bound and are not: a
// project's, or where only webhooks use one, a webhook's. Whoever an entry names needs
// no binding.
func (l Look) Oldest(lists credential.Lists) (first []Use) {
	seen := map[string]bool{}
	for _, hooks := range []bool{false, true} {
		for _, u := range l.Uses {
			isHook := u.Webhook != ""
			if isHook != hooks || seen[u.Name] || l.Bound[u.Name] != "" || !lists.Bindable(u.Name) || lists.Owns(u.Tenant, u.Name, "") {
				continue
			}
			seen[u.Name] = true
			first = append(first, u)
		}
	}
	return first
}

// Foreign are the uses of variables that are not the tenant's.
func (l Look) Foreign(lists credential.Lists) (uses []Use) {
	for _, u := range l.Uses {
		if !lists.Owns(u.Tenant, u.Name, l.Bound[u.Name]) {
			uses = append(uses, u)
		}
	}
	return uses
}

// SignsAt are the origins at which a variable signs by HMAC. What is signed does not name the
// origin, so whoever holds the secret at one of them can sign for the others.
type SignsAt struct {
	Name    string
	Origins []string
}

// Shared are the variables that sign at several origins, unless an entry names each of them.
func (l Look) Shared(lists credential.Lists) (shared []SignsAt) {
	at := map[string]*SignsAt{}
	unnamed := map[string]bool{}
	var order []*SignsAt
	for _, u := range l.Uses {
		if u.Kind != countersign.AuthHMAC || u.Origin == "" {
			continue
		}
		s := at[u.Name]
		if s == nil {
			s = &SignsAt{Name: u.Name}
			at[u.Name], order = s, append(order, s)
		}
		if !slices.Contains(s.Origins, u.Origin) {
			s.Origins = append(s.Origins, u.Origin)
		}
		if !slices.Contains(lists.Origins(u.Name, u.Tenant), u.Origin) {
			unnamed[u.Name] = true
		}
	}
	for _, s := range order {
		if len(s.Origins) > 1 && unnamed[s.Name] {
			shared = append(shared, *s)
		}
	}
	return shared
}

// AtLeast says how long a secret of a kind should be.
func AtLeast(kind string) string { return fmt.Sprintf("%d bytes", credential.Least(kind)) }
