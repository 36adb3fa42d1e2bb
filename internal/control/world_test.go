package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// TestRegistryIsWhatTheBookSays: whatever two tenants' people do, each answer is
// the one that the reference model predicts, and afterwards everything that can be read is
// what it says.
func TestRegistryIsWhatTheBookSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func() {
			w := newWorld(rt)
			rt.Repeat(map[string]func(*rapid.T){ // those whose names come first are drawn more often
				"":                w.check,
				"a team run":      w.startTeam,
				"a sync":          w.sync,
				"admission":       w.admit,
				"agent run":       w.startAgent,
				"heartbeat":       w.heartbeat,
				"model change":    w.model,
				"project change":  w.project,
				"put team":        w.putTeam,
				"suspension":      w.suspend,
				"team suspension": w.toggleTeam,
				"time that passes": func(t *rapid.T) {
					later(time.Duration(rapid.SampledFrom([]int{1, 60, 119, 120, 121}).Draw(t, "seconds")) * time.Second)
				},
			})
			w.service.Close()
		})
	})
}

// world is a fixture and what must be true of each tenant.
type world struct {
	*fixture
	books map[string]*referenceModel
	logs  map[string]int    // how many records the fixture's own making left
	seen  map[string]string // each tenant's rows after the latest action
	acted string            // the tenant of the latest action

	revisions map[string]int64 // the highest of each agent and team
	at        time.Time        // when the latest action began
	keys      int              // how many idempotency keys were drawn
	orders    []startRequest   // starts that may be asked for again
}

func newWorld(t *rapid.T) *world {
	w := &world{fixture: open(t), books: map[string]*referenceModel{}, logs: map[string]int{}, seen: map[string]string{}, revisions: map[string]int64{}}
	w.store.twice = rapid.Bool().Draw(t, "twice")
	for _, tenant := range tenants {
		w.books[tenant], w.logs[tenant] = newReferenceModel(tenant), 0
		w.enroll(tenant)
	}
	return w
}

// enroll lets each tenant begin with three admitted agents, two of them a team.
func (w *world) enroll(tenant string) {
	a, b := as(tenant), w.books[tenant]
	w.at = time.Now()
	var members []string
	for _, project := range []string{tenant + "-one", tenant + "-two"} {
		m := manifest(item("a"), item("b", modelled("")))
		if project == tenant+"-two" {
			m = manifest(item("c", modelled("m3")))
		}
		_, err := w.service.SyncAgents(background, a, project, m)
		w.must(err)
		_, next := b.sync(a, project, m, w.at)
		for _, n := range next {
			_, err := w.service.AdmitAgent(background, a, n.ID, countersign.Admission{Reason: "known"})
			w.must(err)
			n.Status, b.agents[n.ID] = countersign.AgentAdmitted, n
			if n.ModelID != "" {
				members = append(members, n.ID)
			}
		}
	}
	write := teamOf(members, pings("s0", members[0]), pings("s1", members[1]))
	_, err := w.service.PutTeam(background, a, "t1", write)
	w.must(err)
	b.teams["t1"] = &countersign.Team{ID: "t1", Revision: 1, Name: write.Name, Members: write.Members, Steps: write.Steps, CreatedAt: w.at, UpdatedAt: w.at}
	w.logs[tenant] = len(w.log(tenant, 0))
}

// somebody draws who acts: mostly one who may do everything.
func (w *world) somebody(t *rapid.T) control.Actor {
	tenant := rapid.SampledFrom([]string{"acme", "acme", "acme", "beta"}).Draw(t, "tenant")
	a := as(tenant)
	who := rapid.SampledFrom([]string{"ada", "ada", "ada", "ada", "ada", "ada", "admin", "operator", "viewer", "limited", "rehearser"}).Draw(t, "who")
	a.ID = "user:" + who + "@" + tenant
	switch who {
	case "admin":
		a.Roles = []countersign.Role{countersign.RoleAdmin}
	case "operator":
		a.Roles = []countersign.Role{countersign.RoleOperator}
	case "viewer":
		a.Roles = []countersign.Role{countersign.RoleViewer, countersign.RoleApprover}
	case "limited":
		a.Projects = []string{tenant + "-one"}
	case "rehearser":
		a.Modes = []string{countersign.ModeDryRun}
	}
	w.at, w.acted = time.Now(), tenant
	return a
}

