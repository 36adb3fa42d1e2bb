package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/test/harness"
)

const ruled = "default-ruled"

func is(variable, operator string, value any) doc {
	return doc{"kind": "predicate", "variableId": variable, "operator": operator, "value": value}
}

func rule(when doc, then string) doc { return doc{"when": when, "then": then, "reason": then + " it"} }

// payRules is a project whose capability `pay` has these rules.
func payRules(origin, approval string, rules ...doc) doc {
	list := make([]any, len(rules))
	for i := range rules {
		list[i] = rules[i]
	}
	in := doc{"amount": harness.Input("number", true), "country": harness.Input("string", false), "to": harness.Input("object", false)}
	return harness.With(harness.Project(origin), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"inputSchema": in, "approval": approval, "approvalRules": list}),
		harness.Capability("quote", "POST", "/quote", doc{"approval": "NONE"}),
	})
}

func pay(id, amount string, more doc) doc {
	input := doc{"amount": number(amount)}
	for name, v := range more {
		input[name] = v
	}
	return harness.With(step(id, "pay", input), "projectId", ruled)
}

func rehearsed(steps ...doc) doc { return harness.With(planOf(steps...), "mode", "DRY_RUN") }

func TestRulesDecideWhichRequestsAreLetOutAskedForAndDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "RISK_BASED",
		rule(is("amount", "lte", number("100")), "ALLOW"), rule(is("amount", "gt", number("1000")), "DENY"), rule(is("to.country", "eq", "KP"), "DENY")))
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`), harness.Answering(200, `{}`))

	at := func(country string) doc { return doc{"to": doc{"country": country}} }
	free := w.reaches(t, w.run(t, pay("p", "100", at("DE"))), "COMPLETED")
	free.Is(t, "steps.0.approvalRequired", false).Is(t, "steps.0.approvalId", harness.Absent)

	w.reaches(t, w.run(t, pay("p", "100.00000000000000000001", at("DE"))), "WAITING_APPROVAL").Is(t, "steps.0.approvalRequired", true)
	// An unknown value never loosens a rule: without the country the request may be a denied one.
	asked := w.approval(t, w.run(t, pay("p", "1", nil)))
	asked.Is(t, "approvalsNeeded", 1).Is(t, "reasons", []string{"DENY it"}).Is(t, "groups", harness.Absent)

	for _, s := range []doc{pay("p", "1000.5", at("DE")), pay("p", "1", at("KP"))} {
		denied := w.reaches(t, w.run(t, s), "FAILED")
		denied.Is(t, "error", "denied_by_rule: DENY it").Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "denied_by_rule").
			Is(t, "steps.0.error.message", "DENY it").Is(t, "steps.0.attempt", 0)
	}
	if n := len(w.shop.Seen("POST", "/pay")); n != 1 {
		t.Errorf("%d requests were sent, want 1", n)
	}
}

func TestTheGateDecidesOverWhatIsBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", rule(is("amount", "gt", number("1000")), "DENY")))
	for amount, status := range map[string]string{"1000": "COMPLETED", "1000.01": "FAILED"} {
		w.shop.On("POST", "/quote", harness.Answering(200, `{"price":`+amount+`}`))
		w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
		second := harness.With(harness.With(harness.With(pay("p", "1", nil), "dependsOn", []string{"q"}), "input", doc{}), "inputBindings", doc{"amount": doc{"stepId": "q", "field": "price"}})
		w.reaches(t, w.run(t, harness.With(step("q", "quote", nil), "projectId", ruled), second), status).Is(t, "steps.1.input.amount", number(amount))
	}
	// In a rehearsal bound values are unknown.
	second := harness.With(harness.With(harness.With(pay("p", "1", nil), "dependsOn", []string{"q"}), "input", doc{}), "inputBindings", doc{"amount": doc{"stepId": "q", "field": "price"}})
	plan := w.ready(t, rehearsed(harness.With(step("q", "quote", nil), "projectId", ruled), second))
	w.reaches(t, w.start(t, plan), "COMPLETED").Is(t, "steps.0.wouldBe", "ALLOW").Is(t, "steps.1.wouldBe", "ASK").Is(t, "steps.1.approvalRequired", true)
}

func TestARehearsalSaysWhatTheGateWouldSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "RISK_BASED", rule(is("amount", "lte", number("100")), "ALLOW"), rule(is("amount", "gt", number("1000")), "DENY")))
	plan := w.ready(t, rehearsed(pay("free", "100", nil), pay("asked", "500", nil), pay("denied", "5000", nil)))
	run := w.reaches(t, w.start(t, plan), "COMPLETED")
	for i, want := range []string{"ALLOW", "ASK", "DENIED"} {
		run.At("steps").Items()[i].Is(t, "status", "SIMULATED").Is(t, "wouldBe", want).Is(t, "approvalRequired", want == "ASK")
	}
	w.viewer.Get("/runs/"+run.At("id").Text()+"/receipt").OK(t).Is(t, "sections.run.steps.2.wouldBe", "DENIED")
}

func TestRulesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := rule(is("amount", "gt", number("5")), "ASK")
	for name, c := range map[string]struct {
		project doc
		part    string
	}{
		"ALLOW beside ALWAYS":           {payRules(w.shop.Origin(), "ALWAYS", rule(is("amount", "lt", number("5")), "ALLOW")), "approvalRules[0].then"},
		"an input that isn't declared":  {payRules(w.shop.Origin(), "NONE", rule(is("amuont", "lt", number("5")), "ASK")), "approvalRules[0].when.variableId"},
		"a path into a number":          {payRules(w.shop.Origin(), "NONE", rule(is("amount.cents", "lt", number("5")), "ASK")), "approvalRules[0].when.variableId"},
		"a number as text":              {payRules(w.shop.Origin(), "NONE", rule(is("amount", "eq", "5"), "ASK")), "approvalRules[0].when.value"},
		"an unknown group":              {payRules(w.shop.Origin(), "NONE", harness.With(good, "groups", []string{"nobody"})), "approvalRules[0].groups[0]"},
		"no approval at all":            {payRules(w.shop.Origin(), "NONE", harness.With(good, "approvals", 0)), "approvals"},
		"too many approvals":            {payRules(w.shop.Origin(), "NONE", harness.With(good, "approvals", 6)), "approvals"},
		"no reason":                     {payRules(w.shop.Origin(), "NONE", harness.With(good, "reason", " ")), "approvalRules[0].reason"},
		"another answer than the three": {payRules(w.shop.Origin(), "NONE", harness.With(good, "then", "MAYBE")), "then"},
		"no condition":                  {payRules(w.shop.Origin(), "NONE", harness.Without(good, "when")), "when"},
	} {
		t.Run(name, func(t *testing.T) { w.Admin.Put("/projects/"+ruled, c.project).Refused(t, "invalid_request", c.part) })
	}
}

func TestRulesAreContentOfTheirProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(limit string) doc {
		return payRules(w.shop.Origin(), "NONE", rule(is("amount", "gt", number(limit)), "ASK"))
	}
	w.register(t, ruled, at("10"))
	w.Admin.Get("/projects/"+ruled).OK(t).Is(t, "capabilities.0.approvalRules.0.when.value", number("10"))
	plan := w.ready(t, planOf(pay("p", "11", nil)))
	asked := w.approval(t, w.start(t, plan))
	w.Admin.Put("/projects/"+ruled, harness.With(at("20"), "expectedRevision", 1)).Refused(t, "project_in_use")
	w.approver.Post("/approvals/"+asked.At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "r"}).OK(t)
	w.reaches(t, asked.At("runId").Text(), "FAILED")
	w.Admin.Put("/projects/"+ruled, harness.With(at("20"), "expectedRevision", 1)).OK(t).Is(t, "revision", 2).Is(t, "enabled", false)
	if !w.weakens(t, "project/"+ruled) {
		t.Error("a rule that holds for fewer requests weakens the gate")
	}
	w.enable(t, ruled, 2)
	w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "drift")
	w.Admin.Put("/projects/"+ruled, harness.With(at("5"), "expectedRevision", 2)).OK(t)
	if w.weakens(t, "project/"+ruled) {
		t.Error("a rule that holds for more requests doesn't weaken the gate")
	}
}

func TestValidatingAProjectShowsContradictionsAndGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inside := doc{"kind": "group", "combinator": "AND", "conditions": []any{is("amount", "gte", number("0")), is("amount", "lte", number("10"))}}
	w.register(t, ruled, payRules(w.shop.Origin(), "RISK_BASED", rule(inside, "ALLOW"), rule(is("amount", "gte", number("0")), "DENY")))
	found := w.viewer.Post("/projects/"+ruled+"/validate", nil).OK(t).Is(t, "valid", true).Is(t, "errors", []any{})
	found.Is(t, "warnings.0.code", "rule_never_decides").Is(t, "warnings.0.path", "capabilities[0].approvalRules[0]").Is(t, "warnings.0.witness.amount", number("0"))
	w.Admin.Put("/projects/"+ruled, harness.With(payRules(w.shop.Origin(), "RISK_BASED", rule(is("amount", "lte", number("10")), "ALLOW")), "expectedRevision", 1)).OK(t)
	w.viewer.Post("/projects/"+ruled+"/validate", nil).OK(t).Is(t, "warnings.0.code", "number_unbounded").Is(t, "warnings.0.witness", doc{"amount": number("-1")})
	w.viewer.Post("/projects/"+shop+"/validate", nil).OK(t).Is(t, "warnings", []any{})
	w.viewer.Post("/projects/default-none/validate", nil).Refused(t, "not_found")
}

// TestAViewerIsNotToldWhichRuleHeldOfASensitiveInput: the rule would reveal its value.
func TestAViewerIsNotToldWhichRuleHeldOfASensitiveInput(t *testing.T) {
	t.Parallel()
	w := ownWorld(t) // whose answers the harness leaves as they are
	project := payRules(w.shop.Origin(), "NONE", rule(is("amount", "gt", number("1000")), "DENY"), rule(is("amount", "gt", number("100")), "ASK"))
	w.register(t, ruled, harness.With(project, "capabilities.0.sensitive", []string{"amount"}))
	denied := w.reaches(t, w.run(t, pay("p", "1001", nil)), "FAILED").At("id").Text()
	w.operator.Get("/runs/"+denied).OK(t).Is(t, "steps.0.error.message", "DENY it")
	seen := w.viewer.Get("/runs/"+denied).OK(t).Is(t, "steps.0.error.code", "denied_by_rule").Is(t, "steps.0.error.message", "•••")
	if strings.Contains(seen.At("error").Text(), "DENY it") {
		t.Error(seen.At("error"))
	}
	asked := w.approval(t, w.run(t, pay("p", "101", nil)))
	w.operator.Get("/approvals/"+asked.At("id").Text()).OK(t).Is(t, "reasons", []string{"ASK it"})
	w.viewer.Get("/approvals/"+asked.At("id").Text()).OK(t).Is(t, "reasons", harness.Absent)
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	w.approver.Post("/approvals/"+asked.At("id").Text()+"/decision", approved).OK(t)
	sent := w.reaches(t, asked.At("runId").Text(), "COMPLETED").At("id").Text()
	for _, id := range []string{denied, sent} {
		if v := receipt.Verify([]byte(w.viewer.Get("/runs/"+id+"/receipt").Raw), nil); !v.OK {
			t.Errorf("a viewer's receipt: %+v", v)
		}
	}
}
