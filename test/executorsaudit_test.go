package test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// entry is a request and its one audit record.
type entry struct {
	by              *harness.Client
	method, path    string
	body            doc
	action, subject string
	before, after   string // of a change
	reason          string
	code            string // of a refusal
}

func (w *world) leaves(t *testing.T, e entry) {
	t.Helper()
	n := w.recorded(t)
	answer := e.by.Do(e.method, e.path, e.body, key())
	want := e.action + " done"
	if e.code == "" {
		answer.OK(t)
	} else {
		answer.Refused(t, e.code)
		want = e.action + " refused: " + e.code
	}
	actions, records := w.since(t, n)
	if diff := cmp.Diff([]string{want}, actions); diff != "" {
		t.Errorf("%s (-want +got):\n%s", answer, diff)
		return
	}
	r := records[0].Is(t, "subject", e.subject).Is(t, "before", e.before).Is(t, "after", e.after).Is(t, "requestId", answer.Header.Get("X-Request-Id"))
	if e.reason != "" {
		r.Is(t, "reason", e.reason)
	}
	if r.At("actor").Text() == "" {
		t.Error(r)
	}
}

func TestEachChangeOfAgentsAndTeamsHasExactlyOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.sync(t, agentItem("a", "note", "refund"), agentItem("b", "note", "refund"))
	w.tenantAdmin.Post("/agents/"+ids[1]+"/admit", doc{"reason": "r"}).OK(t)
	a, why := "/agents/"+ids[0], doc{"reason": "why"}
	for _, e := range []entry{
		{method: "POST", path: a + "/admit", action: "agents.admit", subject: "agent/" + ids[0], before: "revision 1, PENDING", after: "revision 1, ADMITTED"},
		{method: "POST", path: a + "/suspend", action: "agents.suspend", subject: "agent/" + ids[0], before: "revision 1, ADMITTED", after: "revision 2, suspended, PENDING"},
		{method: "POST", path: a + "/admit", action: "agents.admit", subject: "agent/" + ids[0], before: "revision 2, suspended, PENDING", after: "revision 2, ADMITTED"},
	} {
		e.by, e.body, e.reason = w.tenantAdmin, why, "why"
		w.leaves(t, e)
	}
	put := func(revision int) doc { return harness.With(teamOf(ids), "expectedRevision", revision) }
	w.leaves(t, entry{by: w.operator, method: "PUT", path: "/teams/t", body: put(0), action: "teams.write", subject: "team/t", after: "revision 1"})
	w.leaves(t, entry{by: w.operator, method: "PUT", path: "/teams/t", body: put(1), action: "teams.write", subject: "team/t", before: "revision 1", after: "revision 2"})
	w.leaves(t, entry{by: w.tenantAdmin, method: "POST", path: "/teams/t/suspend", body: why, action: "teams.suspend", subject: "team/t", before: "revision 2", after: "revision 3, suspended", reason: "why"})
	w.leaves(t, entry{by: w.tenantAdmin, method: "POST", path: "/teams/t/resume", body: why, action: "teams.resume", subject: "team/t", before: "revision 3, suspended", after: "revision 3", reason: "why"})
	// A sync has one record for each agent that it changes.
	n := w.recorded(t)
	w.sync(t, agentItem("a", "note", "refund"), at(2, agentItem("b", "note", "refund")), agentItem("c", "note", ""))
	actions, records := w.since(t, n)
	if diff := cmp.Diff([]string{"agents.sync done", "agents.sync done"}, actions); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	records[0].Is(t, "subject", "agent/"+ids[1]).Is(t, "before", "revision 1, ADMITTED").Is(t, "after", "revision 2, PENDING")
	records[1].Is(t, "before", "").Is(t, "after", "revision 1, PENDING")
}

func TestAStartOfAnAgentOrTeamIsRecordedOnceWithWhoCarriesItOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("a", "note", "refund"), agentItem("b", "note", "refund"))
	w.operator.Put("/teams/t", teamOf(ids, teamStep("s", ids[0], "note", doc{}))).OK(t)
	for path, of := range map[string]string{"/agents/" + ids[0]: "by agent " + ids[0], "/teams/t": "by team t"} {
		n := w.recorded(t)
		body := doc{"expectedRevision": 1, "mode": "DRY_RUN"}
		if path != "/teams/t" {
			body["capability"] = "note"
		}
		run := w.operator.Post(path+"/runs", body, key()).OK(t)
		w.reaches(t, run.At("id").Text(), "COMPLETED")
		actions, records := w.since(t, n)
		if actions[0] != "runs.start done" {
			t.Fatal(actions)
		}
		records[0].Is(t, "subject", "run/"+run.At("id").Text()).Is(t, "actor", run.At("requestedBy")).Is(t, "digest", run.At("planDigest")).Has(t, "reason", "DRY_RUN", of)
		for i, action := range actions[1:] {
			if action == "runs.start done" || action == "plans.create done" {
				t.Errorf("it is recorded twice: %v", records[i+1])
			}
		}
	}
}

