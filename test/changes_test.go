package test

import (
	"strings"
	"testing"
)

// TestAnApprovedTokenIsMadeByItsProposerOnce: a second administrator approves it, and its secret is
// answered to who proposed it.
func TestAnApprovedTokenIsMadeByItsProposerOnce(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	mara, noor := w.person(t, "mara@example.com", "ADMIN"), w.person(t, "noor@example.com", "ADMIN")
	asMara, asNoor := w.As(""), w.As("")
	w.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}).OK(t)
	refused := asMara.Post("/tokens", doc{"name": "nightly", "roles": []string{"ADMIN"}}, mara.Cookie(), w.csrf(t, mara))
	refused.Refused(t, "change_proposed", "noor@example.com must approve")
	change := strings.TrimPrefix(refused.Header.Get("Location"), "/v1")
	asNoor.Get(change, noor.Cookie()).OK(t).Is(t, "status", "PROPOSED").Is(t, "title", "Make a token “nightly”, with ADMIN").Is(t, "diff.0.weakens", true)
	asMara.Post(change+"/make", nil, mara.Cookie(), w.csrf(t, mara)).Refused(t, "state_conflict")
	asMara.Post(change+"/decision", doc{"decision": "APPROVED", "reason": "mine"}, mara.Cookie(), w.csrf(t, mara)).Refused(t, "self_approval")
	asNoor.Post(change+"/decision", doc{"decision": "APPROVED", "reason": "for the nightly job"}, noor.Cookie(), w.csrf(t, noor)).OK(t).Is(t, "status", "APPROVED")
	asNoor.Post(change+"/make", nil, noor.Cookie(), w.csrf(t, noor)).Refused(t, "role_required")
	made := asMara.Post(change+"/make", nil, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Keep(made.At("token").Text())
	w.As(made.At("token").Text()).Get("/session").OK(t).Is(t, "roles", []string{"ADMIN"})
	asMara.Post(change+"/make", nil, mara.Cookie(), w.csrf(t, mara)).Refused(t, "state_conflict")
	asMara.Get(change, mara.Cookie()).OK(t).Is(t, "status", "MADE")
}
