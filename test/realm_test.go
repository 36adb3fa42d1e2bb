package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// realmWorld has a realm administrator who is a user, besides the bootstrap token; it returns that token's id.
func realmWorld(t *testing.T) (w *world, bootstrap string) {
	t.Helper()
	w = ownWorld(t, harness.Set("ADMIN_EMAIL", "root@example.com"))
	for _, token := range w.Admin.Get("/tokens?limit=200").OK(t).At("items").Items() {
		if token.At("createdBy").Text() == "system" {
			return w, token.At("id").Text()
		}
	}
	t.Fatal("no bootstrap token")
	return nil, ""
}

// TestATenantsAdminIsNotOverARealmAdministrator: an ADMIN of `default` with every role, by a token and by a session.
func TestATenantsAdminIsNotOverARealmAdministrator(t *testing.T) {
	t.Parallel()
	w, bootstrap := realmWorld(t)
	every := []string{"ADMIN", "OPERATOR", "APPROVER", "VIEWER"}
	_, roots := w.token(t, doc{"roles": []string{"VIEWER"}, "userEmail": "root@example.com"})
	byToken := w.principal(t, every...)
	ada := w.person(t, "ada@example.com", every...)
	before := w.Admin.Get("/users").OK(t).String()
	for _, do := range []func(method, path string, body any) *harness.Answer{
		func(method, path string, body any) *harness.Answer { return byToken.Do(method, path, body) },
		func(method, path string, body any) *harness.Answer {
			return w.As("").Do(method, path, body, ada.Cookie(), w.csrf(t, ada))
		},
	} {
		do("PUT", "/users/root@example.com", doc{"roles": []string{"VIEWER"}}).Refused(t, "role_required", "realm administrator")
		do("PUT", "/users/Root@example.com", doc{"roles": every, "projectIds": []string{shop}}).Refused(t, "role_required", "realm administrator")
		do("DELETE", "/users/root@example.com", nil).Refused(t, "role_required", "realm administrator")
		do("DELETE", "/tokens/"+bootstrap, nil).Refused(t, "role_required", "realm administrator")
		do("DELETE", "/tokens/"+roots.At("id").Text(), nil).Refused(t, "role_required", "realm administrator")
	}
	if after := w.Admin.Get("/users").OK(t).String(); after != before {
		t.Errorf("the users were %s, and are %s", before, after)
	}
	w.Admin.Get("/tenants").OK(t)
	w.tenantAdmin.Get("/audit?action=users.delete").OK(t).Is(t, "items.0.outcome", "refused: role_required").Is(t, "items.0.subject", "user/root@example.com")
	// What a realm administrator made for the tenant is the tenant's.
	_, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	byToken.Delete("/tokens/" + made.At("id").Text()).OK(t)
	byToken.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	byToken.Delete("/users/ada@example.com").OK(t)
	w.Admin.Put("/users/root@example.com", doc{"roles": every}).OK(t)
	w.Admin.Delete("/tokens/" + roots.At("id").Text()).OK(t)
}

// TestATokenThatNamesARealmAdministratorWithoutTheirWordIsRevoked: such a token belongs to its tenant, or its creator could make it
// unrevocable for the other ADMINs.
func TestATokenThatNamesARealmAdministratorWithoutTheirWordIsRevoked(t *testing.T) {
	t.Parallel()
	w, _ := realmWorld(t)
	rogue := w.principal(t, "ADMIN", "OPERATOR")
	made := rogue.Post("/tokens", doc{"name": "kept", "roles": []string{"ADMIN"}, "userEmail": "root@example.com"}).OK(t)
	w.Keep(made.At("token").Text())
	w.principal(t, "ADMIN").Delete("/tokens/" + made.At("id").Text()).OK(t)
}

// TestWhatARealmAdministratorHasInAnotherTenantIsThatTenants: their user and tokens in another tenant are like everybody's.
func TestWhatARealmAdministratorHasInAnotherTenantIsThatTenants(t *testing.T) {
	t.Parallel()
	w, _ := realmWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/root@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	acme.Put("/users/root@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	acme.Delete("/users/root@example.com").OK(t)
	w.Admin.Get("/users").OK(t).Has(t, "items", "root@example.com")
}

func TestTheLastRealmAdministratorStays(t *testing.T) {
	t.Parallel()
	w, bootstrap := realmWorld(t)
	root := w.NewBrowser()
	root.SignIn("root@example.com")
	w.Keep(root.Session())
	w.Admin.Delete("/users/root@example.com").OK(t) // the token is still a realm administrator's
	w.Admin.Delete("/tokens/"+bootstrap).Refused(t, "state_conflict", "last realm administrator")
	w.Admin.Get("/tenants").OK(t)
	w.Admin.Put("/users/root@example.com", doc{"roles": []string{"ADMIN"}}).OK(t) // a user like others now
	w.Admin.Delete("/tokens/"+bootstrap).Refused(t, "state_conflict")
}

func TestTheLastRealmAdministratorMayBeAUser(t *testing.T) {
	t.Parallel()
	w, bootstrap := realmWorld(t)
	root := w.NewBrowser()
	root.SignIn("root@example.com")
	w.Keep(root.Session())
	as := func(method, path string, body any) *harness.Answer {
		return w.As("").Do(method, path, body, root.Cookie(), w.csrf(t, root))
	}
	as("DELETE", "/tokens/"+bootstrap, nil).OK(t)
	as("DELETE", "/tokens/"+bootstrap, nil).OK(t) // again: nothing changes
	as("DELETE", "/users/root@example.com", nil).Refused(t, "state_conflict", "last realm administrator")
	as("PUT", "/users/root@example.com", doc{"roles": []string{"ADMIN"}}).OK(t) // it stays one
	as("GET", "/tenants", nil).OK(t)
	w.Stop() // the check at the end of the test would need the revoked token
}
