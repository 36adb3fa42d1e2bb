package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// administering is a profile of somebody who signed in and made a token in their own name.
func (s *shell) administering(t *testing.T, name string) string {
	t.Helper()
	email := name + "@example.com"
	user := s.person(t, email, "ADMIN")
	made := s.As("").Post("/tokens", doc{"name": "mine", "roles": []string{"ADMIN"}, "userEmail": email}, user.Cookie(), s.csrf(t, user)).OK(t)
	s.Keep(made.At("token").Text())
	s.signIn(t, name, made.At("token").Text())
	return made.At("token").Text()
}

// TestTheCommandLineDecidesWhatWeakens: proposed by one administrator, decided by another, and made or taken back by who
// proposed it.
func TestTheCommandLineDecidesWhatWeakens(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	s.administering(t, "mara")
	s.administering(t, "noor")
	s.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}).OK(t)
	propose := func(name string) string {
		t.Helper()
		refused := s.command(t, 3, "tokens", "create", "--name", name, "--role", "ADMIN", "--profile", "mara")
		prints(t, refused.Err, "change_proposed", "noor@example.com")
		return s.asked(t, "changes", "list", "--profile", "noor").At("items.0.id").Text()
	}
	first := propose("one")
	prints(t, s.command(t, 0, "changes", "withdraw", first, "--profile", "mara").Out, first+" is WITHDRAWN")
	second := propose("two")
	prints(t, s.command(t, 0, "changes", "get", second, "--profile", "noor").Out, "Make a token “two”, with ADMIN", "WEAKER")
	prints(t, s.command(t, 3, "changes", "decide", second, "--approve", "--reason", "mine", "--profile", "mara").Err, "self_approval")
	prints(t, s.command(t, 0, "changes", "decide", second, "--approve", "--reason", "for the nightly job", "--profile", "noor").Out, second+" is APPROVED")
	made := s.asked(t, "changes", "make", second, "--profile", "mara").At("token").Text()
	s.Keep(made)
	s.As(made).Get("/session").OK(t).Is(t, "roles", []string{"ADMIN"})
}

// TestTheCommandLineHoldsAndRedactsARun.
func TestTheCommandLineHoldsAndRedactsARun(t *testing.T) {
	t.Parallel()
	s := shellIn(t, ownWorld(t, harness.Set("REDACT_AFTER", "0s")))
	s.signIn(t, "keeper", s.tenantAdmin.Token())
	id := s.marked(t)
	prints(t, s.command(t, 0, "runs", "hold", id, "--reason", "the auditors", "--profile", "keeper").Out, id+" is neither redacted nor archived until the hold is ended")
	prints(t, s.command(t, 3, "runs", "redact", id, "--reason", "request 48", "--profile", "keeper").Err, "state_conflict", "is held since")
	s.command(t, 0, "runs", "hold", id, "--end", "--reason", "they are done", "--profile", "keeper")
	prints(t, s.command(t, 0, "runs", "redact", id, "--reason", "request 48", "--profile", "keeper").Out, id+" holds nothing any more but ids")
	s.asked(t, "runs", "show", id).Is(t, "redacted.by", s.tenantAdmin.Get("/session").OK(t).At("principal").Text())
}

// TestTheCommandLineLooksAgainAtAState, and decides nothing by it.
func TestTheCommandLineLooksAgainAtAState(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	w.viewer = w.principal(t, "VIEWER")
	s := shellIn(t, w)
	asked := s.asksAnew(t, s.run(t, step("pay", "refund", doc{"resourceId": "A-1", "amount": 5})), "")
	d.becomes(`{"state":"returned","total":60}`)
	prints(t, s.command(t, 0, "approvals", "look", asked.At("id").Text(), "--profile", "approver").Out, "total", "60", "PENDING")
	d.has(t, 2, 0)
}
