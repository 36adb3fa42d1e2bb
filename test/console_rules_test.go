package test

import (
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

func TestTheApprovalsPageSaysWhoDecidedAndWhoStillCan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	zoe := w.person(t, "zoe@example.com", "APPROVER", "VIEWER")
	w.group(t, "finance", 0, "ann@example.com", "ben@example.com")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", harness.With(several(2, "finance"), "reason", "large sums take two")))
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	path := "/approvals/" + a.At("id").Text()
	p := ann.Open(path)
	mustSay(t, p, 200, "large sums take two", "amount ≥ 0", "2 approvals", "finance", "Can still decide: ann@example.com, ben@example.com", "It is sent when enough have approved")
	mustNotHold(t, p, ">Approve and send<")
	mustSay(t, zoe.Open(path), 200, "you are in none of them", "Can still decide: ann@example.com, ben@example.com")
	submitted(t, ann, p, path+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"checked the order"}})
	again := ann.Open(path)
	mustSay(t, again, 200, "ann@example.com", "checked the order", "1 so far", "Can still decide: ben@example.com", "You have decided approval")
	mustNotHold(t, again, `name="decision"`)
	submitted(t, ben, ben.Open(path), path+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"so did I"}})
	mustSay(t, zoe.Open(path), 200, "ann@example.com and ben@example.com approved it.", "checked the order", "so did I")
	mustSay(t, zoe.Open("/projects/"+ruled), 200, "amount ≥ 0", "asks for 2 approvals, by members of finance", "large sums take two")
}

func TestADeniedRunSaysWhichRuleDeniedIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "VIEWER")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", harness.With(rule(is("amount", "gt", number("1000")), "DENY"), "reason", "over the limit of a day")))
	plan := w.ready(t, planOf(pay("p", "5000", nil)))
	mustSay(t, mara.Open("/plans/"+plan), 200, "a rule denies it: over the limit of a day")
	run := w.reaches(t, w.start(t, plan), "FAILED").At("id").Text()
	mustSay(t, mara.Open("/runs/"+run), 200, "A rule denies it: over the limit of a day", "Nothing was sent")
}

func TestTheConsoleEditsRulesByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	w.group(t, "finance", 0, "ada@example.com")
	w.group(t, "board", 0)
	nested := doc{"kind": "group", "combinator": "OR", "conditions": []any{
		doc{"kind": "group", "combinator": "AND", "conditions": []any{is("amount", "gt", number("5")), is("country", "eq", "DE")}}, is("to.country", "isKnown", nil),
	}}
	w.register(t, ruled, payRules(w.shop.Origin(), "RISK_BASED", rule(nested, "DENY")))
	path := "/projects/" + ruled + "/capability?name=pay"
	p := ada.Open(path)
	mustSay(t, p, 200, "Rule 1", "Rule 2", "This condition is nested")
	base := url.Values{"name": {"pay"}, "method": {"POST"}, "path": {"/pay"}, "approval": {"RISK_BASED"},
		"input0name": {"amount"}, "input0type": {"number"}, "input0required": {"on"}, "input0was": {"amount"}, "input1name": {"country"}, "input1type": {"string"}, "input1was": {"country"}, "input2name": {"to"}, "input2type": {"object"}, "input2was": {"to"}}
	submit := func(revision string, rules map[string]string) *harness.Page {
		form := url.Values{"revision": {revision}}
		for name, v := range base {
			form[name] = v
		}
		for name, v := range rules {
			form.Set(name, v)
		}
		return submitted(t, ada, ada.Open(path), path, form)
	}
	large := map[string]string{
		"rule0was": "0", "rule0then": "DENY", "rule0reason": "no",
		"rule1then": "ASK", "rule1input0": "amount", "rule1operator0": "gt", "rule1value0": "1000.50", "rule1input1": "country", "rule1operator1": "neq", "rule1value1": "DE",
		"rule1reason": "large sums", "rule1approvals": "2", "rule1groups": "finance", "rule1after": "4h", "rule1to": "board",
		"budget0most": "99.50", "budget0sum": "amount", "budget0window": "24h", "budget0then": "ASK", "budget0reason": "a day's", "budget1most": "20", "budget1window": "1h", "budget1then": "DENY", "budget1reason": "an hour's",
		"rule2then": "ALLOW", "rule2any": "on", "rule2input0": "amount", "rule2operator0": "lte", "rule2value0": "5", "rule2input1": "to.vip", "rule2operator1": "eq", "rule2value1": "true", "rule2reason": "small",
	}
	submit("1", large)
	rules := w.viewer.Get("/projects/"+ruled).OK(t).Is(t, "revision", 2).At("capabilities.0.approvalRules")
	w.viewer.Get("/projects/"+ruled).OK(t).Is(t, "capabilities.0.budgets", []any{
		doc{"sum": "amount", "most": number("99.50"), "window": "24h", "then": "ASK", "reason": "a day's"}, doc{"count": 20, "window": "1h", "then": "DENY", "reason": "an hour's"},
	})
	rules.Is(t, "0.when", nested).Is(t, "0.reason", "no")
	rules.Is(t, "1", doc{"when": doc{"kind": "group", "combinator": "AND", "conditions": []any{is("amount", "gt", number("1000.50")), is("country", "neq", "DE")}}, "then": "ASK", "reason": "large sums", "approvals": 2, "groups": []string{"finance"}, "escalate": doc{"after": "4h", "groups": []string{"board"}}})
	rules.Is(t, "2.when", doc{"kind": "group", "combinator": "OR", "conditions": []any{is("amount", "lte", number("5")), is("to.vip", "eq", true)}})
	mustSay(t, ada.Open("/projects/"+ruled), 200, "asks for 2 approvals, by members of finance; after 4h members of board may decide, too", "is sent without approval")
	mustHold(t, ada.Open(path), `value="1000.50"`, `value="large sums"`, `value="DE"`)
	// What is wrong is said, and what was typed stays.
	for wrong, part := range map[string][2]string{
		"no number": {"rule1value0", "lots"}, "there is no group nobody": {"rule1groups", "nobody"}, "must be 1 to 5": {"rule1approvals", "9"}, "must be a duration": {"rule1after", "soon"}, "names no input": {"rule1input0", "amuont"},
	} {
		again := submit("2", mapWith(large, part[0], part[1]))
		mustSay(t, again, 400, wrong)
		mustHold(t, again, `value="`+part[1]+`"`)
	}
	mustSay(t, submit("2", mapWith(large, "rule1then", "")), 400, "Rule 2 says nothing that it does")
	// A stored rule that does nothing is removed.
	submit("2", map[string]string{"rule0was": "0", "rule0then": "", "rule1was": "1", "rule1then": "ASK", "rule1input0": "amount", "rule1operator0": "isUnknown", "rule1reason": "why not"})
	w.viewer.Get("/projects/"+ruled).OK(t).Is(t, "revision", 3).Is(t, "capabilities.0.approvalRules.0.when.operator", "isUnknown").Is(t, "capabilities.0.approvalRules.1", harness.Absent)
}