// one draws an id: mostly one of these, at times another tenant's or nobody's.
func (w *world) one(t *rapid.T, own []string, others func(*referenceModel) []string, a control.Actor) string {
	stray := append([]string{"nobody"}, others(w.books[map[string]string{"acme": "beta", "beta": "acme"}[a.Tenant]])...)
	if len(own) == 0 || rapid.IntRange(0, 14).Draw(t, "stray") == 14 {
		return rapid.SampledFrom(stray).Draw(t, "id")
	}
	return rapid.SampledFrom(own).Draw(t, "id")
}

func agentsOf(b *referenceModel) []string   { return keys(b.agents) }
func teamsOf(b *referenceModel) []string    { return keys(b.teams) }
func projectsOf(b *referenceModel) []string { return keys(b.disabled) }

// authorized asks as the API does: whether the actor has the role, before anything
// of the request is looked at.
func (w *world) authorized(a control.Actor, op access.Operation, subject string, ask func() error) error {
	if err := w.service.Authorize(background, a, op, subject); err != nil {
		return err
	}
	return ask()
}

// answered compares an answer with what the reference model predicted, and after a refusal
// makes sure that nothing was changed. It reports whether something was done.
func (w *world) answered(t *rapid.T, a control.Actor, op access.Operation, subject string, want countersign.Code, err error) bool {
	t.Helper()
	if got := countersign.ErrorCode(err); got != want {
		t.Fatalf("%s of %s by %s: %q (%v), want %q", op, subject, a.ID, got, err, want)
	}
	if want == "" {
		return true
	}
	if diff := cmp.Diff(w.seen[a.Tenant], w.everything(a.Tenant)); diff != "" {
		t.Fatalf("%s of %s was refused and changed something: %s", op, subject, diff)
	}
	if op != access.SendHeartbeat {
		w.books[a.Tenant].refused(a, op, subject, want)
	}
	return false
}

// check compares everything that can be read with the books, where anything is
// other than before; in the other tenant than the latest action's nothing may be.
func (w *world) check(t *rapid.T) {
	for _, tenant := range tenants {
		b := w.books[tenant]
		now := w.everything(tenant)
		if tenant != w.acted && w.acted != "" && now != w.seen[tenant] {
			t.Fatalf("%s was changed by another tenant: %s", tenant, cmp.Diff(w.seen[tenant], now))
		}
		if now != w.seen[tenant] || len(b.beats) > 0 { // liveness changes by itself
			w.checkAgents(t, tenant, b)
		}
		if now != w.seen[tenant] {
			w.checkTeams(t, tenant, b)
			w.checkRuns(t, tenant, b)
		}
		w.seen[tenant] = now
		records, counted, all := w.logged(tenant)
		if diff := cmp.Diff(b.ended(), counted); diff != "" {
			t.Fatalf("refusals counted in %s: %s", tenant, diff)
		}
		if diff := cmp.Diff(b.log, records); diff != "" {
			t.Fatalf("audit log of %s: %s", tenant, diff)
		}
		w.logs[tenant] += all
		b.log = nil
	}
}

// same compares two things as they are shown.
func same(t *rapid.T, what string, want, got any) {
	t.Helper()
	x, err := countersign.Marshal(want)
	y, otherErr := countersign.Marshal(got)
	if err != nil || otherErr != nil || string(x) != string(y) {
		t.Fatalf("%s: %v %v\n%s", what, err, otherErr, cmp.Diff(string(x), string(y)))
	}
}

