package test

import (
	encoding "encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// rulesFile is a file of proposed rules.
func rulesFile(t *testing.T, rules ...doc) string {
	t.Helper()
	return proposedFile(t, doc{"approvalRules": rules})
}

func budgetsFile(t *testing.T, budgets ...doc) string {
	t.Helper()
	return proposedFile(t, doc{"budgets": append([]doc{}, budgets...)})
}

func proposedFile(t *testing.T, proposed doc) string {
	t.Helper()
	text, err := encoding.Marshal(proposed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proposed.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheCommandLineKeepsGroupsAndValidatesRules(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	prints(t, s.command(t, 0, "groups", "put", "finance", "--name", "Finance", "--member", "ann@example.com", "--profile", "admin").Out, "saved finance, revision 1")
	s.asked(t, "groups", "list").Is(t, "items.0.members", []string{"ann@example.com"})
	file := proposedFile(t, doc{"name": "Money", "members": []string{"ann@example.com"}, "claim": "groups=money"})
	prints(t, s.command(t, 0, "groups", "put", "finance", "--file", file, "--revision", "1", "--profile", "admin").Out, "saved finance, revision 2")
	s.asked(t, "groups", "list").Is(t, "items.0.name", "Money").Is(t, "items.0.claim", "groups=money")
	prints(t, s.command(t, 2, "groups", "put", "finance", "--file", file, "--member", "ben@example.com", "--profile", "admin").Err, "name the members there")
	s.register(t, ruled, payRules(s.shop.Origin(), "RISK_BASED", harness.With(rule(is("amount", "lte", number("10")), "ALLOW"), "groups", []string{"finance"})))
	prints(t, s.command(t, 0, "projects", "validate", ruled).Out, "number_unbounded", `{"amount":-1}`, "0 errors, 1 warnings")
	s.command(t, 1, "projects", "validate", ruled, "--strict")
	prints(t, s.command(t, 0, "projects", "show", ruled).Out, "ALLOW it", "finance")
	s.command(t, 3, "groups", "delete", "finance", "--profile", "admin")
	s.Admin.Put("/projects/"+ruled, harness.With(payRules(s.shop.Origin(), "RISK_BASED"), "expectedRevision", 1)).OK(t)
	prints(t, s.command(t, 0, "groups", "delete", "finance", "--profile", "admin").Out, "deleted finance")
}

// TestProposedRulesAreTriedOnTheRunsThatThereWere: the output names the runs that they would have stopped.
func TestProposedRulesAreTriedOnTheRunsThatThereWere(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.register(t, ruled, payRules(s.shop.Origin(), "NONE", rule(is("amount", "gt", number("100")), "ASK")))
	s.shop.On("POST", "/pay", harness.Answering(200, `{}`), harness.Answering(200, `{}`))
	small := s.reaches(t, s.run(t, pay("p", "5", nil)), "COMPLETED").At("id").Text()
	asked := s.approval(t, s.run(t, pay("p", "101", nil)))
	s.approver.Post("/approvals/"+asked.At("id").Text()+"/decision", approved).OK(t)
	s.reaches(t, asked.At("runId").Text(), "COMPLETED")

	proposed := rulesFile(t, rule(is("amount", "lt", number("10")), "DENY"), rule(is("amount", "gt", number("1000")), "ASK"))
	found := s.asked(t, "policy", "what-if", "--rules", ruled+"/pay="+proposed)
	found.Is(t, "steps", 2).Is(t, "asked", 1).Is(t, "wouldAsk", 0).Is(t, "wouldDeny", 1)
	found.Is(t, "capabilities.0.denied", []string{small}).Is(t, "capabilities.0.fewer", 1).Is(t, "capabilities.0.was", []string{"NONE and 1 rule"}).Is(t, "capabilities.0.would", []string{"NONE and 2 rules"})
	prints(t, s.command(t, 0, "policy", "what-if", "--rules", ruled+"/pay="+proposed).Out, "sent, and would have been denied: "+small)
	s.command(t, 2, "policy", "what-if", "--rules", ruled+"/pay="+rulesFile(t, rule(is("amuont", "lt", number("10")), "DENY")))
	s.command(t, 2, "policy", "what-if", "--rules", ruled+"/none="+proposed)
	s.command(t, 2, "policy", "what-if", "--rules", "pay="+proposed)
}

// TestProposedBudgetsArePlayedOverTheRunsThatThereWere: of a capability and of an agent, each
// step counting once it would be sent.
func TestProposedBudgetsArePlayedOverTheRunsThatThereWere(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	project := "default-budget"
	s.register(t, project, budgeted(s.shop.Origin()))
	agent := syncTo(s.operator, project, agentItem("payer", "pay", "")).OK(t).At("items.0.id").Text()
	admit := func(budgets ...any) {
		s.tenantAdmin.Post("/agents/"+agent+"/admit", doc{"reason": "known", "budgets": append([]any{}, budgets...)}).OK(t)
	}
	admit()
	var runs []string
	for range 3 {
		id := s.asks(agent, agentRun("LIVE", "pay", doc{"amount": number("0.1")})).OK(t).At("id").Text()
		runs = append(runs, s.reaches(t, id, "COMPLETED").At("id").Text())
	}
	what := func(name string, budgets ...doc) json {
		return s.asked(t, "policy", "what-if", "--budgets", name+"="+budgetsFile(t, budgets...))
	}
	found := what(project+"/pay", sumOf("0.2", "DENY")).Is(t, "wouldDeny", 1).Is(t, "wouldAsk", 0).Is(t, "capabilities.0.denied", []string{runs[2]})
	found.Is(t, "capabilities.0.was", []string{"NONE"}).Is(t, "capabilities.0.would", []string{"NONE and 1 budget"})
	what(project+"/pay", countOf(1, "ASK"), sumOf("0.2", "DENY")).Is(t, "wouldDeny", 1).Is(t, "wouldAsk", 1) // DENY goes over ASK
	what(agent, countOf(1, "DENY")).Is(t, "wouldDeny", 2).Is(t, "capabilities.0.denied", []string{runs[2], runs[1]})
	admit(countOf(2, "DENY"))
	s.asked(t, "policy", "what-if", "--set", project+"/pay=ALWAYS").Is(t, "wouldDeny", 1).Is(t, "wouldAsk", 2) // with the budgets that the agent has
	what(agent).Is(t, "wouldDeny", harness.Absent)
	prints(t, s.command(t, 0, "policy", "what-if", "--budgets", agent+"="+budgetsFile(t, countOf(2, "DENY"))).Out, "sent, and would have been denied: "+runs[2])
	for _, name := range []string{project + "/none", "pay/", "/pay", ""} {
		s.command(t, 2, "policy", "what-if", "--budgets", name+"="+budgetsFile(t, countOf(1, "ASK")))
	}
	s.command(t, 2, "policy", "what-if", "--budgets", project+"/pay="+budgetsFile(t, harness.With(sumOf("1", "ASK"), "sum", "memo")))
	s.command(t, 2, "policy", "what-if", "--budgets", agent+"="+budgetsFile(t, harness.With(countOf(1, "ASK"), "window", "1y")))
}

func TestTheCommandLineShowsAndChangesTheSettings(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	prints(t, s.command(t, 0, "settings", "get").Out, "approvals need no passkey")
	s.command(t, 3, "settings", "set", "--decision-assertion", "PASSKEY", "--reason", "policy 7.2", "--profile", "admin") // no passkeys at this address
	s.command(t, 2, "settings", "set", "--decision-assertion", "FACE", "--reason", "policy 7.2", "--profile", "admin")
	prints(t, s.command(t, 0, "settings", "set", "--decision-assertion", "NONE", "--reason", "as it was", "--profile", "admin").Out, "revision 1", "approvals need no passkey")
	s.asked(t, "settings", "get").Is(t, "revision", 1)
}