func mapWith(m map[string]string, name, value string) map[string]string {
	out := maps.Clone(m)
	out[name] = value
	return out
}

func TestTheConsoleKeepsGroupsAndDelegations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, ann := w.person(t, "ada@example.com", "ADMIN", "APPROVER"), w.person(t, "ann@example.com", "APPROVER")
	mustSay(t, ada.Open("/access/groups"), 200, "No groups yet", "Nobody has delegated")
	put := func(path string, form url.Values) *harness.Page { return submitted(t, ada, ada.Open(path), path, form) }
	put("/access/groups/new", url.Values{"id": {"finance"}, "name": {"Finance"}, "members": {"ada@example.com\r\nann@example.com"}})
	w.viewer.Get("/groups/finance").OK(t).Is(t, "name", "Finance").Is(t, "members", []string{"ada@example.com", "ann@example.com"})
	mustSay(t, put("/access/groups/new", url.Values{"id": {"finance"}, "name": {"Other"}}), 400, "There is a group finance already")
	mustSay(t, put("/access/groups/new", url.Values{"id": {"legal"}, "name": {"Legal"}, "members": {"eve@example.com"}}), 400, "eve@example.com is not a user")
	put("/access/groups/finance", url.Values{"revision": {"1"}, "name": {"Finance"}, "members": {"ann@example.com"}, "claim": {"groups=fin"}})
	w.viewer.Get("/groups/finance").OK(t).Is(t, "revision", 2).Is(t, "claim", "groups=fin").Is(t, "members", []string{"ann@example.com"})
	mustSay(t, put("/access/groups/finance", url.Values{"revision": {"1"}, "name": {"Mine"}}), 409, "Overwrite revision 2")

	// Who is no ADMIN reads groups and delegates in their own name.
	p := ann.Open("/access/groups")
	mustSay(t, p, 200, "Finance", "ann@example.com")
	mustNotHold(t, p, "Add a group", "/console/access/tokens")
	mustSay(t, ann.Open("/access/groups/finance"), 403, "ADMIN")
	mustSay(t, submitted(t, ann, ann.Open("/access/away"), "/access/away", url.Values{"delegate": {"ada@example.com"}, "until": {"soon"}, "reason": {"r"}}), 400, "A day such as 2026-12-31")
	until := fromNow(48 * time.Hour)[:10]
	submitted(t, ann, ann.Open("/access/away"), "/access/away", url.Values{"email": {"ada@example.com"}, "delegate": {"ada@example.com"}, "until": {until}, "reason": {"holidays"}})
	w.viewer.Get("/delegations").OK(t).Is(t, "total", 1).Is(t, "items.0.user", "ann@example.com").Is(t, "items.0.delegate", "ada@example.com")
	mustSay(t, ada.Open("/access/groups"), 200, "holidays")
	submitted(t, ann, ann.Open("/access/groups"), "/access/away/ann@example.com/end", nil)
	w.viewer.Get("/delegations").OK(t).Is(t, "total", 0)
	submitted(t, ada, ada.Open("/access/groups/finance"), "/access/groups/finance/delete", nil)
	w.viewer.Get("/groups/finance").Refused(t, "not_found")
}
