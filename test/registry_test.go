package test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

func TestAgentsAreListedByIDFilteredAndInScope(t *testing.T) {
	t.Parallel()
	w, one, two := neighboursIn(t, ownWorld(t))
	mine := w.sync(t, agentItem("a", "note", "refund"), agentItem("b", "note", ""), agentItem("c", "note", ""))
	theirs := syncTo(w.operator, "default-two", agentItem("a", "note", "")).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+mine[1]+"/admit", doc{"reason": "r"}).OK(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	others, everyone := []string{mine[0], mine[2]}, append([]string{theirs}, mine...)
	for _, c := range []struct {
		who  *harness.Client
		path string
		want []string
	}{
		{w.viewer, "/agents", everyone}, {w.viewer, "/agents?projectId=" + shop, mine}, {w.viewer, "/agents?projectId=default-none", nil},
		{w.viewer, "/agents?status=ADMITTED", mine[1:2]}, {w.viewer, "/agents?status=PENDING&projectId=" + shop, others}, {w.viewer, "/agents?status=ADMITTED&projectId=default-two", nil},
		{one, "/agents", mine}, {two, "/agents", []string{theirs}}, {two, "/agents?projectId=" + shop, nil}, {two, "/agents?status=ADMITTED", nil}, {acme, "/agents", nil},
	} {
		page := c.who.Get(c.path).OK(t).Is(t, "total", len(c.want)).Is(t, "nextOffset", nil)
		c.want = slices.Sorted(slices.Values(c.want))
		if diff := cmp.Diff(c.want, ids(page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
	var paged []string
	for _, query := range []string{"limit=3", "limit=3&offset=3"} {
		paged = append(paged, ids(w.viewer.Get("/agents?"+query).OK(t).Is(t, "total", 4))...)
	}
	if diff := cmp.Diff(ids(w.viewer.Get("/agents").OK(t)), paged); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}
	w.viewer.Get("/agents?limit=3").OK(t).Is(t, "nextOffset", 3).Is(t, "items.0.instances", harness.Absent)
	for _, bad := range []string{
		"status=ONLINE", "status=pending", "status=", "status=PENDING&status=ADMITTED", "projectId=", "liveness=UNKNOWN", "modelId=refund", "limit=0", "limit=201", "offset=-1",
	} {
		w.viewer.Get("/agents?"+bad).Refused(t, "invalid_request")
	}
	for path, code := range map[string]string{theirs: "project_scope", "agent-none": "not_found"} {
		one.Get("/agents/"+path).Refused(t, code)
		one.Post("/agents/"+path+"/admit", doc{"reason": "r"}).Refused(t, code)
		one.Post("/agents/"+path+"/suspend", doc{"reason": "r"}).Refused(t, code)
	}
	acme.Get("/agents/"+theirs).Refused(t, "not_found")
	acme.Post("/agents/"+theirs+"/admit", doc{"reason": "r"}).Refused(t, "not_found")
}

func TestAnAgentIsReadWithItsInstancesNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	w.agent(t, id).Is(t, "instances", []any{}).Is(t, "instanceCount", 0)
	old, young := beat("old", 8, "BUSY"), beat("young", 3, "IDLE")
	for _, b := range []doc{young, old, beat("young", 4, "IDLE")} {
		w.operator.Post("/agents/"+id+"/heartbeat", b).OK(t)
	}
	latest := w.operator.Post("/agents/"+id+"/heartbeat", beat("young", 5, "ERROR")).OK(t)
	read := w.agent(t, id).Is(t, "instanceCount", 2).Is(t, "instances.2", harness.Absent).Is(t, "lastHeartbeatAt", latest.At("receivedAt"))
	read.Is(t, "instances.0.instanceId", "young").Is(t, "instances.0.sequence", 5).Is(t, "instances.0.state", "ERROR").Is(t, "instances.0.liveness", "ERROR").
		Is(t, "instances.0.receivedAt", latest.At("receivedAt"))
	read.Is(t, "instances.1.instanceId", "old").Is(t, "instances.1.timestamp", old["timestamp"]).Is(t, "instances.1.liveness", "BUSY")
	w.viewer.Get("/agents").OK(t).Is(t, "items.0", recordOf(read))
}

func TestSuspendingRaisesAnAgentsRevisionAndAdmittingDoesNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	n := w.recorded(t)
	move := func(verb string, body doc) *harness.Answer {
		return w.tenantAdmin.Post("/agents/"+id+"/"+verb, body)
	}
	for _, verb := range []string{"admit", "suspend"} {
		for _, blank := range []doc{{}, {"reason": nil}, {"reason": ""}, {"reason": " \n"}, {"reason": "r", "expectedRevision": -1}, {"reason": "r", "expectedRevision": "1"}, {"reason": "r", "x": 1}} {
			move(verb, blank).Refused(t, "invalid_request")
		}
	}
	if now := w.recorded(t); now != n {
		t.Errorf("%d records were made", now-n)
	}
	for _, c := range []struct {
		verb      string
		expected  any // nil: none
		revision  int
		status    string
		suspended bool
		changes   bool
	}{
		{"admit", nil, 1, "ADMITTED", false, true}, {"admit", 1, 1, "ADMITTED", false, false},
		{"suspend", 1, 2, "PENDING", true, true}, {"suspend", nil, 2, "PENDING", true, false}, {"suspend", 2, 2, "PENDING", true, false},
		{"admit", 2, 2, "ADMITTED", false, true}, {"suspend", nil, 3, "PENDING", true, true}, {"admit", nil, 3, "ADMITTED", false, true},
	} {
		before, body := w.agent(t, id), doc{"reason": "because " + c.verb}
		if c.expected != nil {
			body["expectedRevision"] = c.expected
		}
		n := w.recorded(t)
		after := move(c.verb, body).OK(t).Is(t, "revision", c.revision).Is(t, "status", c.status).Is(t, "suspended", c.suspended)
		w.agent(t, id).Is(t, "revision", c.revision).Is(t, "status", c.status).Is(t, "updatedAt", after.At("updatedAt"))
		if _, records := w.since(t, n); c.changes != (len(records) == 1) || len(records) > 1 {
			t.Errorf("%s: %v", c.verb, records)
		}
		if !c.changes {
			unchanged(t, w.agent(t, id), before)
		}
	}
	for _, stale := range []int{0, 2, 4} {
		move("suspend", doc{"reason": "r", "expectedRevision": stale}).Refused(t, "revision_conflict", "3")
		move("admit", doc{"reason": "r", "expectedRevision": stale}).Refused(t, "revision_conflict", "3")
	}
	w.agent(t, id).Is(t, "revision", 3).Is(t, "status", "ADMITTED")
}

func TestSuspendingAnAgentThatWasNeverAdmittedCountsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	w.tenantAdmin.Aliased().Post("/agents/"+id+"/suspend", doc{"reason": "r"}).OK(t).Is(t, "revision", 2).Is(t, "suspended", true).Is(t, "status", "PENDING")
	got := together(16, func(i int) string {
		verb := []string{"admit", "suspend"}[i%2]
		return result(w.tenantAdmin.Post("/agents/"+id+"/"+verb, doc{"reason": "r", "expectedRevision": 2}))
	})
	if got["done"]+got["revision_conflict"] != 16 {
		t.Errorf("the answers were %v", got)
	}
}
