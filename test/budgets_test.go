package test

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// budgeted is a project with one capability `pay`, which has these budgets and asks for no approval otherwise.
func budgeted(origin string, budgets ...any) doc {
	in := doc{"amount": harness.Input("number", false), "memo": harness.Input("string", false)}
	return harness.With(harness.Project(origin), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"inputSchema": in, "approval": "NONE", "budgets": append([]any{}, budgets...)}),
	})
}

func countOf(n int, then string) doc {
	return doc{"count": n, "window": "24h", "then": then, "reason": "so many a day"}
}

func sumOf(most, then string) doc {
	return doc{"sum": "amount", "most": number(most), "window": "24h", "then": then, "reason": "so much a day"}
}

func paying(id, amount string) doc {
	return harness.With(step(id, "pay", doc{"amount": number(amount)}), "projectId", "default-budget")
}

func newBudgetWorld(t *testing.T, own bool, budgets ...any) *world {
	t.Helper()
	w := newWorld(t)
	if own {
		w = ownWorld(t)
	}
	w.register(t, "default-budget", budgeted(w.shop.Origin(), budgets...))
	return w
}

func TestAStepBeyondACountIsDenied(t *testing.T) {
	t.Parallel()
	w := newBudgetWorld(t, true, countOf(2, "DENY"))
	rehearsal := w.ready(t, harness.With(planOf(paying("p", "1")), "mode", "DRY_RUN"))
	for range 3 { // rehearsals don't use the budget
		w.reaches(t, w.start(t, rehearsal), "COMPLETED")
	}
	plan := w.ready(t, planOf(paying("p", "1")))
	w.reaches(t, w.start(t, plan), "COMPLETED")
	w.Stop()
	w.Restart()
	last := w.start(t, plan)
	w.reaches(t, last, "COMPLETED")
	denied := w.start(t, plan)
	w.reaches(t, denied, "FAILED").Is(t, "error", "denied_by_budget: so many a day").Is(t, "steps.0.error.code", "denied_by_budget").
		Is(t, "steps.0.attempt", 0).Is(t, "steps.0.request.body", doc{"amount": 1})
	if n := len(w.shop.Seen("POST", "/pay")); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
	w.holds(t, w.operator, denied)
	w.holds(t, w.operator, last)
}

func TestAStepBeyondASumAsksAndSumsAreExact(t *testing.T) {
	t.Parallel()
	w := newBudgetWorld(t, true, sumOf("0.3", "ASK"))
	w.reaches(t, w.run(t, paying("a", "0.1"), paying("b", "0.2")), "COMPLETED")
	w.reaches(t, w.run(t, paying("a", "0")), "COMPLETED")
	asks := w.run(t, paying("a", "1e-30"))
	w.approval(t, asks).Is(t, "reasons", []string{"so much a day"})
	w.approve(t, asks)
	w.reaches(t, asks, "COMPLETED").Is(t, "steps.0.approvalRequired", true)
	w.holds(t, w.operator, asks)
	w.approval(t, w.run(t, paying("a", "1"))) // a negative amount doesn't increase the rest of the budget
	w.reaches(t, w.run(t, paying("a", "-5")), "WAITING_APPROVAL")
	w.approval(t, w.run(t, harness.With(paying("a", "1"), "input", doc{"memo": "no amount"}))).Has(t, "reasons.0", "not known")
	w.approval(t, w.run(t, paying("a", "1e999999999")))
}

// TestTheLastOfABudgetIsUsedOnce by concurrent runs.
func TestTheLastOfABudgetIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "16"))
	w.register(t, "default-budget", budgeted(w.shop.Origin(), sumOf("30", "DENY"), countOf(5, "DENY")))
	plan := w.ready(t, planOf(paying("p", "10")))
	ids := make([]string, 12)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i] = w.operator.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text() })
	}
	all.Wait()
	completed := 0
	for _, id := range ids {
		var status string
		harness.Until(t, "run "+id+" to end", func() bool {
			status = w.viewer.Get("/runs/" + id).OK(t).At("status").Text()
			return status == "COMPLETED" || status == "FAILED"
		})
		if status == "COMPLETED" {
			completed++
		}
	}
	if n := len(w.shop.Seen("POST", "/pay")); n != 3 || completed != 3 {
		t.Errorf("%d requests were sent, and %d runs completed", n, completed)
	}
}

