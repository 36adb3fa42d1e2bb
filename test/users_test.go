package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestAUserIsMadeChangedAndEnded(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	s.Admin.Put("/users/Ann@Example.com", doc{"roles": []string{"OPERATOR"}, "projectIds": []string{"default-shop"}}).OK(t).
		Is(t, "email", "ann@example.com").Is(t, "tenantId", "default").Is(t, "roles", []string{"OPERATOR"}).Is(t, "projectIds", []string{"default-shop"})
	changed := s.Admin.Put("/users/ann@example.com", doc{"roles": []string{"OPERATOR", "APPROVER"}}).OK(t).Is(t, "projectIds", harness.Absent)
	s.Admin.Put("/users/ann@example.com", changed.Doc()).OK(t).Is(t, "roles", []string{"OPERATOR", "APPROVER"})
	s.Admin.Get("/users").OK(t).Is(t, "total", 1).Is(t, "items.0.email", "ann@example.com")
	s.Admin.Delete("/users/ann@example.com").OK(t).Is(t, "email", "ann@example.com")
	s.Admin.Delete("/users/ann@example.com").Refused(t, "not_found")
	s.Admin.Get("/users").OK(t).Is(t, "total", 0)
	log := s.Admin.Get("/audit?subject=user/ann@example.com").OK(t).Is(t, "total", 4)
	log.Is(t, "items.0.action", "users.delete").Is(t, "items.3.action", "users.write").Is(t, "items.3.before", "").Is(t, "items.3.after", "[OPERATOR] projects [default-shop]")
}

func TestAUserIsRefusedThatNoMailCouldReach(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	for _, email := range []string{"ann", "ann@", "Ann%20<ann@example.com>", "a%0ab@example.com"} {
		s.Admin.Put("/users/"+email, doc{"roles": []string{"VIEWER"}}).Refused(t, "invalid_request", "email")
	}
	for _, body := range []doc{{}, {"roles": []string{}}, {"roles": []string{"ROOT"}}, {"roles": []string{"VIEWER"}, "projectIds": []string{}}, {"roles": []string{"VIEWER"}, "projectIds": []string{"acme-shop"}}, {"roles": []string{"VIEWER"}, "name": "Ann"}} {
		s.Admin.Put("/users/ann@example.com", body).Refused(t, "invalid_request")
	}
	s.Admin.Get("/users").OK(t).Is(t, "total", 0)
}

func TestUsersOfAnotherTenantAreTheRealmAdministrators(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "acme"}).OK(t).Is(t, "tenantId", "acme")
	w.Admin.Get("/users").OK(t).Is(t, "total", 0)
	w.Admin.Get("/users?tenantId=acme").OK(t).Is(t, "total", 1)
	w.tenantAdmin.Get("/users?tenantId=acme").Refused(t, "not_found")
	w.tenantAdmin.Put("/users/eve@example.com", doc{"roles": []string{"ADMIN"}, "tenantId": "acme"}).Refused(t, "not_found")
	w.tenantAdmin.Delete("/users/ann@example.com?tenantId=acme").Refused(t, "not_found")
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "nobody"}).Refused(t, "not_found")
	w.Admin.Delete("/users/ann@example.com?tenantId=acme").OK(t)
}
