package simulation

import (
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
)

func drawCompile(s *sim, tenant string, p *picture) (act, bool) {
	m, ok := any1(s, p.models)
	bind := func(c string, in map[string]countersign.Value) countersign.ActionBinding {
		return countersign.ActionBinding{ProjectID: tenant + "-one", Capability: c, Input: in, Expectation: s.expectation()}
	}
	req := countersign.CompileRequest{
		ScenarioID: pick(s, both, both, neither), Mode: pick(s, countersign.ModeDryRun, countersign.ModeLive),
		ActionBindings: map[string]countersign.ActionBinding{
			actionOne: bind("look", s.input("look")), actionTwo: bind(pick(s, "pay", "exact"), nil),
		},
	}
	return act{s.somebody(tenant, operator), "compile " + m.ID + " " + req.ScenarioID + " " + req.Mode, func(a control.Actor) error {
		_, err := s.process.control.CompilePlan(background(), a, m.ID, req)
		return err
	}, "", ""}, ok
}

// manifest draws a manifest of a few agents; source revisions increase with time.
func (s *sim) manifest() countersign.Manifest {
	m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{}}
	for _, name := range []string{"reader", "payer", "shipper"} {
		if s.chance(4) {
			continue
		}
		a := countersign.ManifestAgent{
			ExternalAgentID: name, SourceRevision: int64(pick(s, 1, 1, 1, 2, 3)), Name: name, Role: "clerk", Goal: pick(s, "help", "help", "help more"),
			Capabilities: []string{"look", "pay", "exact"}, ModelID: pick(s, "refund", "refund", "refund", "other", ""),
		}
		if name == "payer" {
			a.ExecutorInputs = map[string]map[string]countersign.Value{"pay": {"currency": countersign.String("EUR"), "amount": countersign.RawValue("5.00")}}
		}
		if s.chance(15) {
			a.Capabilities = append(a.Capabilities, "nothing")
		}
		m.Agents = append(m.Agents, a)
	}
	return m
}

func drawSync(s *sim, tenant string, _ *picture) (act, bool) {
	project, m := tenant+"-"+pick(s, "one", "one", "two"), s.manifest()
	return act{s.somebody(tenant, operator), fmt.Sprintf("sync %d agents of %s", len(m.Agents), project), func(a control.Actor) error {
		_, err := s.process.control.SyncAgents(background(), a, project, m)
		return err
	}, "", ""}, true
}

func drawAdmit(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.agents)
	return act{s.somebody(tenant, admin), "admit " + h.ID, func(a control.Actor) error {
		_, err := s.process.control.AdmitAgent(background(), a, h.ID, countersign.Admission{Reason: "known"})
		return err
	}, "", ""}, ok
}

func drawSuspendAgent(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.agents)
	return act{s.somebody(tenant, admin), "suspend agent " + h.ID, func(a control.Actor) error {
		_, err := s.process.control.SuspendAgent(background(), a, h.ID, countersign.Admission{Reason: "odd"})
		return err
	}, "", ""}, ok
}

func drawHeartbeat(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.agents)
	b := countersign.Heartbeat{
		InstanceID: pick(s, "i-1", "i-2"), Sequence: int64(s.requests + s.rng.IntN(4) - 2), State: pick(s, countersign.InstanceIdle, countersign.InstanceBusy, countersign.InstanceError),
		Timestamp: s.now().Add(time.Duration(s.rng.IntN(280)-140) * time.Second).Format(time.RFC3339),
	}
	if b.Sequence < 0 {
		b.Sequence = 0
	}
	return act{s.somebody(tenant, operator), fmt.Sprintf("heartbeat %s %s %d %s", h.ID, b.InstanceID, b.Sequence, b.State), func(a control.Actor) error {
		ack, err := s.process.control.Heartbeat(background(), a, h.ID, b)
		if err == nil {
			s.heard(tenant, h.ID, b, ack)
		}
		return err
	}, "", ""}, ok
}

func drawAgentRun(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.agents)
	c := pick(s, "look", "pay", "exact", "exact")
	w := countersign.AgentRunStart{ExpectedRevision: h.Revision - maybe[int64](s, 15, 1), Mode: pick(s, "", countersign.ModeLive, countersign.ModeLive), Capability: c, Inputs: s.input(c)}
	if c == "pay" && !s.chance(8) {
		delete(w.Inputs, "amount")
	}
	if !s.chance(8) {
		w.Expectation = s.expectation()
	}
	key := s.key(tenant)
	return act{s.somebody(tenant, operator), fmt.Sprintf("agent run %s %s %s with key %s", h.ID, c, w.Mode, key), func(a control.Actor) error {
		started, err := s.process.control.StartAgentRun(background(), a, h.ID, w, key)
		s.started(tenant, key, fmt.Sprintf("agent %s %s", h.ID, digest(w)), started, err)
		return err
	}, "", ""}, ok
}

