package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestFilesThatWeakenAreProposedOnce: under weakening apply proposes what weakens, names the change and who decides
// it, and finds the same one while it waits; the rest is made. Once it is approved the files hold.
func TestFilesThatWeakenAreProposedOnce(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	w := &administrators{world: s.world}
	mara, noor := s.person(t, "mara@example.com", "ADMIN"), s.person(t, "noor@example.com", "ADMIN")
	w.mara, w.noor = []harness.Header{mara.Cookie(), w.csrf(t, mara)}, []harness.Header{noor.Cookie(), w.csrf(t, noor)}
	s.register(t, ruled, payRules(s.shop.Origin(), "ALWAYS"))
	w.guard(t, nil)
	s.write(t, "project.json", s.named("project", ruled, payRules(s.shop.Origin(), "NONE")))
	s.write(t, "group.json", s.named("group", "finance", doc{"name": "Finance", "members": []string{}}))

	differs := []string{"+ group finance: create", "~ project " + ruled + ": change, loosens a gate", `approval: "ALWAYS" -> "NONE"`, "2 of 2 records differ"}
	prints(t, s.apply(t, 1, "--check").Out, differs...)
	prints(t, s.apply(t, 0, "--dry-run").Out, differs...)
	s.fully.Get("/changes").OK(t).Is(t, "total", 0)

	prints(t, s.apply(t, 1).Out, append(differs, "made 1 of 2", "proposed: project "+ruled+": change_proposed: ", "one of mara@example.com, noor@example.com must approve")...)
	s.fully.Get("/groups/finance").OK(t)
	open := s.fully.Get("/changes").OK(t).Is(t, "total", 1).Is(t, "items.0.status", "PROPOSED").Is(t, "items.0.operation", "projects.write").Is(t, "items.0.subject", "project/"+ruled)
	id := open.At("items.0.id").Text()
	for range 2 {
		out := s.apply(t, 1).Out
		prints(t, out, "1 of 2 records differ", "made 0 of 1", "proposed: project "+ruled+": change_proposed: ", "change "+id+" ")
	}
	answer, err := harness.Parse([]byte(s.apply(t, 1, "-o", "json").Out))
	if err != nil {
		t.Fatal(err)
	}
	answer.Is(t, "failed.0.kind", "project").Is(t, "failed.0.id", ruled).Is(t, "failed.0.code", "change_proposed")
	prints(t, s.apply(t, 1, "--check").Out, "1 of 2 records differ")
	s.fully.Get("/changes").OK(t).Is(t, "total", 1)
	s.fully.Get("/projects/"+ruled).OK(t).Is(t, "capabilities.0.approval", "ALWAYS").Is(t, "enabled", true).Is(t, "revision", 1)

	s.As("").Post("/changes/"+id+"/decision", approved, w.noor...).OK(t).Is(t, "status", "MADE")
	s.fully.Get("/projects/"+ruled).OK(t).Is(t, "capabilities.0.approval", "NONE").Is(t, "revision", 2)
	prints(t, s.apply(t, 1, "--check").Out, "1 of 2 records differ") // it isn't enabled yet
	prints(t, s.apply(t, 0).Out, "made 1 of 1")
	s.fully.Get("/projects/"+ruled).OK(t).Is(t, "enabled", true).Is(t, "revision", 2)
	prints(t, s.apply(t, 0, "--check").Out, "0 of 2 records differ")
	s.fully.Get("/changes").OK(t).Is(t, "total", 1)
}

// TestAProposalOfFilesThatWasOvertakenIsMadeAnew: a hand edit moves what it was proposed on, and a rejection ends it;
// what else the files want that rests on it is named.
func TestAProposalOfFilesThatWasOvertakenIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	w := &administrators{world: s.world}
	mara, noor := s.person(t, "mara@example.com", "ADMIN"), s.person(t, "noor@example.com", "ADMIN")
	w.mara, w.noor = []harness.Header{mara.Cookie(), w.csrf(t, mara)}, []harness.Header{noor.Cookie(), w.csrf(t, noor)}
	w.guard(t, nil)
	s.write(t, "project.json", s.named("project", ruled, payRules(s.shop.Origin(), "NONE")))
	s.write(t, "agent.json", s.agent(nil))
	proposed := func() string {
		t.Helper()
		out := s.apply(t, 1).Out
		prints(t, out, "proposed: project "+ruled+": change_proposed: ", "not made: agent "+ruled+"/clerk: ")
		all := s.fully.Get("/changes").OK(t).At("items").Items()
		i := slices.IndexFunc(all, func(c json) bool { return c.At("status").Text() == "PROPOSED" })
		if i < 0 || !strings.Contains(out, "change "+all[i].At("id").Text()+" ") {
			t.Fatalf("no open change is named in\n%s", out)
		}
		return all[i].At("id").Text()
	}
	first := proposed()
	s.As("").Post("/changes/"+first+"/decision", doc{"decision": "REJECTED", "reason": "not yet"}, w.noor...).OK(t).Is(t, "status", "REJECTED")
	second := proposed()
	s.Admin.Put("/projects/"+ruled, payRules(s.shop.Origin(), "ALWAYS", rule(is("amount", "gte", number("10")), "ASK"))).Refused(t, "change_proposed") // its quote asks nobody
	hand := payRules(s.shop.Origin(), "ALWAYS")
	s.Admin.Put("/projects/"+ruled, harness.With(hand, "capabilities", hand["capabilities"].([]any)[:1])).OK(t)
	s.As("").Post("/changes/"+second+"/decision", approved, w.noor...).Refused(t, "revision_conflict", "has lapsed")
	third := s.apply(t, 1).Out
	prints(t, third, "~ project "+ruled+": change, loosens a gate", "proposed: project "+ruled)
	if first == second || strings.Contains(third, first) || strings.Contains(third, second) {
		t.Errorf("it is no new change:\n%s", third)
	}
}
