package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/harness"
)

// administrator is a user with the role ADMIN who has confirmed a Slack account; and the headers of their session.
func (w *chatWorld) administrator(t *testing.T, id, email string) (b *harness.Browser, session []harness.Header) {
	t.Helper()
	b = w.person(t, email, "ADMIN")
	w.slack.Join(slacktest.Member{ID: id, Email: email, Name: "Member " + id})
	return b, []harness.Header{b.Cookie(), w.csrf(t, b)}
}

// about waits for the message that says something.
func (w *chatWorld) about(text string) (m slacktest.Message) {
	w.slack.Until("a message about "+text, func() bool {
		all := w.slack.Messages(slackChannel)
		i := slices.IndexFunc(all, func(m slacktest.Message) bool { return strings.Contains(m.Says(), text) })
		if i >= 0 {
			m = all[i]
		}
		return i >= 0
	})
	return m
}

// TestAChangeIsDecidedInSlack by another administrator, with the same four eyes and the same rule of passkeys.
func TestAChangeIsDecidedInSlack(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1, harness.Set("PUBLIC_URL", keyOrigin))
	mara, asMara := w.administrator(t, "U1", "mara@example.com")
	noor, _ := w.administrator(t, "U2", "noor@example.com")
	ann := w.member(t, "U3", "ann@example.com")
	settings := doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}
	w.As("").Put("/settings", settings, asMara...).OK(t)
	asked := w.As("").Put("/users/pia@example.com", doc{"roles": []string{"APPROVER"}}, asMara...)
	asked.Refused(t, "change_proposed")
	id := strings.TrimPrefix(asked.Header.Get("Location"), "/v1/changes/")
	m := w.about("pia@example.com")
	c := w.Admin.Get("/changes/" + id).OK(t)
	has(t, "the message", m.Says(), "Change the rights of pia@example.com, with APPROVER", "Weakens: 1 of 1 places", "Proposed by: mara@example.com", c.At("digest").Text(), "May decide now: noor@example.com.", "It is not made yet")
	for user, browser := range map[string]*harness.Browser{"U1": mara, "U2": noor, "U3": ann} {
		has(t, "who has not confirmed", w.slack.Press(user, m, "approve").Says(), "has not confirmed this account")
		w.confirm(t, browser, user)
	}
	has(t, "an approver", w.slack.Press("U3", m, "approve").Says(), "Nothing was changed", "this needs the role ADMIN")
	has(t, "who proposed it", w.slack.Press("U1", m, "approve").Says(), "Nothing was changed", "somebody else must decide")
	question := w.slack.Press("U2", m, "approve")
	has(t, "the question", question.Says(), "This is changed:", `weaker: the roles: ["APPROVER"]. Today there is none.`, "users.write of user/pia@example.com", c.At("digest").Text())
	if told := w.submit(question, " "); !strings.Contains(told, "reason") {
		t.Errorf("a blank reason: %q", told)
	}
	if told := w.submit(question, "known to us"); !strings.Contains(told, "Approved, and made. Recorded as the decision of noor@example.com") {
		t.Errorf("told %q", told)
	}
	w.Admin.Get("/changes/"+id).OK(t).Is(t, "status", "MADE").Is(t, "decisions.0.by", "user:noor@example.com").Is(t, "decisions.0.reason", "known to us")
	w.Admin.Get("/audit?action=users.write&subject=user/pia@example.com").OK(t).Is(t, "items.0.outcome", "done")
	made := w.Admin.Get("/audit?action=changes.decide").OK(t)
	made.Is(t, "items.0.actor", "user:noor@example.com").Is(t, "items.0.via", "slack").Is(t, "items.0.after", "MADE")
	w.slack.Until("the end in the message", func() bool { return !w.about("pia@example.com").Open() })
	has(t, "the message", w.about("pia@example.com").Says(), "Approved by noor@example.com", "known to us", "It is made.")
	has(t, "an old button", w.slack.Press("U2", m, "reject").Says(), "Nothing was changed", "is MADE already")

	w.As("").Put("/settings", doc{"decisionAssertion": "PASSKEY", "weakening": doc{"approvals": 1}, "reason": "signed", "expectedRevision": 1}, asMara...).OK(t)
	asked = w.As("").Post("/tokens", doc{"name": "deploy", "roles": []string{"ADMIN"}}, asMara...)
	asked.Refused(t, "change_proposed")
	m = w.about("deploy")
	has(t, "where passkeys sign", w.slack.Press("U2", m, "approve").Says(), "Nothing was changed", keyOrigin+"/console/changes/")
	if told := w.submit(w.slack.Press("U2", m, "reject"), "no need"); !strings.Contains(told, "Rejected. Recorded as the decision of noor@example.com") {
		t.Errorf("told %q", told)
	}
	w.slack.Until("the end in the message", func() bool { return !w.about("deploy").Open() })
}