// checkAgents: the listing is what the reference model says, no model is of two systems, and
// whoever is limited to a project sees its agents only.
func (w *world) checkAgents(t *rapid.T, tenant string, b *referenceModel) {
	want, one := []countersign.Agent{}, 0
	for _, id := range keys(b.agents) {
		a := *b.agents[id]
		a.Liveness, a.LastHeartbeatAt = b.liveness(id, time.Now())
		want = append(want, a)
		if a.ProjectID == tenant+"-one" {
			one++
		}
		if a.ModelID != "" && b.hasOther(a.ModelID, a.ProjectID) {
			t.Fatalf("model %s has agents of two systems", a.ModelID)
		}
	}
	page, err := w.service.Agents(background, as(tenant), control.List{Limit: 200}, control.AgentFilter{})
	if err != nil || page.Total != len(want) {
		t.Fatalf("%d agents of %s, %v, want %d", page.Total, tenant, err, len(want))
	}
	same(t, "agents of "+tenant, want, page.Items)
	limited := as(tenant)
	limited.Projects = []string{tenant + "-one"}
	page, err = w.service.Agents(background, limited, control.List{Limit: 200}, control.AgentFilter{})
	if err != nil || page.Total != one || len(page.Items) != one {
		t.Fatalf("%d agents of %s-one, %v, want %d", page.Total, tenant, err, one)
	}
	for _, a := range want {
		w.rises(t, "agent/"+a.ID, a.Revision)
		if beats := b.beats[a.ID]; beats != nil {
			w.checkInstances(t, tenant, a, beats)
		}
	}
}

func (w *world) rises(t *rapid.T, what string, revision int64) {
	if revision < w.revisions[what] {
		t.Fatalf("the revision of %s fell from %d to %d", what, w.revisions[what], revision)
	}
	w.revisions[what] = revision
}

func (w *world) checkInstances(t *rapid.T, tenant string, a countersign.Agent, beats map[string]heard) {
	got, err := w.service.Agent(background, as(tenant), a.ID)
	newestFirst := slices.IsSortedFunc(got.Instances, func(x, y countersign.Instance) int { return y.ReceivedAt.Compare(x.ReceivedAt) })
	if err != nil || got.InstanceCount != len(beats) || len(got.Instances) != len(beats) || !newestFirst {
		t.Fatalf("%s: %d instances, %v, newest first %v", a.ID, got.InstanceCount, err, newestFirst)
	}
	same(t, a.ID, a, got.AgentRecord)
	for _, i := range got.Instances {
		last := beats[i.InstanceID]
		is := countersign.Heartbeat{InstanceID: i.InstanceID, Sequence: i.Sequence, State: i.State, Timestamp: i.Timestamp}
		if is != last.Heartbeat || !i.ReceivedAt.Equal(last.at) {
			t.Fatalf("%s: %+v, want %+v", a.ID, i, last)
		}
	}
}

func (w *world) checkTeams(t *rapid.T, tenant string, b *referenceModel) {
	want, inOne := []countersign.Team{}, 0
	limited := as(tenant)
	limited.Projects = []string{tenant + "-one"}
	for _, id := range keys(b.teams) {
		want = append(want, *b.teams[id])
		w.rises(t, "team/"+tenant+id, b.teams[id].Revision)
		if !outside(limited, b.systems(b.teams[id].Members)...) {
			inOne++
		}
	}
	page, err := w.service.Teams(background, as(tenant), control.List{Limit: 200})
	if err != nil || page.Total != len(want) {
		t.Fatalf("%d teams of %s, %v, want %d", page.Total, tenant, err, len(want))
	}
	same(t, "teams of "+tenant, want, page.Items)
	page, err = w.service.Teams(background, limited, control.List{Limit: 200})
	if err != nil || page.Total != inOne {
		t.Fatalf("%d teams of %s-one, %v, want %d", page.Total, tenant, err, inOne)
	}
}

// checkRuns: one run for each key, and each plan drifts when anything that it was
// made from has changed.
func (w *world) checkRuns(t *rapid.T, tenant string, b *referenceModel) {
	page, err := w.service.Runs(background, as(tenant), control.List{Limit: 200}, control.RunFilter{})
	if err != nil || page.Total != len(b.runs) {
		t.Fatalf("%d runs of %s, %v, want %d", page.Total, tenant, err, len(b.runs))
	}
	for key, r := range b.runs {
		d, err := w.service.Drift(background, as(tenant), r.planID)
		if err != nil || d.Current != b.current(r) {
			t.Fatalf("the plan of %s, made from %v, is current %v, %v: %+v", key, r.seen, d.Current, err, d.Changes)
		}
	}
}