func TestAStepThatIsSentAgainCountsOnce(t *testing.T) {
	t.Parallel()
	w := newBudgetWorld(t, false, countOf(2, "DENY"))
	w.shop.On("POST", "/pay", harness.Answering(500, `{}`), harness.Answering(200, `{"ok":true}`))
	id := w.run(t, paying("p", "1"))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.shop.MayRepeat(id + ".p")
	w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "CONFIRMED_NOT_EXECUTED", "evidence": "asked them"}).OK(t)
	harness.Until(t, "the second attempt", func() bool { return w.viewer.Get("/runs/"+id).OK(t).At("status").Text() == "COMPLETED" })
	w.reaches(t, w.run(t, paying("p", "1")), "COMPLETED")
	w.reaches(t, w.run(t, paying("p", "1")), "FAILED").Has(t, "error", "denied_by_budget")
}

func TestAnAgentsBudgetsAreGivenAtItsAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "lookup"})
	w.operator.Post("/systems/"+shop+"/agents/sync", manifest(harness.With(item, "budgets", []any{}))).Refused(t, "invalid_request", "budgets")
	id := w.sync(t, item)[0]
	admit := func(budgets ...any) *harness.Answer {
		return w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "known", "budgets": append([]any{}, budgets...)})
	}
	admit(sumOf("5", "DENY")).Refused(t, "invalid_request", "budgets[0].sum")
	admit(doc{"count": 1, "window": "721h", "then": "DENY", "reason": "r"}).Refused(t, "invalid_request", "budgets[0].window")
	w.tenantAdmin.Post("/agents/"+id+"/suspend", doc{"reason": "r", "budgets": []any{}}).Refused(t, "invalid_request", "budgets")
	revision := admit(countOf(2, "DENY")).OK(t).Is(t, "status", "ADMITTED").Is(t, "budgets.0.count", 2).At("revision")
	for _, capability := range []string{"note", "lookup"} {
		input := doc{}
		if capability == "lookup" {
			input = doc{"resourceId": "o-1"}
		}
		w.reaches(t, w.asks(id, agentRun("LIVE", capability, input)).OK(t).At("id").Text(), "COMPLETED")
	}
	w.reaches(t, w.asks(id, agentRun("LIVE", "note", doc{})).OK(t).At("id").Text(), "FAILED").Has(t, "error", "denied_by_budget: so many a day")
	w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "again"}).OK(t).Is(t, "budgets.0.count", 2) // an admission without budgets keeps them
	admit(countOf(3, "DENY")).OK(t).Is(t, "revision", revision)
	w.reaches(t, w.asks(id, agentRun("LIVE", "note", doc{})).OK(t).At("id").Text(), "COMPLETED")
	if !w.weakens(t, "agent/"+id) {
		t.Error("a widened budget is not said to weaken")
	}
	admit(countOf(1, "DENY")).OK(t)
	if w.weakens(t, "agent/"+id) {
		t.Error("a narrowed budget is said to weaken")
	}
	w.sync(t, harness.With(at(2, item), "goal", "another"))
	w.viewer.Get("/agents/"+id).OK(t).Is(t, "status", "PENDING").Is(t, "budgets.0.count", 1)
	admit().OK(t).Is(t, "budgets", harness.Absent)
}

func TestABudgetThatCannotBeJudgedIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := sumOf("5", "ASK")
	for name, bad := range map[string]doc{
		"":        harness.With(good, "count", 1),
		".sum":    harness.With(good, "sum", "memo"),
		".most":   harness.Without(good, "most"),
		".window": harness.With(good, "window", "1d"),
		".then":   harness.With(good, "then", "ALLOW"),
		".reason": harness.With(good, "reason", " "),
	} {
		w.Admin.Put("/projects/default-bad", budgeted(w.shop.Origin(), good, bad)).Refused(t, "invalid_request", "budgets", name)
	}
	for _, bad := range []doc{
		harness.With(good, "most", number("-1")), harness.With(good, "most", number("1e999999")), harness.With(good, "window", "0.5s"), harness.With(good, "window", "721h"),
		harness.With(good, "sum", "nothing"), harness.With(countOf(1, "ASK"), "most", number("1")), harness.With(countOf(1, "ASK"), "count", 0), harness.With(countOf(1, "ASK"), "extra", 1),
	} {
		w.Admin.Put("/projects/default-bad", budgeted(w.shop.Origin(), bad)).Refused(t, "invalid_request")
	}
	w.viewer.Get("/projects/default-bad").Refused(t, "not_found")
}