func drawTeam(s *sim, tenant string, p *picture) (act, bool) {
	id := pick(s, "duo", "trio")
	w := countersign.TeamWrite{Name: id}
	for _, t := range p.teams {
		if t.ID == id {
			w.ExpectedRevision = t.Revision
		}
	}
	w.ExpectedRevision += maybe[int64](s, 12, 1)
	var ready []records.AgentHead
	for _, h := range p.agents {
		if h.Status == countersign.AgentAdmitted && h.ModelID != "" || s.chance(20) {
			ready = append(ready, h)
		}
	}
	for i, h := range ready {
		w.Members = append(w.Members, countersign.TeamMember{AgentID: h.ID, Role: "member"})
		c := pick(s, "look", "exact")
		st := countersign.TeamStep{ID: fmt.Sprintf("t%d", i), Name: c, AgentID: h.ID, Capability: c, Input: s.input(c), Expectation: s.expectation()}
		if i > 0 {
			st.DependsOn = []string{"t0"}
			if c == "exact" {
				delete(st.Input, "amount")
				st.InputBindings = map[string]countersign.Binding{"amount": {StepID: "t0", Field: pick(s, "amount", "state")}}
			}
		}
		w.Steps = append(w.Steps, st)
	}
	return act{s.somebody(tenant, operator), fmt.Sprintf("put team %s of %d, expecting %d", id, len(w.Members), w.ExpectedRevision), func(a control.Actor) error {
		_, err := s.process.control.PutTeam(background(), a, id, w)
		return err
	}, "teams.write", ""}, len(ready) > 1 || s.chance(10)
}

func drawSuspendTeam(s *sim, tenant string, p *picture) (act, bool) {
	t, ok := any1(s, p.teams)
	return act{s.somebody(tenant, admin), fmt.Sprintf("suspend team %s (end it: %t)", t.ID, t.Suspended), func(a control.Actor) (err error) {
		if t.Suspended {
			_, err = s.process.control.ResumeTeam(background(), a, t.ID, "over")
		} else {
			_, err = s.process.control.SuspendTeam(background(), a, t.ID, "odd")
		}
		return err
	}, "", ""}, ok
}

func drawTeamRun(s *sim, tenant string, p *picture) (act, bool) {
	t, ok := any1(s, p.teams)
	w := countersign.TeamRunStart{ExpectedRevision: t.Revision, Mode: pick(s, countersign.ModeDryRun, countersign.ModeLive, countersign.ModeLive)}
	if s.chance(12) {
		w.Inputs = map[string]map[string]countersign.Value{"t0": {"amount": countersign.RawValue("1")}}
	}
	key := s.key(tenant)
	return act{s.somebody(tenant, operator), "team run " + t.ID + " " + w.Mode + " with key " + key, func(a control.Actor) error {
		started, err := s.process.control.StartTeamRun(background(), a, t.ID, w, key)
		s.started(tenant, key, fmt.Sprintf("team %s %s", t.ID, digest(w)), started, err)
		return err
	}, "", ""}, ok
}

// drawReads reads a page of each list and checks S6 at once.
func drawReads(s *sim, tenant string, _ *picture) (act, bool) {
	l := control.List{Limit: 1 + s.rng.IntN(5), Offset: s.rng.IntN(4)}
	return act{s.somebody(tenant), "read the lists", func(a control.Actor) error {
		c := s.process.control
		runs, err := c.Runs(background(), a, l, control.RunFilter{})
		if err != nil {
			return err
		}
		s.checkPage("runs", l, len(runs.Items), runs.Total, runs.NextOffset)
		approvals, err := c.Approvals(background(), a, l, control.ApprovalFilter{})
		if err != nil {
			return err
		}
		s.checkPage("approvals", l, len(approvals.Items), approvals.Total, approvals.NextOffset)
		agents, err := c.Agents(background(), a, l, control.AgentFilter{})
		if err != nil {
			return err
		}
		s.checkPage("agents", l, len(agents.Items), agents.Total, agents.NextOffset)
		for _, r := range runs.Items {
			if whole, err := c.Run(background(), a, r.ID); err == nil && whole.ID != r.ID {
				s.fail("S6: run %s was read as %s", r.ID, whole.ID)
			}
		}
		return nil
	}, "", ""}, true
}

func digest(v any) string {
	d, err := countersign.CanonicalDigest(v)
	if err != nil {
		panic(err)
	}
	return d[:12]
}
