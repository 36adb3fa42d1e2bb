package test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

var tokenForm = regexp.MustCompile(`^csn_[0-9A-Za-z]{49}$`)

func TestATokenIsShownOnceAndListedWithoutItsSecret(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	s.Admin.Put("/users/anne@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	a := s.Admin.Post("/tokens", doc{"name": "ci", "roles": []string{"OPERATOR", "APPROVER"}, "projectIds": []string{"default-shop"}, "modes": []string{"DRY_RUN"},
		"expiresInDays": 7, "userEmail": "Anne@Example.com"})
	if a.Status != 201 {
		t.Error(a)
	}
	made := a.OK(t).Is(t, "name", "ci").Is(t, "tenantId", "default").Is(t, "roles", []string{"OPERATOR", "APPROVER"}).Is(t, "projectIds", []string{"default-shop"}).
		Is(t, "modes", []string{"DRY_RUN"}).Is(t, "revokedAt", harness.Absent).Is(t, "lastUsedAt", harness.Absent)
	if !tokenForm.MatchString(made.At("token").Text()) || !strings.HasPrefix(made.At("createdBy").Text(), "token:") || !strings.EqualFold(made.At("userEmail").Text(), "anne@example.com") {
		t.Error(made)
	}
	if life := lifetime(t, made); life != 7*24*time.Hour {
		t.Errorf("it lives for %s", life)
	}
	for _, record := range s.Admin.Get("/tokens").OK(t).At("items").Items() { // the client finds secrets in answers
		record.Is(t, "token", harness.Absent).Is(t, "hash", harness.Absent)
	}
	if life := lifetime(t, s.Admin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).OK(t)); life != 90*24*time.Hour {
		t.Errorf("by default it lives for %s", life)
	}
}

func lifetime(t *testing.T, token json) time.Duration {
	t.Helper()
	return instant(t, token, "expiresAt").Sub(instant(t, token, "createdAt"))
}

func TestTokensThatCannotBeMade(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	good := doc{"name": "n", "roles": []string{"VIEWER"}}
	for _, c := range []struct {
		field string
		value any
	}{
		{"name", ""}, {"name", "  "}, {"name", nil}, {"roles", []string{}}, {"roles", nil}, {"roles", []string{"ROOT"}}, {"roles", []string{"viewer"}}, {"roles", "VIEWER"},
		{"expiresInDays", 0}, {"expiresInDays", 91}, {"expiresInDays", -1}, {"expiresInDays", 1.5}, {"expiresInDays", "7"}, {"modes", []string{"BOTH"}}, {"modes", []string{}},
		{"userEmail", "nobody"}, {"userEmail", "a@b\nc"}, {"userEmail", "Anne <anne@example.com>"}, {"projectIds", []string{}}, {"projectIds", []string{"acme-shop"}},
		{"projectIds", []string{"shop"}}, {"projectIds", "default-shop"}, {"token", "mine"}, {"id", "mine"},
	} {
		s.Admin.Post("/tokens", harness.With(good, c.field, c.value)).Refused(t, "invalid_request", c.field)
	}
	s.Admin.Post("/tokens", harness.With(good, "tenantId", "nowhere")).Refused(t, "not_found", "nowhere")
	for _, days := range []int{1, 90} {
		s.Admin.Post("/tokens", harness.With(good, "expiresInDays", days)).OK(t)
	}
}

func TestARevokedTokenEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	c.Get("/models").OK(t)
	revoked := w.tenantAdmin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	if revoked.Is(t, "id", made.At("id")).At("revokedAt").Text() == "" {
		t.Error(revoked)
	}
	c.Get("/models").Refused(t, "unauthenticated")
	w.tenantAdmin.Delete("/tokens/"+made.At("id").Text()).OK(t).Is(t, "revokedAt", revoked.At("revokedAt")) // changes nothing
	w.tenantAdmin.Delete("/tokens/none").Refused(t, "not_found")
}

func TestRevokingATokenLeavesWhatItStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, made := w.token(t, doc{"roles": []string{"OPERATOR"}})
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	id := c.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text()
	w.approval(t, id)
	w.tenantAdmin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED").Is(t, "requestedBy", "token:"+made.At("id").Text())
}

func TestRequestsWithoutOneValidBearerTokenAreUnauthenticated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	token := made.At("token").Text()
	typo := token[:20] + string(token[20]^1) + token[21:]
	anon := w.As("")
	for _, headers := range [][]harness.Header{
		nil,
		{"Authorization: " + harness.Header(token)},
		{"Authorization: Basic " + harness.Header(token)},
		{"Authorization: Bearer"},
		{"Authorization: Bearer " + harness.Header(typo)},
		{"Authorization: Bearer " + harness.Header(strings.ToLower(token))},
		{"Authorization: Bearer " + harness.Header(token[:len(token)-1])},
		{"Authorization: Bearer " + harness.Header(token) + "x"},
		{"Authorization: Bearer " + harness.Header(token) + ", Bearer " + harness.Header(token)},
		{"Authorization: Bearer " + harness.Header(token), "Authorization: Bearer " + harness.Header(token)},
		{"Authorization: Bearer csn_" + harness.Header(strings.Repeat("0", 49))},
		{"Authorization: Bearer garbage"},
		{"Cookie: session=" + harness.Header(token)},
		{"X-Api-Key: " + harness.Header(token)},
	} {
		anon.Get("/models", headers...).Refused(t, "unauthenticated")
		anon.Post("/plans", "no json", headers...).Refused(t, "unauthenticated")
	}
	for _, query := range []string{"token=" + token, "access_token=" + token} {
		anon.Get("/models?"+query).Refused(t, "unauthenticated")
		w.As(token).Get("/models?"+query).Refused(t, "unauthenticated")
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		anon.Get("/models", harness.Header("Authorization: "+scheme+" "+token)).OK(t)
	}
}

func TestARefusedTokenIsNotSaidToBeKnownOrNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	w.Admin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	revoked := c.Get("/models").Refused(t, "unauthenticated")
	const unknown = "csn_0000000000000000000000000000000000000000000" // 43 digits, its checksum is computed below
	if never := w.As(unknown+checksum(unknown)).Get("/models").Refused(t, "unauthenticated"); never != revoked {
		t.Errorf("revoked: %s\nunknown: %s", revoked, never)
	}
}

func TestADryRunTokenCannotStartLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	c.Post("/plans", planOf(step("n", "note", nil))).Refused(t, "role_required", "DRY_RUN")
	live := w.operator.Post("/plans", planOf(step("n", "note", nil))).OK(t).At("id").Text()
	dry := c.Post("/plans", harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN")).OK(t).At("id").Text()
	c.Post("/runs", doc{"planId": live}, key()).Refused(t, "role_required", "DRY_RUN")
	c.Post("/runs", doc{"planId": dry}, key()).OK(t)
	only, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"LIVE"}})
	only.Post("/runs", doc{"planId": live}, key()).OK(t)
	only.Post("/runs", doc{"planId": dry}, key()).Refused(t, "role_required")
}

