package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestWhoIsLimitedToAModeMakesAndChangesNoUser: a user has every mode, so a principal that is limited to one could do and grant by a user's
// session what the limit forbids.
func TestWhoIsLimitedToAModeMakesAndChangesNoUser(t *testing.T) {
	t.Parallel()
	w, _ := twoTenants(t)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.Admin.Put("/users/far@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "acme"}).OK(t)
	before := w.Admin.Get("/users").OK(t)
	for _, mode := range []string{"DRY_RUN", "LIVE"} {
		limited, _ := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "modes": []string{mode}})
		for _, email := range []string{"new@example.com", "ann@example.com", "far@example.com"} {
			for _, role := range []string{"ADMIN", "VIEWER"} {
				limited.Put("/users/"+email, doc{"roles": []string{role}}).Refused(t, "role_required", mode)
			}
		}
		limited.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}, "modes": []string{"DRY_RUN", "LIVE"}}).Refused(t, "role_required", mode)
		if mode == "LIVE" {
			limited.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).OK(t).Is(t, "modes", []string{mode})
		}
		limited.Get("/users").OK(t)
	}
	w.Admin.Get("/users").OK(t).Is(t, "items", before.At("items"))
	both, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"LIVE", "DRY_RUN"}})
	both.Put("/users/new@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	dry, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"DRY_RUN"}})
	dry.Delete("/users/new@example.com").Refused(t, "role_required", "DRY_RUN")
}

// TestRightsNameNothingTwice: a repeated entry in a list of rights is an error.
func TestRightsNameNothingTwice(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	token := doc{"name": "n", "roles": []string{"VIEWER"}}
	shops := []string{"default-shop", "default-shop"}
	for field, list := range map[string][]string{
		"roles": {"VIEWER", "ADMIN", "VIEWER"}, "modes": {"LIVE", "LIVE"}, "projectIds": shops,
	} {
		s.Admin.Post("/tokens", harness.With(token, field, list)).Refused(t, "invalid_request", field+"[", "twice")
	}
	s.Admin.Post("/tokens", doc{"name": " ", "roles": []string{"VIEWER", "VIEWER"}, "modes": []string{"DRY_RUN", "DRY_RUN"}}).
		Refused(t, "invalid_request", "name", "roles[1]", "modes[1]") // each error is reported
	for field, list := range map[string][]string{"roles": {"ADMIN", "ADMIN"}, "projectIds": shops} {
		s.Admin.Put("/users/ann@example.com", harness.With(doc{"roles": []string{"VIEWER"}}, field, list)).Refused(t, "invalid_request", field+"[1]", "twice")
	}
	s.Admin.Get("/users").OK(t).Is(t, "total", 0)
}