func TestAWidenedOrRemovedBudgetWeakens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edit := func(revision int, budgets ...any) bool {
		t.Helper()
		w.Admin.Put("/projects/default-budget", harness.With(budgeted(w.shop.Origin(), budgets...), "expectedRevision", revision)).OK(t)
		return w.weakens(t, "project/default-budget")
	}
	for i, c := range []struct {
		budgets []any
		weakens bool
	}{
		{[]any{countOf(2, "DENY")}, false}, {[]any{countOf(2, "DENY"), sumOf("5", "ASK")}, false}, {[]any{sumOf("5.0", "DENY"), countOf(2, "DENY")}, false}, {[]any{sumOf("5", "DENY"), countOf(3, "DENY")}, true},
		{[]any{sumOf("5", "ASK"), countOf(3, "DENY")}, true}, {[]any{harness.With(sumOf("5", "ASK"), "window", "1h"), countOf(3, "DENY")}, true}, {[]any{countOf(1, "DENY")}, true}, {nil, true},
	} {
		if got := edit(i, c.budgets...); got != c.weakens {
			t.Errorf("edit %d to %v: weakens %v", i, c.budgets, got)
		}
	}
}

func TestTheConsoleSetsAndShowsBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN", "APPROVER")
	w.register(t, "default-budget", budgeted(w.shop.Origin(), sumOf("5", "ASK")))
	mustSay(t, ada.Open("/projects/default-budget"), 200, "at most 5 of amount in 24h; above that, asks")
	id := w.sync(t, agentItem("clerk", "note", "refund"))[0]
	path := "/agents/" + id
	admit := func(most, window string) *harness.Page {
		revision := w.agent(t, id).At("revision").String()
		form := url.Values{"reason": {"known"}, "revision": {revision}, "budget0most": {most}, "budget0window": {window}}
		if most != "" {
			form["budget0then"], form["budget0reason"] = []string{"DENY"}, []string{"enough"}
		}
		return submitted(t, ada, ada.Open(path), path+"/admit", form)
	}
	mustSay(t, admit("two", "24h"), 400, "Row 1 needs a number")
	mustSay(t, admit("2.5", "24h"), 400, "a whole number")
	mustSay(t, admit("2", "1d"), 400, "window")
	admit("2", "24h")
	w.viewer.Get(path).OK(t).Is(t, "status", "ADMITTED").Is(t, "budgets.0.count", 2)
	mustSay(t, ada.Open(path), 200, "at most 2 calls in 24h; above that, denied", "enough")
	mustHold(t, ada.Open(path), `name="budget0most" value="2"`, `name="budget1most" value=""`)
	admit("", "")
	w.viewer.Get(path).OK(t).Is(t, "budgets", harness.Absent)
	asks := w.run(t, paying("p", "6"))
	mustSay(t, ada.Open("/approvals/"+w.approval(t, asks).At("id").Text()), 200, "Asked because", "so much a day")
}

func TestTheCommandLineAdmitsWithBudgets(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	id := s.sync(t, agentItem("clerk", "note", "refund"))[0]
	admit := []string{"agents", "admit", id, "--reason", "known", "--profile", "admin", "--budgets"}
	prints(t, s.command(t, 2, append(admit, "{}")...).Err, "--budgets")
	s.command(t, 0, append(admit, "@"+s.file(t, "budgets.json", []any{countOf(2, "DENY")}))...)
	prints(t, s.command(t, 0, "agents", "show", id).Out, "2 steps in 24h, beyond it DENY: so many a day")
	s.command(t, 0, append(admit, "[]")...)
	if out := s.command(t, 0, "agents", "show", id).Out; strings.Contains(out, "budget") {
		t.Error(out)
	}
}

// TestWhatABudgetLetOutIsAmongTheSameRequests that the approval of a further one shows.
func TestWhatABudgetLetOutIsAmongTheSameRequests(t *testing.T) {
	t.Parallel()
	w := newBudgetWorld(t, false, countOf(2, "ASK"))
	plan := w.ready(t, planOf(paying("p", "1")))
	first := w.start(t, plan)
	w.reaches(t, first, "COMPLETED")
	second := w.start(t, plan)
	w.reaches(t, second, "COMPLETED")
	third := w.start(t, plan)
	w.approval(t, third).Is(t, "same.0.runId", second).Is(t, "same.1.runId", first).Is(t, "same.1.status", "COMPLETED").Is(t, "same.2", harness.Absent)
	w.approve(t, third)
	w.reaches(t, third, "COMPLETED")
	w.approval(t, w.start(t, plan)).Is(t, "same.0.runId", third).Is(t, "same.2.runId", first).Is(t, "same.3", harness.Absent)
}
