package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// weakens reports whether the newest record about a subject is marked as weakening.
func (w *world) weakens(t *testing.T, subject string) bool {
	t.Helper()
	newest := w.Admin.Get("/audit?limit=1&subject=" + subject).OK(t).At("items.0")
	return newest.At("weakens").Exists() && newest.Is(t, "weakens", true).At("outcome").Text() == "done"
}

func TestTheAuditLogMarksWhatWeakensAGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := harness.Project(w.shop.Origin())
	at := 0 // its capability refund
	for i, c := range project["capabilities"].([]any) {
		if c.(doc)["name"] == "refund" {
			at = i
		}
	}
	approval := "capabilities." + string(rune('0'+at)) + ".approval"
	without := harness.With(project, "capabilities", append(append([]any{}, project["capabilities"].([]any)[:at]...), project["capabilities"].([]any)[at+1:]...))
	const id = "default-gates"
	revision := 0
	for _, change := range []struct {
		name    string
		project doc
		want    bool
	}{
		{"a first registration", harness.With(project, approval, "NONE"), false},
		{"an approval raised", harness.With(project, approval, "ALWAYS"), false},
		{"a name", harness.With(harness.With(project, approval, "ALWAYS"), "name", "another"), false},
		{"an approval lowered", harness.With(project, approval, "RISK_BASED"), true},
		{"a capability taken away", without, false},
		{"a capability brought back, lowered", harness.With(project, approval, "NONE"), true},
		{"a header", harness.With(harness.With(project, approval, "NONE"), "headers", doc{"X-Environment": "staging"}), true},
		{"the same header", harness.With(harness.With(project, approval, "NONE"), "headers", doc{"X-Environment": "staging"}), false},
		{"another value of it", harness.With(harness.With(project, approval, "NONE"), "headers", doc{"X-Environment": "production"}), true},
		{"no origin any more", harness.Without(harness.With(harness.With(project, approval, "NONE"), "adapter", "LOCAL_ECHO"), "baseUrl"), true},
	} {
		w.Admin.Put("/projects/"+id, harness.With(change.project, "expectedRevision", revision)).OK(t)
		revision++
		if got := w.weakens(t, "project/"+id); got != change.want {
			t.Errorf("%s: %v", change.name, got)
		}
	}
}

func TestTheAuditLogMarksWhoMayApproveFromNowOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/projects/default-two", harness.Project(w.shop.Origin())).OK(t)
	const ben = "ben@example.com"
	for _, change := range []struct {
		name string
		user doc
		want bool
	}{
		{"the role of who decides what weakens", doc{"roles": []string{"ADMIN"}}, true},
		{"the role for one project", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}, true},
		{"the same again", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}, false},
		{"for another project", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop, "default-two"}}, true},
		{"for fewer", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}, false},
		{"for all", doc{"roles": []string{"APPROVER"}}, true},
		{"the role taken away", doc{"roles": []string{"VIEWER"}}, false},
	} {
		w.Admin.Put("/users/"+ben, change.user).OK(t)
		if got := w.weakens(t, "user/"+ben); got != change.want {
			t.Errorf("%s: %v", change.name, got)
		}
	}
	for _, role := range []string{"APPROVER", "OPERATOR"} {
		_, made := w.token(t, doc{"roles": []string{role}})
		if got := w.weakens(t, "token/"+made.At("id").Text()); got != (role == "APPROVER") {
			t.Errorf("a token with %s: %v", role, got)
		}
	}
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}
