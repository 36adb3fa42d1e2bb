package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/quota"
)

// TestManifestIsAppliedAsAWholeOrNotAtAll, and all of its conflicts are named.
func TestManifestIsAppliedAsAWholeOrNotAtAll(t *testing.T) {
	h := open(t)
	h.sync(item("a", at(2)), item("b", at(2)))
	before, records := h.everything(tenants...), len(h.log("acme", 0))
	renamed := func(a *countersign.ManifestAgent) { a.Name = "Other" }
	_, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(item("new"), item("a", at(2), renamed), item("newer", at(3)), item("b", at(1))))
	wantCode(t, err, countersign.CodeManifestConflict)
	for _, name := range []string{"agent a ", "agent b "} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, h.everything(tenants...)); diff != "" {
		t.Errorf("it was applied: %s", diff)
	}
	log := h.log("acme", records)
	if len(log) != 1 || log[0].Action != "agents.sync" || log[0].Subject != "project/acme-one" || log[0].Outcome != "refused: manifest_conflict" {
		t.Errorf("%+v", log)
	}
}

// A back end sends its manifest at each of its starts.
func TestManifestThatSaysNothingNewWritesNothing(t *testing.T) {
	h := open(t)
	h.admitted(item("a"), item("b"))
	before, commits, records := h.everything(tenants...), h.store.updates.Load(), len(h.log("acme", 0))
	h.sync(item("b"), item("a"))
	if h.everything(tenants...) != before || h.store.updates.Load() != commits || len(h.log("acme", 0)) != records {
		t.Errorf("%d commits, %d records", h.store.updates.Load()-commits, len(h.log("acme", 0))-records)
	}
}

func TestAgentsThatAManifestLeavesOutStayAsTheyAre(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("a"), item("b"))
	h.sync(item("b", at(2)))
	a, err := h.service.Agent(background, as("acme"), ids[0])
	h.must(err)
	if a.Status != countersign.AgentAdmitted || a.Revision != 1 {
		t.Errorf("%+v", a)
	}
}

func TestSyncAnswersInTheOrderOfTheManifest(t *testing.T) {
	h := open(t)
	for _, order := range [][]string{{"c", "a", "b"}, {"b", "c", "a"}} {
		var items []countersign.ManifestAgent
		var want []string
		for _, external := range order {
			items, want = append(items, item(external)), append(want, clerk(external))
		}
		if diff := cmp.Diff(want, h.sync(items...)); diff != "" {
			t.Error(diff)
		}
	}
}

// Each changed agent has its record, with what it was and what it became.
func TestEachChangedAgentIsAudited(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("a"), item("b"), item("c"))
	from := len(h.log("acme", 0))
	h.sync(item("a", at(2)), item("b"), item("d"))
	_, err := h.service.SuspendAgent(background, as("acme"), ids[2], countersign.Admission{Reason: "on leave"})
	h.must(err)
	var got []string
	for _, r := range h.log("acme", from) {
		got = append(got, strings.Join([]string{r.Action, r.Subject, r.Before, r.After, r.Reason}, " | "))
	}
	want := []string{
		"agents.sync | agent/" + ids[0] + " | revision 1, ADMITTED | revision 2, PENDING | manifest of a",
		"agents.sync | agent/" + clerk("d") + " |  | revision 1, PENDING | manifest of d",
		"agents.suspend | agent/" + ids[2] + " | revision 1, ADMITTED | revision 2, suspended, PENDING | on leave",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestModelHasAgentsOfOneSystemOnly: it is free again when the last of them has
// another one.
func TestModelHasAgentsOfOneSystemOnly(t *testing.T) {
	h := open(t)
	h.sync(item("a"), item("b"))
	other := func() error {
		_, err := h.service.SyncAgents(background, as("acme"), "acme-two", manifest(item("x")))
		return err
	}
	wantCode(t, other(), countersign.CodeInvalidRequest)
	h.sync(item("a", at(2), modelled("")))
	wantCode(t, other(), countersign.CodeInvalidRequest)
	h.sync(item("b", at(2), modelled("m2")))
	wantCode(t, other(), "")
	_, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(item("a", at(3))))
	wantCode(t, err, countersign.CodeInvalidRequest)
}

func TestModelOfAnotherTenantIsAbsent(t *testing.T) {
	h := open(t)
	h.must(h.putModel(as("beta"), "theirs", 0))
	_, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(item("a", modelled("theirs"))))
	wantCode(t, err, countersign.CodeInvalidRequest)
}

