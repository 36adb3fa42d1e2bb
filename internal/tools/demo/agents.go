package demo

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

// agents are the shop's two agents as registered.
type agents struct{ assessor, refunder countersign.Agent }

// name is the shop's own name of an agent, which readers know.
func (a agents) name(id string) string {
	for _, known := range []countersign.Agent{a.assessor, a.refunder} {
		if known.ID == id {
			return known.ExternalAgentID
		}
	}
	return id
}

// prepareAgents prepares the shop's agents for a team: the back end registers them, an administrator
// admits them and creates their token, and an instance of each sends a heartbeat.
func (d *demo) prepareAgents(ctx context.Context) error {
	if err := d.syncAgents(ctx); err != nil {
		return err
	}
	if err := d.admitAgents(ctx); err != nil {
		return err
	}
	if err := d.giveAgentToken(ctx); err != nil {
		return err
	}
	return d.reportAlive(ctx)
}

// syncAgents sends the manifest, as a back end does at each start. An unchanged manifest
// changes nothing.
func (d *demo) syncAgents(ctx context.Context) error {
	synced, err := d.operator.SyncAgents(ctx, demoProject, sample.Manifest())
	if err != nil {
		return err
	}
	d.agents = agents{assessor: synced.Items[0], refunder: synced.Items[1]} // in the manifest's order
	d.print.row("synced", "%d agents, as the shop's back end describes them; its token is the operator's", len(synced.Items))
	for _, a := range synced.Items {
		d.showAgent(a)
	}
	return nil
}

func (d *demo) showAgent(a countersign.Agent) {
	for _, capability := range a.Capabilities {
		d.print.row(a.ExternalAgentID, "%-*s%s, with the model %s", wordWidth, a.Status, capability, a.ModelID)
		for _, field := range slices.Sorted(maps.Keys(a.ExecutorInputs[capability])) {
			d.print.row("", "%-*s%s is fixed: %s", wordWidth, "", field, a.ExecutorInputs[capability][field].Raw())
		}
	}
}

// admitAgents admits each agent at the revision that was shown, not at a later one.
func (d *demo) admitAgents(ctx context.Context) error {
	d.print.say("Being registered lets no agent run. An administrator does:")
	for _, a := range []*countersign.Agent{&d.agents.assessor, &d.agents.refunder} {
		now, err := d.admin.AdmitAgent(ctx, a.ID, countersign.Admission{
			Reason: "the shop answers for it", ExpectedRevision: &a.Revision,
		})
		if err != nil {
			return err
		}
		*a = *now
		d.holds(a.Status == countersign.AgentAdmitted, "the %s is admitted; it is %s", a.ExternalAgentID, a.Status)
		d.print.row(a.ExternalAgentID, "%-*srevision %d", wordWidth, a.Status, a.Revision)
	}
	return nil
}

// reportAlive sends a heartbeat of one instance of each agent.
func (d *demo) reportAlive(ctx context.Context) error {
	for _, h := range []struct {
		of    countersign.Agent
		state countersign.InstanceState
		shown countersign.Liveness
	}{
		{d.agents.assessor, countersign.InstanceIdle, countersign.LivenessOnline},
		{d.agents.refunder, countersign.InstanceBusy, countersign.LivenessBusy},
	} {
		ack, err := d.agent.Heartbeat(ctx, h.of.ID, heartbeat(h.of, h.state))
		if err != nil {
			return err
		}
		d.holds(ack.Liveness == h.shown, "the %s is %s; it is shown as %s", h.of.ExternalAgentID, h.shown, ack.Liveness)
		d.print.row("heartbeat", "instance %s says %s: the %s is %s", ack.InstanceID, h.state, h.of.ExternalAgentID, ack.Liveness)
	}
	d.print.say("That is shown and never a gate: a process can say anything of itself.")
	return nil
}

// heartbeat takes its sequence from the clock, which increases also across restarts without
// any stored state.
func heartbeat(a countersign.Agent, state countersign.InstanceState) countersign.Heartbeat {
	at := time.Now().UTC()
	return countersign.Heartbeat{InstanceID: a.ExternalAgentID + "-1", Sequence: at.UnixMilli(), State: state, Timestamp: at.Format(time.RFC3339)}
}
