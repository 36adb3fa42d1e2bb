package test

import (
	"net/url"
	"testing"

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
	mustSay(t, p, 200, "large sums take two", "amount ≥ 0", "2 approvals", "finance", "Still can: ann@example.com, ben@example.com", "It is sent when enough have approved")
	mustNotHold(t, p, ">Approve and send<")
	mustSay(t, zoe.Open(path), 200, "you are in none of them", "Still can: ann@example.com, ben@example.com")
	submitted(t, ann, p, path+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"checked the order"}})
	again := ann.Open(path)
	mustSay(t, again, 200, "ann@example.com", "checked the order", "1 of them", "Still can: ben@example.com", "You have decided approval")
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