// The same name in two tenants, or in two systems of one, is two agents.
func TestAgentBelongsToItsSystem(t *testing.T) {
	h := open(t)
	seen := map[string]bool{}
	for _, project := range []string{"acme-one", "acme-two", "beta-one"} {
		out, err := h.service.SyncAgents(background, as(project[:4]), project, manifest(item("a", modelled(""))))
		h.must(err)
		seen[out[0].ID] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d agents", len(seen))
	}
}

func TestAgentsAreFilteredBySystemAndStatus(t *testing.T) {
	h := open(t)
	h.admitted(item("a"))
	h.sync(item("b"))
	_, err := h.service.SyncAgents(background, as("acme"), "acme-two", manifest(item("c", modelled("m2"))))
	h.must(err)
	for want, f := range map[string]control.AgentFilter{
		"a b c": {}, "a b": {ProjectID: "acme-one"}, "a": {Status: "ADMITTED"}, "b c": {Status: "PENDING"}, "b": {ProjectID: "acme-one", Status: "PENDING"}, "": {ProjectID: "beta-one"},
	} {
		page, err := h.service.Agents(background, as("acme"), control.List{Limit: 100}, f)
		h.must(err)
		var got []string
		for _, a := range page.Items {
			got = append(got, a.ExternalAgentID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want || page.Total != len(got) {
			t.Errorf("%+v: %v of %d, want %s", f, got, page.Total, want)
		}
	}
}

// TestAgentsAreWithinTheActorsProjects: the others are neither listed nor counted
// nor reached.
func TestAgentsAreWithinTheActorsProjects(t *testing.T) {
	h := open(t)
	id := h.sync(item("a"), item("b"))[0]
	limited := as("acme")
	limited.Projects = []string{"acme-two"}
	page, err := h.service.Agents(background, limited, control.List{Limit: 100}, control.AgentFilter{})
	if err != nil || page.Total != 0 || len(page.Items) != 0 {
		t.Errorf("%d agents, %v", page.Total, err)
	}
	_, err = h.service.Agent(background, limited, id)
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.AdmitAgent(background, limited, id, countersign.Admission{Reason: "r"})
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.SyncAgents(background, limited, "acme-one", manifest(item("c")))
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.Agent(background, as("beta"), id)
	wantCode(t, err, countersign.CodeNotFound)
	_, err = h.service.SyncAgents(background, as("beta"), "acme-one", manifest(item("c")))
	wantCode(t, err, countersign.CodeNotFound)
}

// An admission without a revision takes any.
func TestAdmissionComparesTheRevisionOnlyWhenItIsGiven(t *testing.T) {
	h := open(t)
	id := h.sync(item("a"))[0]
	h.sync(item("a", at(2)))
	for _, expected := range []int64{0, 1, 3} {
		_, err := h.service.AdmitAgent(background, as("acme"), id, countersign.Admission{Reason: "r", ExpectedRevision: &expected})
		wantCode(t, err, countersign.CodeRevisionConflict)
	}
	two := int64(2)
	_, err := h.service.AdmitAgent(background, as("acme"), id, countersign.Admission{Reason: "r", ExpectedRevision: &two})
	wantCode(t, err, "")
	_, err = h.service.SuspendAgent(background, as("acme"), id, countersign.Admission{Reason: " "})
	wantCode(t, err, countersign.CodeInvalidRequest)
	_, err = h.service.SuspendAgent(background, as("acme"), id, countersign.Admission{Reason: "r"})
	wantCode(t, err, "")
}

// The newest instances are shown and all are counted.
func TestInstancesOfAnAgentAreCountedBeyondThoseShown(t *testing.T) {
	inBubble(t, func() {
		h := openBounded(t, 1, quota.Bounds{Instances: 1001})
		id := h.sync(item("a"))[0]
		var list []countersign.Heartbeat
		for i := range 1001 {
			list = append(list, newHeartbeat(fmt.Sprintf("i-%d", i), 1))
			list[i].State = []countersign.InstanceState{"IDLE", "BUSY", "ERROR"}[i%3]
		}
		h.beats(id, list[:1000]...)
		later(longest)
		h.beats(id, list[1000])
		a, err := h.service.Agent(background, as("acme"), id)
		h.must(err)
		if a.InstanceCount != 1001 || len(a.Instances) != 1000 || a.Instances[0].InstanceID != list[1000].InstanceID {
			t.Errorf("%d instances, %d shown, %s first", a.InstanceCount, len(a.Instances), a.Instances[0].InstanceID)
		}
		h.service.Close()
	})
}