func TestARealmAdministratorManagesTenantsAndTheirTokensAndNothingElseOfThem(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t).Is(t, "id", "acme").Is(t, "revision", 1)
	theirs, made := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "tenantId": "acme"})
	made.Is(t, "tenantId", "acme")
	theirs.Put("/models/theirs", doc{"document": harness.Model("theirs")}).OK(t)
	w.Admin.Get("/models/theirs").Refused(t, "not_found")
	w.Admin.Get("/tokens?tenantId=acme").OK(t).Is(t, "total", 1).Is(t, "items.0.id", made.At("id"))
	w.Admin.Get("/tokens?tenantId=none").Refused(t, "not_found")
	w.Admin.Delete("/tokens/"+made.At("id").Text()).Refused(t, "not_found")
	w.Admin.Delete("/tokens/none?tenantId=acme").Refused(t, "not_found")
	if revoked := w.Admin.Delete("/tokens/" + made.At("id").Text() + "?tenantId=acme").OK(t); !revoked.At("revokedAt").Exists() {
		t.Error(revoked)
	}
	theirs.Get("/models").Refused(t, "unauthenticated")
	for _, c := range []*harness.Client{w.tenantAdmin, w.operator} {
		c.Get("/tenants").Refused(t, "role_required")
		c.Put("/tenants/acme", doc{"name": "x", "expectedRevision": 1}).Refused(t, "role_required")
	}
	w.tenantAdmin.Get("/tokens?tenantId=acme").Refused(t, "not_found")
	w.tenantAdmin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}, "tenantId": "acme"}).Refused(t, "not_found")
	w.tenantAdmin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}, "tenantId": "default"}).OK(t)
	w.tenantAdmin.Delete("/tokens/x?tenantId=acme").Refused(t, "not_found")
}

func TestTenantIDsHoldNoHyphen(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, id := range []string{"a", "a-b", "Acme", "1acme", "acme_b", "acme.b", strings.Repeat("a", 33)} {
		s.Admin.Put("/tenants/"+id, doc{"name": "n"}).Refused(t, "invalid_request", "id")
	}
	for _, id := range []string{"ab", "a1", strings.Repeat("a", 32)} {
		s.Admin.Put("/tenants/"+id, doc{"name": "n"}).OK(t)
	}
	s.Admin.Put("/tenants/ab", doc{"name": "n"}).Refused(t, "revision_conflict", "revision 1")
	s.Admin.Put("/tenants/ab", doc{"name": "m", "expectedRevision": 1}).OK(t).Is(t, "name", "m").Is(t, "revision", 2)
	s.Admin.Put("/tenants/none", doc{"name": "n", "expectedRevision": 1}).Refused(t, "revision_conflict")
	s.Admin.Put("/tenants/xy", doc{"name": ""}).Refused(t, "invalid_request", "name")
	s.Admin.Get("/tenants").OK(t).Is(t, "total", 4)
}

func TestATenantNeverReachesAnotherWhoseNameBeginsAlike(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, listedFor("default", "acme", "acmeeu"))
	for _, id := range []string{"acme", "acmeeu"} {
		w.Admin.Put("/tenants/"+id, doc{"name": id}).OK(t)
	}
	acme, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	eu, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acmeeu"})
	eu.Put("/projects/acmeeu-shop", harness.Project(w.shop.Origin())).OK(t)
	acme.Get("/projects/acmeeu-shop").Refused(t, "not_found")
	acme.Put("/projects/acmeeu-shop", harness.Project(w.shop.Origin())).Refused(t, "invalid_request", "acme-")
	acme.Get("/projects").OK(t).Is(t, "total", 0)
}

func TestTheLastUseOfATokenIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, made := w.token(t, doc{"roles": []string{"VIEWER"}})
	c.Get("/models").OK(t)
	harness.Until(t, "the token's lastUsedAt", func() bool {
		for _, record := range w.Admin.Get("/tokens").OK(t).At("items").Items() {
			if record.At("id").Text() == made.At("id").Text() {
				return record.At("lastUsedAt").Exists()
			}
		}
		return false
	})
}

func TestNoTokenStartsMoreThanItsMakerMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	maker, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"DRY_RUN"}})
	maker.Post("/tokens", doc{"name": "more", "roles": []string{"OPERATOR"}, "modes": []string{"LIVE"}}).Refused(t, "role_required", "DRY_RUN")
	maker.Post("/tokens", doc{"name": "same", "roles": []string{"OPERATOR"}}).Refused(t, "role_required", "DRY_RUN")
}
