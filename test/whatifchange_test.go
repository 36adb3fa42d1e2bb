package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAWhatIfPlaysAProposedChange: the gate that it asks for, for who reads changes, before anybody
// decides it; it changes nothing.
func TestAWhatIfPlaysAProposedChange(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	ask, noor := w.person(t, "mara@example.com", "ADMIN"), w.person(t, "noor@example.com", "ADMIN")
	asMara := []harness.Header{ask.Cookie(), w.csrf(t, ask)}
	asNoor := []harness.Header{noor.Cookie(), w.csrf(t, noor)}
	pays := func(name string, more doc) doc {
		c := harness.Capability(name, "POST", "/"+name, doc{"title": "Pay {amount}", "approval": "ALWAYS", "inputSchema": doc{"amount": harness.Input("number", true)}})
		for k, v := range more {
			c[k] = v
		}
		return c
	}
	project := func(capabilities ...any) doc {
		return harness.With(harness.Project(w.shop.Origin()), "capabilities", capabilities)
	}
	w.register(t, "default-pays", project(pays("pay", nil), pays("tip", nil)))
	for _, amount := range []string{"20", "300"} {
		id := w.run(t, harness.With(step("p", "pay", doc{"amount": number(amount)}), "projectId", "default-pays"))
		w.approver.Post("/approvals/"+w.approval(t, id).At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "not " + amount}).OK(t)
		w.reaches(t, id, "FAILED")
	}
	w.As("").Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}, asMara...).OK(t)
	revision := w.Admin.Get("/projects/default-pays").OK(t).At("revision").Int()
	propose := func(p doc) string {
		a := w.As("").Put("/projects/default-pays", harness.With(p, "expectedRevision", revision), asMara...)
		a.Refused(t, "change_proposed")
		at := a.Header.Get("Location")
		return at[strings.LastIndexByte(at, '/')+1:]
	}
	small := []doc{{"when": is("amount", "lte", number("50")), "then": "ALLOW", "reason": "small"}}
	one := propose(project(pays("pay", doc{"approval": "RISK_BASED", "approvalRules": small}), pays("tip", nil)))
	both := propose(project(pays("pay", doc{"approval": "NONE"}), pays("tip", doc{"approval": "NONE"})))
	none := propose(harness.With(project(pays("pay", nil), pays("tip", nil)), "headers", doc{"X-Shop": "2"}))
	token := w.As("").Post("/tokens", doc{"name": "t", "roles": []string{"ADMIN"}}, asMara...)
	token.Refused(t, "change_proposed")
	other := token.Header.Get("Location")
	other = other[strings.LastIndexByte(other, '/')+1:]

	play := func(body doc) *harness.Answer {
		return w.As("").Post("/projects/default-pays/what-if", body, asNoor...)
	}
	elsewhere, _ := w.token(t, doc{"roles": []string{"VIEWER"}, "projectIds": []string{shop}})
	before := w.Admin.Get("/audit").OK(t).At("total").Int()
	play(doc{"changeId": one}).OK(t).Is(t, "played", 2).Is(t, "today", doc{"sent": 0, "asked": 2, "denied": 0}).Is(t, "then", doc{"sent": 1, "asked": 1, "denied": 0}).
		Is(t, "loosened.0.reason", "not 20").Is(t, "loosened.1", harness.Absent)
	play(doc{"changeId": one, "capability": "pay", "last": 1}).OK(t).Is(t, "played", 1).Is(t, "then.sent", 0)
	play(doc{"changeId": one, "capability": "tip"}).OK(t).Is(t, "played", 0)
	play(doc{"changeId": both, "capability": "pay"}).OK(t).Is(t, "then.sent", 2)
	play(doc{"changeId": none, "capability": "pay"}).OK(t).Is(t, "then.sent", 0)
	for _, bad := range []struct {
		body doc
		part string
	}{
		{doc{"changeId": both}, "gives several capabilities another gate; name one of pay, tip"},
		{doc{"changeId": none}, "leaves approval, rules and budgets of each capability as they are"},
		{doc{"changeId": one, "capability": "gone"}, "project default-pays has no capability gone by change " + one},
		{doc{"changeId": other}, `a change of project default-pays is played`},
		{doc{"changeId": one, "capability": "pay", "approval": "NONE"}, "the change says what the gate would be; leave out approval, approvalRules and budgets"},
		{doc{"last": 5}, "capability: is required, unless a changeId says which gate is meant"},
		{doc{"capability": "pay"}, "last: is required: 1 to 1000 runs"},
		{doc{"changeId": one, "last": 1001}, "1 to 1000"},
	} {
		play(bad.body).Refused(t, "invalid_request", bad.part)
	}
	play(doc{"changeId": "chg-none"}).Refused(t, "not_found")
	w.viewer.Post("/projects/default-pays/what-if", doc{"changeId": one}).Refused(t, "role_required")
	elsewhere.Post("/projects/default-pays/what-if", doc{"changeId": one}).Refused(t, "project_scope")
	if now := w.Admin.Get("/audit").OK(t).At("total").Int(); now != before {
		t.Errorf("%d records were added", now-before)
	}
	w.As("").Post("/changes/"+one+"/decision", doc{"decision": "APPROVED", "reason": "small sums may go"}, asNoor...).OK(t)
	play(doc{"changeId": one, "capability": "pay"}).OK(t).Is(t, "then.sent", 1)
}
