package control_test

import (
	"context"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// sync syncs a manifest, right or wrong, new or said before.
func (w *world) sync(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	projectID := w.one(t, projectsOf(b), projectsOf, a)
	m := drawManifest(t, b, projectID)
	want, next := b.sync(a, projectID, m, w.at)
	got, err := w.service.SyncAgents(background, a, projectID, m)
	if !w.answered(t, a, access.SyncAgents, "project/"+projectID, want, err) {
		return
	}
	for i, n := range next {
		if was := b.agents[n.ID]; was == nil || was.Revision != n.Revision {
			b.done(a, access.SyncAgents, "agent/"+n.ID)
			b.agents[n.ID] = n
		}
		if i >= len(got) || got[i].ID != n.ID || got[i].Revision != n.Revision || got[i].Status != n.Status {
			t.Fatalf("item %d of the answer isn't %+v: %+v", i, n, got)
		}
	}
}

// drawManifest draws up to three agents. Mostly each says again what it said, or
// something new at a higher revision.
func drawManifest(t *rapid.T, b *referenceModel, projectID string) countersign.Manifest {
	m := manifest()
	slip := func(what string) bool { return rapid.IntRange(0, 19).Draw(t, what) == 19 }
	for _, external := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, "agents") {
		i := drawItem(t, external, projectID)
		for _, was := range b.agents {
			if was.ProjectID == projectID && was.ExternalAgentID == external {
				i.SourceRevision = was.SourceRevision + rapid.SampledFrom([]int64{1, 1, 1, 0, -1}).Draw(t, "revision")
				if rapid.Bool().Draw(t, "again") {
					i = saidBefore(t, *was)
				}
			}
		}
		if slip("model") {
			i.ModelID = rapid.SampledFrom([]string{"none", "m1", "m3"}).Draw(t, "any model")
		}
		if slip("capability") {
			i.Capabilities = append(slices.Clone(i.Capabilities), "fly")
		}
		if slip("field") {
			i.ExecutorInputs = map[string]map[string]countersign.Value{"ping": values("undeclared", "1")}
		}
		m.Agents = append(m.Agents, i)
	}
	if slip("twice") {
		m.Agents = append(m.Agents, m.Agents[0])
	}
	return m
}

func drawItem(t *rapid.T, external, projectID string) countersign.ManifestAgent {
	i := item(external)
	i.Goal = rapid.SampledFrom([]string{"help", "sell"}).Draw(t, "goal")
	i.ModelID = rapid.SampledFrom([]string{"m1", "m1", "m2", ""}).Draw(t, "model")
	if projectID[len(projectID)-1] == 'o' { // …-two
		i.ModelID = rapid.SampledFrom([]string{"m3", "m3", "broken", ""}).Draw(t, "model")
	}
	if rapid.IntRange(0, 2).Draw(t, "less") == 0 {
		i.Capabilities = []string{"ping", "note"}
	}
	if rapid.Bool().Draw(t, "fixed") {
		i.ExecutorInputs = map[string]map[string]countersign.Value{"note": values("level", rapid.SampledFrom([]string{"1", "1.0", "2"}).Draw(t, "level"))}
	}
	return i
}

// saidBefore is the item that an agent was made of, its number spelt anyhow.
func saidBefore(t *rapid.T, was countersign.Agent) countersign.ManifestAgent {
	i := countersign.ManifestAgent{
		ExternalAgentID: was.ExternalAgentID, SourceRevision: was.SourceRevision, Name: was.Name, Role: was.Role, Goal: was.Goal,
		Capabilities: was.Capabilities, ModelID: was.ModelID, ExecutorInputs: was.ExecutorInputs,
	}
	if level := was.ExecutorInputs["note"]["level"].Raw(); level != "" && level != "2" {
		i.ExecutorInputs = map[string]map[string]countersign.Value{"note": values("level", rapid.SampledFrom([]string{"1", "1.0", "1e0"}).Draw(t, "spelt"))}
	}
	return i
}

func (w *world) admit(t *rapid.T) {
	w.move(t, access.AdmitAgent, w.service.AdmitAgent, func(a *countersign.Agent) bool {
		changed := a.Status != countersign.AgentAdmitted
		a.Status, a.Suspended = countersign.AgentAdmitted, false
		return changed
	})
}

func (w *world) suspend(t *rapid.T) {
	w.move(t, access.SuspendAgent, w.service.SuspendAgent, func(a *countersign.Agent) bool {
		changed := !a.Suspended
		a.Status, a.Suspended = countersign.AgentPending, true
		if changed {
			a.Revision++
		}
		return changed
	})
}

type admission func(context.Context, control.Actor, string, countersign.Admission) (countersign.Agent, error)

