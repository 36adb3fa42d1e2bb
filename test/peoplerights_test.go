package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// With the setting that people decide, a token that names a user may decide only what that user may at present, and only as long as they
// belong to the tenant.

// confirms lets a user confirm that a token is theirs.
func (w *world) confirms(t *testing.T, user *harness.Browser, token json) {
	t.Helper()
	w.As("").Post("/tokens/"+token.At("id").Text()+"/confirm", nil, user.Cookie(), w.csrf(t, user)).OK(t)
}

// selfMade is a token that a user created in their own name.
func (w *world) selfMade(t *testing.T, user *harness.Browser, email string) *harness.Client {
	t.Helper()
	made := w.As("").Post("/tokens", doc{"name": "mine", "roles": []string{"APPROVER"}, "userEmail": email}, user.Cookie(), w.csrf(t, user)).OK(t)
	w.Keep(made.At("token").Text())
	return w.As(made.At("token").Text())
}

func TestUnderPeopleATokenDecidesOnlyWhatItsUserMayNow(t *testing.T) {
	t.Parallel()
	w := people(t)
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	mara := w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.confirms(t, mara, made)
	ben := w.person(t, "ben@example.com", "APPROVER")
	a := w.asked(t, w.operator)
	decide, run := "/approvals/"+a.At("id").Text()+"/decision", "/runs/"+a.At("runId").Text()
	tokens := []*harness.Client{token, w.selfMade(t, mara, "mara@example.com")}
	limits := []struct {
		rights doc
		code   string
	}{
		{doc{"roles": []string{"VIEWER"}}, "role_required"},
		{doc{"roles": []string{"ADMIN", "OPERATOR"}}, "role_required"},
		{doc{"roles": []string{"APPROVER"}, "projectIds": []string{"default-other"}}, "project_scope"},
	}
	for _, limit := range limits {
		w.Admin.Put("/users/mara@example.com", limit.rights).OK(t)
		for _, token := range tokens {
			token.Post(decide, approved).Refused(t, limit.code, "mara@example.com")
			token.Post(decide, doc{"decision": "REJECTED", "reason": "r"}).Refused(t, limit.code)
		}
	}
	w.As("").Post(decide, approved, ben.Cookie(), w.csrf(t, ben)).OK(t)
	w.reaches(t, a.At("runId").Text(), "RECOVERY_REQUIRED")
	for _, limit := range limits {
		w.Admin.Put("/users/mara@example.com", limit.rights).OK(t)
		for _, token := range tokens {
			token.Post(run+"/probe", doc{"stepId": "r"}).Refused(t, limit.code)
			token.Post(run+"/reconcile", reconcile("ABANDON", nil)).Refused(t, limit.code)
		}
	}
	w.Admin.Put("/users/mara@example.com", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}).OK(t)
	token.Post(run+"/reconcile", reconcile("ABANDON", nil)).OK(t)
}

// TestAConfirmationEndsWithTheMembership: a user who was removed and added again must confirm their tokens again.
func TestAConfirmationEndsWithTheMembership(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	_, idle := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.confirms(t, mara, made)
	mine := w.selfMade(t, mara, "mara@example.com")
	decide := "/approvals/" + w.asked(t, w.operator).At("id").Text() + "/decision"

	w.Admin.Delete("/users/mara@example.com").OK(t)
	for _, c := range []*harness.Client{token, mine} {
		c.Post(decide, approved).Refused(t, "role_required")
	}
	mara = w.person(t, "mara@example.com", "APPROVER")
	for _, c := range []*harness.Client{token, mine} {
		c.Post(decide, approved).Refused(t, "role_required", "confirm")
	}
	for _, item := range w.Admin.Get("/tokens?limit=200").OK(t).At("items").Items() {
		if item.At("userEmail").Exists() {
			item.Is(t, "confirmedAt", harness.Absent)
		}
	}
	said := w.Admin.Get("/audit?action=users.delete&subject=token/"+made.At("id").Text()).OK(t).Is(t, "total", 1)
	said.Is(t, "items.0.before", "confirmed").Is(t, "items.0.after", "to be confirmed")
	w.Admin.Get("/audit?action=users.delete&subject=token/"+idle.At("id").Text()).OK(t).Is(t, "total", 0)

	w.confirms(t, mara, made)
	token.Post(decide, approved).OK(t)
	w.Admin.Delete("/users/mara@example.com").OK(t)
	mara = w.person(t, "mara@example.com", "APPROVER")
	decide = "/approvals/" + w.asked(t, w.operator).At("id").Text() + "/decision"
	token.Post(decide, approved).Refused(t, "role_required", "confirm")
	w.As("").Post(decide, approved, mara.Cookie(), w.csrf(t, mara)).OK(t)
}

// TestAConfirmationOutlivesAChangeOfRights: after a user lost and regained a role, the token counts as before.
func TestAConfirmationOutlivesAChangeOfRights(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.confirms(t, mara, made)
	w.Admin.Put("/users/mara@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.Admin.Put("/users/mara@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	token.Post("/approvals/"+w.asked(t, w.operator).At("id").Text()+"/decision", approved).OK(t)
}

// TestAConfirmationIsOfOneTenant: a membership of one tenant confirms no token in another one.
func TestAConfirmationIsOfOneTenant(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.confirms(t, mara, made)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/mara@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "acme"}).OK(t).Is(t, "invited", true)
	w.Admin.Delete("/users/mara@example.com?tenantId=acme").OK(t)
	decide := "/approvals/" + w.asked(t, w.operator).At("id").Text() + "/decision"
	w.Admin.Get("/tokens?limit=200").OK(t).Has(t, "items", "confirmedAt")
	token.Post(decide, approved).OK(t)
}

// TestTheConsoleAsksToConfirmAgainWhatAnEarlierMemberMade: a user who was added again may confirm there the tokens that they created before.
func TestTheConsoleAsksToConfirmAgainWhatAnEarlierMemberMade(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	made := w.As("").Post("/tokens", doc{"name": "mine", "roles": []string{"APPROVER"}, "userEmail": "mara@example.com"}, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Keep(made.At("token").Text())
	form := "/console/settings/tokens/" + made.At("id").Text() + "/confirm"
	asks := func(want bool) {
		t.Helper()
		if text := mara.Open("/settings").Text; strings.Contains(text, form) != want || !strings.Contains(text, "mine") {
			t.Errorf("that the settings ask to confirm the token is not %t", want)
		}
	}
	asks(false)
	w.Admin.Delete("/users/mara@example.com").OK(t)
	mara = w.person(t, "mara@example.com", "APPROVER")
	asks(true)
	w.confirms(t, mara, made)
	asks(false)
}
