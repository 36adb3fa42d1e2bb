package test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var because = doc{"reason": "why"}

// showsIt checks whether the id is in the list.
func showsIt(t *testing.T, c *harness.Client, path, id string, want bool) {
	t.Helper()
	page := c.Get(path).OK(t)
	got := ids(page)
	page.Is(t, "total", len(got))
	if slices.Contains(got, id) != want {
		t.Errorf("GET %s lists %s; %s among them is %v, expected %v", path, got, id, !want, want)
	}
}

// retired checks what is common to all retired records: they are hidden in lists, listed on demand, readable, and can be restored.
func retired(t *testing.T, w *world, kind, id string, refused func()) {
	t.Helper()
	list, path := "/"+kind+"s", "/"+kind+"s/"+id
	w.tenantAdmin.Get(path).OK(t).Is(t, "retired", harness.Absent)
	before := w.tenantAdmin.Get(path).OK(t).At("revision").Int()
	w.tenantAdmin.Post(path+"/retire", doc{"reason": " "}).Refused(t, "invalid_request")
	raised := before + 1
	if kind == "project" {
		raised = before
	}
	for range 2 { // the second time nothing changes
		w.tenantAdmin.Post(path+"/retire", because).OK(t).Is(t, "retired", true).Is(t, "revision", raised)
	}
	w.viewer.Get(path).OK(t).Is(t, "retired", true).Is(t, "revision", raised)
	showsIt(t, w.viewer, list, id, false)
	showsIt(t, w.viewer, list+"?retired=false", id, false)
	showsIt(t, w.viewer, list+"?retired=true", id, true)
	refused()
	w.tenantAdmin.Post(path+"/restore", because).OK(t).Is(t, "retired", harness.Absent).Is(t, "revision", raised)
	showsIt(t, w.viewer, list, id, true)
}

// refusedAsRetired checks that a refusal names the retired record and how to restore it.
func refusedAsRetired(t *testing.T, a *harness.Answer, kind, id string) {
	t.Helper()
	a.Refused(t, "state_conflict", kind+" "+id+" is retired", "POST /"+kind+"s/"+id+"/restore")
}

func TestNothingNewIsMadeOfARetiredModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	retired(t, w, "model", "refund", func() {
		refusedAsRetired(t, w.operator.Post("/plans", planOf(step("n", "note", nil))), "model", "refund")
		refusedAsRetired(t, w.operator.Post("/models/refund/compile-plan", doc{"scenarioId": "small", "actionBindings": doc{}}), "model", "refund")
		refusedAsRetired(t, w.operator.Post("/runs", doc{"planId": plan}, key()), "model", "refund")
		refusedAsRetired(t, w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": 2}), "model", "refund")
		w.viewer.Get("/plans/"+plan+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.0.retired", true).Has(t, "changes.0.message", "is retired")
	})
	w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "drift")
	w.viewer.Get("/plans/"+w.ready(t, harness.With(planOf(step("n", "note", nil)), "modelRevision", 2))).OK(t).Is(t, "modelSnapshot.retired", harness.Absent)
}

// TestARunOfARetiredModelTakesNoFurtherStep: a run that waits for an approval fails by drift, as after a suspension.
func TestARunOfARetiredModelTakesNoFurtherStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.reaches(t, w.run(t, step("r", "refund", doc{"orderId": "o"})), "WAITING_APPROVAL")
	w.tenantAdmin.Post("/models/refund/retire", because).OK(t)
	w.approver.Post("/approvals/"+run.At("approvalId").Text()+"/decision", doc{"decision": "APPROVED", "reason": "r"})
	w.reaches(t, run.At("id").Text(), "FAILED").Has(t, "error", "drift: ", "retired")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d refunds were sent", n)
	}
}

func TestAProjectIsRetiredOnceNoUnfinishedRunUsesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	dry := w.ready(t, harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN"))
	run := w.reaches(t, w.run(t, step("r", "refund", doc{"orderId": "o"})), "WAITING_APPROVAL").At("id").Text()
	w.tenantAdmin.Post("/projects/"+shop+"/retire", because).Refused(t, "project_in_use", run)
	w.operator.Post("/runs/"+run+"/cancel", because).OK(t)
	retired(t, w, "project", shop, func() {
		w.viewer.Get("/projects/"+shop).OK(t).Is(t, "enabled", false)
		for _, p := range []string{plan, dry} {
			refusedAsRetired(t, w.operator.Post("/runs", doc{"planId": p}, key()), "project", shop)
		}
		refusedAsRetired(t, w.operator.Post("/plans", planOf(step("n", "note", nil))), "project", shop)
		refusedAsRetired(t, w.tenantAdmin.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 1}), "project", shop)
		refusedAsRetired(t, w.tenantAdmin.Put("/projects/"+shop, harness.With(harness.Project(w.shop.Origin()), "expectedRevision", 1)), "project", shop)
		refusedAsRetired(t, w.operator.Post("/systems/"+shop+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{}}), "project", shop)
	})
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "enabled", false)
	w.tenantAdmin.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 1}).OK(t)
	w.reaches(t, w.start(t, plan), "COMPLETED") // the plan hasn't drifted, since the project's revision is the same
}