func (w *world) move(t *rapid.T, op access.Operation, ask admission, change func(*countersign.Agent) bool) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	id := w.one(t, agentsOf(b), agentsOf, a)
	d := countersign.Admission{Reason: "known"}
	if rapid.IntRange(0, 9).Draw(t, "no reason") == 9 {
		d.Reason = ""
	}
	if known := b.agents[id]; known != nil && rapid.Bool().Draw(t, "expects") {
		expected := known.Revision + rapid.SampledFrom([]int64{0, 0, 0, 1, -1}).Draw(t, "revision")
		d.ExpectedRevision = &expected
	}
	var got countersign.Agent
	err := w.authorized(a, op, "agent/"+id, func() (err error) {
		got, err = ask(background, a, id, d)
		return err
	})
	if !w.answered(t, a, op, "agent/"+id, b.move(a, op, id, d), err) {
		return
	}
	known := b.agents[id]
	if change(known) {
		known.UpdatedAt = w.at
		b.done(a, op, "agent/"+id)
	}
	want := *known
	want.Liveness, want.LastHeartbeatAt = b.liveness(id, w.at)
	same(t, "answer", want, got)
}

// heartbeat sends a heartbeat of any sequence, state and clock.
func (w *world) heartbeat(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	id := w.one(t, agentsOf(b), agentsOf, a)
	away := time.Duration(rapid.SampledFrom([]int{0, 0, 0, -120, 120, -121, 121}).Draw(t, "away")) * time.Second
	h := countersign.Heartbeat{
		InstanceID: rapid.SampledFrom([]string{"i", "j"}).Draw(t, "instance"), State: rapid.SampledFrom([]countersign.InstanceState{"IDLE", "BUSY", "ERROR"}).Draw(t, "state"),
		Timestamp: w.at.Add(away).Format(time.RFC3339Nano),
	}
	last, known := b.beats[id][h.InstanceID]
	h.Sequence = last.Sequence + rapid.SampledFrom([]int64{1, 1, 1, 7, 0, -1}).Draw(t, "sequence")
	if known && rapid.IntRange(0, 4).Draw(t, "again") == 0 {
		h = last.Heartbeat
	}
	want, duplicate := b.beat(a, id, h, w.at)
	ack, err := w.service.Heartbeat(background, a, id, h)
	if !w.answered(t, a, access.SendHeartbeat, "agent/"+id, want, err) {
		return
	}
	if duplicate && w.everything(a.Tenant) != w.seen[a.Tenant] {
		t.Fatal("a duplicate wrote something")
	}
	if !duplicate {
		if b.beats[id] == nil {
			b.beats[id] = map[string]heard{}
		}
		b.beats[id][h.InstanceID] = heard{h, w.at}
	}
	expected := countersign.HeartbeatAck{
		Acknowledged: true, Duplicate: duplicate, AgentID: id, InstanceID: h.InstanceID, Sequence: h.Sequence, ReceivedAt: b.beats[id][h.InstanceID].at,
	}
	expected.Liveness, _ = b.liveness(id, time.Now())
	same(t, "acknowledgement", expected, ack)
}

// model writes, suspends or resumes a model.
func (w *world) model(t *rapid.T) {
	a := as(rapid.SampledFrom(tenants).Draw(t, "tenant"))
	w.acted = a.Tenant
	b := w.books[a.Tenant]
	id := rapid.SampledFrom(models).Draw(t, "model")
	is := b.models[id]
	switch rapid.SampledFrom([]string{"write", "suspend", "resume", "resume"}).Draw(t, "what") {
	case "write":
		w.must(w.putModel(a, id, is.revision))
		is.revision++
		b.done(a, access.WriteModel, "model/"+id)
	case "suspend":
		_, err := w.service.SuspendModel(background, a, id, "why")
		w.must(err)
		if !is.suspended {
			is.revision, is.suspended = is.revision+1, true
			b.done(a, access.SuspendModel, "model/"+id)
		}
	default:
		_, err := w.service.ResumeModel(background, a, id, "why")
		w.must(err)
		if is.suspended {
			is.suspended = false
			b.done(a, access.ResumeModel, "model/"+id)
		}
	}
}

// project enables or disables a project.
func (w *world) project(t *rapid.T) {
	a := as(rapid.SampledFrom(tenants).Draw(t, "tenant"))
	w.acted = a.Tenant
	b := w.books[a.Tenant]
	id := rapid.SampledFrom(projectsOf(b)).Draw(t, "project")
	toggle := w.service.EnableProject
	disable := rapid.IntRange(0, 2).Draw(t, "disable") == 0
	if disable {
		toggle = w.service.DisableProject
	}
	_, err := toggle(background, a, id, countersign.Toggle{ExpectedRevision: 1})
	w.must(err)
	if b.disabled[id] != disable {
		b.disabled[id] = disable
		b.done(a, access.ToggleProject, "project/"+id)
	}
}
