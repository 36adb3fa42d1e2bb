package credowner

import (
	"fmt"

	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/storage/store"
)

// Look is what stands in a store of the use of credentials.
type Look struct {
	Uses  []Use             // the oldest first
	Bound map[string]string // tenants by variable
}

// LookAt reads it.
func LookAt(tx store.Tx) (l Look, err error) {
	if l.Uses, err = Uses(tx); err != nil {
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

// AtLeast says how long a secret of a kind should be.
func AtLeast(kind string) string { return fmt.Sprintf("%d bytes", credential.Least(kind)) }
