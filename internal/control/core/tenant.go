package core

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TenantFor returns the tenant that an administrative request is about: the actor's own, or
// for a realm administrator the one that it names. For everybody else another tenant is
// not_found.
func TenantFor(tx store.Tx, a Actor, named string) (string, error) {
	if named == "" || named == a.Tenant {
		return a.Tenant, nil
	}
	missing := countersign.Errorf(countersign.CodeNotFound, "there is no tenant %s", named)
	if !a.Realm {
		return "", missing
	}
	_, _, err := records.Tenants.Get(tx, store.Realm, named)
	if errors.Is(err, store.ErrNotFound) {
		return "", missing
	}
	return named, err
}

// OwnProjectIDs refuses ids of projects that are another tenant's.
func OwnProjectIDs(tenant string, ids []string) error {
	for i, id := range ids {
		if !countersign.OwnsProjectID(tenant, id) {
			return countersign.Invalid(fmt.Sprintf("projectIds[%d]", i), "a project id of tenant %s begins with %s-", tenant, tenant)
		}
	}
	return nil
}