func TestRefusedChangesOfAgentsAndTeamsAreRecordedWithTheirCode(t *testing.T) {
	t.Parallel()
	w, _, two := neighbours(t)
	ids := w.admitted(t, agentItem("a", "note", "refund"), agentItem("b", "note", "refund"))
	pending := w.sync(t, agentItem("p", "note", "refund"))[0]
	w.operator.Put("/teams/t", teamOf(ids[:2])).OK(t)
	w.operator.Put("/teams/idle", teamOf(ids[:2])).OK(t)
	w.tenantAdmin.Post("/teams/idle/suspend", doc{"reason": "r"}).OK(t)
	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	why, stale, none := doc{"reason": "r"}, doc{"reason": "r", "expectedRevision": 9}, manifest()
	of := func(revision int) doc { return doc{"expectedRevision": revision, "capability": "note"} }
	live := doc{"expectedRevision": 1, "mode": "LIVE"}
	sync, a, first := "/systems/"+shop+"/agents/sync", "/agents/"+ids[0], "agent/"+ids[0]
	for _, e := range []entry{
		{by: w.viewer, path: sync, body: none, action: "agents.sync", subject: "project/" + shop, code: "role_required"},
		{by: two, path: sync, body: none, action: "agents.sync", subject: "project/" + shop, code: "project_scope"},
		{by: w.operator, path: sync, body: manifest(at(0, agentItem("a", "note", ""))), action: "agents.sync", subject: "project/" + shop, code: "manifest_conflict"},
		{by: w.operator, path: a + "/admit", body: why, action: "agents.admit", subject: first, code: "role_required"},
		{by: two, path: a + "/admit", body: why, action: "agents.admit", subject: first, code: "project_scope"},
		{by: w.tenantAdmin, path: a + "/admit", body: stale, action: "agents.admit", subject: first, code: "revision_conflict"},
		{by: w.approver, path: a + "/suspend", body: why, action: "agents.suspend", subject: first, code: "role_required"},
		{by: w.tenantAdmin, path: a + "/suspend", body: stale, action: "agents.suspend", subject: first, code: "revision_conflict"},
		{by: w.viewer, path: a + "/runs", body: of(1), action: "agents.run", subject: first, code: "role_required"},
		{by: two, path: a + "/runs", body: of(1), action: "agents.run", subject: first, code: "project_scope"},
		{by: w.operator, path: a + "/runs", body: of(9), action: "agents.run", subject: first, code: "revision_conflict"},
		{by: w.operator, path: "/agents/" + pending + "/runs", body: of(1), action: "agents.run", subject: "agent/" + pending, code: "agent_not_admitted"},
		{by: w.viewer, method: "PUT", path: "/teams/t", body: teamOf(ids[:2]), action: "teams.write", subject: "team/t", code: "role_required"},
		{by: two, method: "PUT", path: "/teams/new", body: teamOf(ids[:2]), action: "teams.write", subject: "team/new", code: "project_scope"},
		{by: w.operator, method: "PUT", path: "/teams/t", body: teamOf(ids[:2]), action: "teams.write", subject: "team/t", code: "revision_conflict"},
		{by: w.operator, method: "PUT", path: "/teams/new", body: teamOf([]string{ids[0], pending}), action: "teams.write", subject: "team/new", code: "agent_not_admitted"},
		{by: w.operator, path: "/teams/t/suspend", body: why, action: "teams.suspend", subject: "team/t", code: "role_required"},
		{by: two, path: "/teams/t/resume", body: why, action: "teams.resume", subject: "team/t", code: "project_scope"},
		{by: dry, path: "/teams/t/runs", body: live, action: "teams.run", subject: "team/t", code: "role_required"},
		{by: two, path: "/teams/t/runs", body: live, action: "teams.run", subject: "team/t", code: "project_scope"},
		{by: w.operator, path: "/teams/idle/runs", body: live, action: "teams.run", subject: "team/idle", code: "drift"},
	} {
		if e.method == "" {
			e.method = "POST"
		}
		w.leaves(t, e)
	}
}