func TestARetiredAgentNeitherRunsNorChangesNorJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	manifest := func(revision int, items ...string) doc {
		var list []any
		for _, name := range items {
			list = append(list, harness.With(agentItem(name, "note", "refund"), "sourceRevision", revision))
		}
		return doc{"schemaVersion": "1.0", "agents": list}
	}
	sync := func(m doc) *harness.Answer { return w.operator.Post("/systems/"+shop+"/agents/sync", m) }
	synced := sync(manifest(1, "one", "two")).OK(t)
	one, two := synced.At("items.0.id").Text(), synced.At("items.1.id").Text()
	for _, id := range []string{one, two} {
		w.tenantAdmin.Post("/agents/"+id+"/admit", because).OK(t)
	}
	team := doc{"name": "n", "members": []any{doc{"agentId": one, "role": "r"}, doc{"agentId": two, "role": "r"}}, "steps": []any{doc{"id": "s", "name": "s", "agentId": one, "capability": "note"}}}
	w.operator.Put("/teams/t", team).OK(t)
	startTeam := func(revision int) *harness.Answer {
		return w.operator.Post("/teams/t/runs", doc{"expectedRevision": revision, "mode": "DRY_RUN"}, key())
	}
	startAgent := func(revision int) *harness.Answer {
		return w.operator.Post("/agents/"+one+"/runs", doc{"expectedRevision": revision, "capability": "note"}, key())
	}
	retired(t, w, "agent", one, func() {
		refusedAsRetired(t, startAgent(2), "agent", one)
		refusedAsRetired(t, startTeam(1), "agent", one)
		refusedAsRetired(t, w.operator.Put("/teams/u", team), "agent", one)
		refusedAsRetired(t, w.tenantAdmin.Post("/agents/"+one+"/admit", because), "agent", one)
		refusedAsRetired(t, sync(manifest(2, "one", "two")), "agent", one)
		w.viewer.Get("/agents/"+two).OK(t).Is(t, "sourceRevision", 1)
		sync(manifest(1, "one", "two")).OK(t).Is(t, "items.0.retired", true) // the manifest is unchanged
		showsIt(t, w.viewer, "/agents?status=ADMITTED", one, false)
		showsIt(t, w.viewer, "/agents?status=ADMITTED&retired=true&projectId="+shop, one, true)
		w.operator.Post("/agents/"+one+"/heartbeat", beat("i", 1, "IDLE")).OK(t)
	})
	startAgent(2).OK(t)
	startTeam(1).OK(t)

	retired(t, w, "team", "t", func() {
		refusedAsRetired(t, startTeam(2), "team", "t")
		refusedAsRetired(t, w.operator.Put("/teams/t", harness.With(team, "expectedRevision", 2)), "team", "t")
	})
	startTeam(2).OK(t)

	w.tenantAdmin.Post("/models/refund/retire", because).OK(t)
	refusedAsRetired(t, startAgent(2), "model", "refund")
	refusedAsRetired(t, startTeam(2), "model", "refund")
	refusedAsRetired(t, sync(manifest(1, "three")), "model", "refund")
	w.tenantAdmin.Post("/models/refund/restore", because).OK(t)
	w.tenantAdmin.Post("/projects/"+shop+"/retire", because)
	harness.Until(t, "the project without unfinished runs", func() bool {
		return w.tenantAdmin.Post("/projects/"+shop+"/retire", because).Status == 200
	})
	refusedAsRetired(t, startAgent(2), "project", shop)
	refusedAsRetired(t, startTeam(2), "project", shop)
}

// TestRetiringIsAudited, once for each change and with the reason.
func TestRetiringIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, states := range map[string][2]string{
		"/models/refund": {"revision 2, retired", "revision 2"}, "/projects/" + shop: {"retired", "disabled"},
	} {
		for i, name := range []string{"retire", "restore"} {
			n := w.recorded(t)
			w.tenantAdmin.Post(path+"/"+name, because).OK(t)
			w.tenantAdmin.Post(path+"/"+name, because).OK(t)
			actions, records := w.since(t, n)
			if len(actions) != 1 || !strings.HasSuffix(actions[0], "."+name+" done") {
				t.Fatalf("%s %s: %v", path, name, actions)
			}
			if after := records[0].At("after").Text(); after != states[i] || records[0].At("reason").Text() != "why" {
				t.Errorf("%s %s: after %q", path, name, after)
			}
		}
	}
}

func TestConsoleRetiresRestoresAndShowsWhatIsRetired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	for kind, id := range map[string]string{"model": "refund", "project": shop} {
		list, path := "/"+kind+"s", "/"+kind+"s/"+id
		page := ada.Open(path)
		says(t, page, 200, "Retire…")
		gone := ada.Submit(path+"/retire", sheetFields(page, "reason", "old"))
		leads(t, gone, path)
		says(t, gone, 200, "is retired: it can’t be used for new plans or runs", "Restore…")
		if strings.Contains(ada.Open(list).Text, path) {
			t.Errorf("%s shows what is retired", list)
		}
		says(t, ada.Open(list), 200, "Show retired")
		says(t, ada.Open(list+"?retired=true"), 200, path, "Retired", "Hide retired")
		back := ada.Submit(path+"/restore", sheetFields(gone, "reason", "needed"))
		says(t, back, 200, "Retire…")
		says(t, ada.Open(list), 200, path)
	}
	says(t, ada.Open("/audit?"+url.Values{"action": {"models.retire"}}.Encode()), 200, `/v1/audit/export?action=models.retire`)
}

func TestCommandsRetireAndRestore(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	admin := func(args ...string) string {
		r := s.command(t, 0, append(args, "--profile", "admin")...)
		return r.Out + r.Err
	}
	s.command(t, 0, "models", "put", s.file(t, "old.json", harness.Model("old")))
	prints(t, admin("models", "retire", "old", "--reason", "r"), "retired old")
	if out := admin("models", "list"); strings.Contains(out, "old") {
		t.Error(out)
	}
	prints(t, admin("models", "list", "--retired"), "RETIRED", "old")
	prints(t, admin("models", "show", "old"), "retired", "yes")
	prints(t, admin("models", "restore", "old", "--reason", "r"), "restored old")
	prints(t, admin("models", "list"), "old")
}
