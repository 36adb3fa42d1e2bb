package test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAGateIsTriedOnTheBenchBeforeItIsSaved: over past calls and over one that is typed; what was changed
// since it was tried isn't saved; what saving weakens stands in words, and becomes a change where several decide.
func TestAGateIsTriedOnTheBenchBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.register(t, "default-pays", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"title": "Pay {amount}", "approval": "RISK_BASED", "inputSchema": doc{"amount": harness.Input("number", true)}}),
	}))
	for _, amount := range []string{"20", "300"} {
		id := w.run(t, harness.With(step("p", "pay", doc{"amount": number(amount)}), "projectId", "default-pays"))
		w.approver.Post("/approvals/"+w.approval(t, id).At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "not " + amount}).OK(t)
		w.reaches(t, id, "FAILED")
	}
	mara, noor := w.person(t, "mara@example.com", "ADMIN"), w.person(t, "noor@example.com", "ADMIN")
	ines := w.person(t, "ines@example.com", "VIEWER")
	const at = "/projects/default-pays/what-if?capability=pay"
	mustHold(t, mara.Open("/projects/default-pays"), `/console/projects/default-pays/what-if?capability=pay`)
	opened := mara.Open(at)
	mustSay(t, opened, 200, "nothing changes until you save", "The last 2 LIVE runs", "under the gate as it stands", "It is as it stands: nothing to save.")
	mustSay(t, mara.Open("/projects/default-pays/what-if?capability=none"), 404, "has no capability none")

	typed := func(b *harness.Browser, from *harness.Page, do string, more url.Values) url.Values {
		form := url.Values{
			"csrf": {strings.TrimPrefix(string(w.csrf(t, b)), "X-CSRF-Token: ")}, "do": {do}, "revision": {hiddenIn(from.Text, "revision")}, "seen": {hiddenIn(from.Text, "seen")},
			"approval": {"RISK_BASED"}, "last": {"1000"}, "budget0most": {""}, "rule0then": {"ALLOW"}, "rule0reason": {"small"}, "rule0input0": {"amount"}, "rule0operator0": {"lte"}, "rule0value0": {"50"},
		}
		for name, values := range more {
			form[name] = values
		}
		return form
	}
	tried := mara.Submit(at, typed(mara, opened, "try", nil))
	mustSay(t, tried, 200, "under the gate below", "Would go out unasked, and a person rejected it", "not 20", "The approval rules will be:", "it is sent without approval", "Today:", "weaker", "Save as revision 2", "All else stays.")
	if strings.Contains(tried.Text, "not 300") {
		t.Error("what would still be asked is named among what goes out")
	}
	mustSay(t, ines.Submit(at, typed(ines, ines.Open(at), "try", nil)), 200, "not 20", "An administrator saves it.")
	mustSay(t, ines.Submit(at, typed(ines, ines.Open(at), "save", nil)), 403)
	called := mara.Submit(at, typed(mara, tried, "call", url.Values{"input.amount": {"50"}}))
	mustSay(t, called, 200, "It would be sent without asking.", "Rule 1", "small")
	mustSay(t, mara.Submit(at, typed(mara, tried, "call", url.Values{"input.amount": {"51"}})), 200, "A person would be asked.", "No rule applies.")
	mustSay(t, mara.Submit(at, typed(mara, tried, "call", url.Values{"input.amount": {"much"}})), 200, "Write a number")
	mustSay(t, mara.Submit(at, typed(mara, tried, "try", url.Values{"rule0value0": {"much"}})), 400, "which is no number")
	mustSay(t, mara.Submit(at, typed(mara, tried, "try", url.Values{"last": {"1001"}})), 400, "A whole number from 1 to 1000")

	mustSay(t, mara.Submit(at, typed(mara, tried, "save", url.Values{"rule0value0": {"500"}})), 200, "Not saved yet: it was changed after it was tried.", "not 300")
	if w.Admin.Get("/projects/default-pays").OK(t).At("revision").Int() != 1 {
		t.Error("what nobody had looked at was saved")
	}
	w.As("").Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}, noor.Cookie(), w.csrf(t, noor)).OK(t)
	tried = mara.Submit(at, typed(mara, mara.Open(at), "try", nil))
	mustSay(t, tried, 200, "saving proposes a change", "1 other administrator must approve it within 24", "Propose revision 2")
	mustSay(t, mara.Submit(at, typed(mara, tried, "save", nil)), 409, "change_proposed", "noor@example.com")
	w.Admin.Get("/projects/default-pays").OK(t).Is(t, "revision", 1)
	stricter := url.Values{"rule0then": {"DENY"}, "rule0operator0": {"gte"}}
	tried = mara.Submit(at, typed(mara, mara.Open(at), "try", stricter))
	mustSay(t, tried, 200, "Save as revision 2")
	saved := mara.Submit(at, typed(mara, tried, "save", stricter))
	mustSay(t, saved, 200, "Capabilities")
	w.Admin.Get("/projects/default-pays").OK(t).Is(t, "revision", 2).Is(t, "capabilities.0.approvalRules.0.then", "DENY")
}

func hiddenIn(text, name string) string {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}
