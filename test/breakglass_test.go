package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestWhoIsLeftAloneGetsOutOnTheStoppedStore: one administrator is left, and the second is gone.
func TestWhoIsLeftAloneGetsOutOnTheStoppedStore(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	mara := w.person(t, "mara@example.com", "ADMIN")
	w.person(t, "noor@example.com", "ADMIN")
	asMara := []harness.Header{mara.Cookie(), w.csrf(t, mara)}
	settings := doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}
	w.As("").Put("/settings", settings, asMara...).OK(t)
	if r := w.As("").Put("/settings", doc{"decisionAssertion": "NONE", "reason": "alone", "expectedRevision": 1}, asMara...); r.Status != 409 || !strings.HasPrefix(r.Header.Get("Location"), "/v1/changes/chg-") {
		t.Errorf("%v, at %q", r, r.Header.Get("Location"))
	}
	args := []string{"settings", "break-glass", "--tenant", "default", "--reason", "Noor has left"}
	env := map[string]string{"SVC_PLATFORM_STORE": w.Settings()["SVC_PLATFORM_STORE"]}
	if r := harness.Run(t, env, args...); r.Status == 0 {
		t.Errorf("the service runs: %s", r.Out)
	}
	w.Stop()
	if r := harness.Run(t, env, "settings", "break-glass", "--tenant", "default", "--reason", " "); r.Status == 0 || !strings.Contains(r.Err, "say why; it can't be blank") {
		t.Errorf("%d %s", r.Status, r.Err)
	}
	if r := harness.Run(t, env, args...); r.Status != 0 || !strings.Contains(r.Out, "tenant default makes changes that weaken at once from now on") {
		t.Fatalf("%d %s %s", r.Status, r.Out, r.Err)
	}
	if r := harness.Run(t, env, args...); r.Status == 0 || !strings.Contains(r.Err, "tenant default has no weakening set: changes that weaken are made at once") {
		t.Errorf("%d %s", r.Status, r.Err)
	}
	w.Restart()
	now := w.Admin.Get("/settings").OK(t)
	now.Is(t, "weakening", harness.Absent).Is(t, "breakGlass.reason", "Noor has left").Is(t, "revision", 2)
	w.Admin.Get("/audit?action=settings.write").OK(t).Is(t, "items.0.actor", "system").Is(t, "items.0.weakens", true).Is(t, "items.0.reason", "break-glass: Noor has left")
	if !strings.Contains(w.Log(), "weakening was taken away on the stopped store") {
		t.Error("the log says nothing")
	}
	if page := mara.Open("/runs"); !strings.Contains(page.Text, "Noor has left") {
		t.Error("the page doesn't show it")
	}
	w.As("").Put("/users/pia@example.com", doc{"roles": []string{"APPROVER"}}, asMara...).OK(t)
	w.Stop()
	w.Restart()
	if strings.Count(w.Log(), "weakening was taken away on the stopped store") > 1 {
		t.Error("it is told twice")
	}
}
