package test

import (
	"regexp"
	"testing"
)

var howToLink = regexp.MustCompile(`class="howto" href="(/docs/[^"#]*)`)

// TestEachPageLeadsToItsHowTo, which is there.
func TestEachPageLeadsToItsHowTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN", "OPERATOR", "APPROVER")
	agent := w.admitted(t, agentItem("clerk", "note", ""))[0]
	plan := w.ready(t, planOf(step("n", "note", nil)))
	run := w.start(t, plan)
	for _, path := range []string{
		"/", "/search", "/more", "/settings", "/audit", "/audit/verify", "/approvals", "/recovery", "/runs", "/runs/" + run, "/runs/" + run + "/keep", "/plans", "/plans/" + plan, "/plans/+form",
		"/models", "/models/refund", "/models/refund/edit", "/models/refund/compile", "/projects", "/projects/" + shop, "/projects/" + shop + "/edit", "/projects/+import", "/projects/" + shop + "/what-if?capability=note",
		"/projects/" + shop + "/try?capability=note", "/agents", "/agents/" + agent, "/agents/" + agent + "/run?capability=note", "/teams",
		"/access", "/access/users/new", "/access/tokens", "/access/tokens/new", "/access/groups", "/access/webhooks", "/changes",
	} {
		p := ada.Open(path)
		link := howToLink.FindStringSubmatch(p.Text)
		if p.Status != 200 || link == nil {
			t.Errorf("%s: %d, without a link to its how-to", path, p.Status)
			continue
		}
		if at := ada.Open("/../" + link[1][1:]); at.Status != 200 {
			t.Errorf("%s leads to %s: %d", path, link[1], at.Status)
		}
	}
}
