package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestChangesAreDecidedInTheConsole: who proposed a change withdraws it, another approves it, and its
// proposer makes what is secret.
func TestChangesAreDecidedInTheConsole(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	mara, noor := w.person(t, "mara@example.com", "ADMIN"), w.person(t, "noor@example.com", "ADMIN")
	form := func(b *harness.Browser, more url.Values) url.Values {
		more.Set("csrf", strings.TrimPrefix(string(w.csrf(t, b)), "X-CSRF-Token: "))
		return more
	}
	mustSay(t, mara.Open("/changes"), 200, "No change waits", "made at once")
	asMara := []harness.Header{mara.Cookie(), w.csrf(t, mara)}
	w.As("").Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}, asMara...).OK(t)
	propose := func(name string) string {
		a := w.As("").Post("/tokens", doc{"name": name, "roles": []string{"ADMIN"}}, asMara...)
		a.Refused(t, "change_proposed")
		return strings.TrimPrefix(a.Header.Get("Location"), "/v1")
	}
	first, second := propose("one"), propose("two")
	mustSay(t, noor.Open("/runs"), 200, "2 changes that weaken wait.")
	mustSay(t, noor.Open("/changes"), 200, "Make a token “one”, with ADMIN", "waits for a decision")
	mustSay(t, mara.Open(first), 200, "It is not made yet", "You proposed this; somebody else decides.", "Withdraw")
	mustSay(t, mara.Submit(first+"/withdraw", form(mara, url.Values{})), 200, "withdrawn by its proposer")
	mustSay(t, noor.Open(second), 200, `the roles: ["ADMIN"]`, "1 weaker", "Approve")
	mustSay(t, noor.Submit(second+"/decision", form(noor, url.Values{"decision": {"APPROVED"}, "reason": {" "}})), 400, "can't be blank")
	mustSay(t, noor.Submit(second+"/decision", form(noor, url.Values{"decision": {"APPROVED"}, "reason": {"for the nightly job"}})), 200, "approved, its proposer makes it", "for the nightly job")
	mustSay(t, mara.Open(second), 200, "Make it")
	made := mara.Submit(second+"/make", form(mara, url.Values{}))
	mustSay(t, made, 201, "Copy the token now", "csn_")
	secret := made.Text[strings.Index(made.Text, "csn_"):]
	w.Keep(secret[:53])
	w.As(secret[:53]).Get("/session").OK(t).Is(t, "roles", []string{"ADMIN"})
}
