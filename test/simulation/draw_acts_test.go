package simulation

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
)

// draw draws the next request, sometimes several concurrent ones.
func (s *sim) draw() []act {
	n := 1
	if s.chance(7) {
		n = 2 + s.rng.IntN(3)
	}
	acts := make([]act, 0, n)
	tenant := tenants[s.rng.IntN(len(tenants))*s.rng.IntN(2)] // prefers the first tenant
	p := s.look(tenant)
	for len(acts) < n {
		a, ok := s.drawOne(tenant, &p)
		if ok {
			acts = append(acts, a)
		}
		if ok && n > 1 && s.chance(3) {
			acts = append(acts, a) // repeats the same request
		}
	}
	return acts
}

// kind is one kind of request with its weight.
type kind struct {
	weight int
	op     access.Operation
	draw   func(s *sim, tenant string, p *picture) (act, bool)
}

var kinds = []kind{
	{2, access.WriteModel, drawModel}, {2, access.SuspendModel, drawSuspendModel}, {2, access.WriteProject, drawProject},
	{6, access.ToggleProject, drawEnable}, {1, access.ToggleProject, drawDisable}, {8, access.CreatePlan, drawPlan}, {2, access.CompilePlan, drawCompile},
	{24, access.StartRun, drawStart}, {26, access.DecideApproval, drawDecide}, {7, access.CancelRun, drawCancel},
	{10, access.ReconcileRun, drawReconcile}, {12, access.ProbeRun, drawProbe},
	{3, access.SyncAgents, drawSync}, {2, access.AdmitAgent, drawAdmit}, {1, access.SuspendAgent, drawSuspendAgent},
	{6, access.SendHeartbeat, drawHeartbeat}, {5, access.StartAgentRun, drawAgentRun}, {2, access.WriteTeam, drawTeam},
	{1, access.SuspendTeam, drawSuspendTeam}, {5, access.StartTeamRun, drawTeamRun}, {3, access.ReadRuns, drawReads},
}

func (s *sim) drawOne(tenant string, p *picture) (act, bool) {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	at := s.rng.IntN(total)
	for _, k := range kinds {
		if at -= k.weight; at < 0 {
			a, ok := k.draw(s, tenant, p)
			a.op = k.op
			return a, ok
		}
	}
	return act{}, false
}

// any1 draws an element of a list; ok is false for an empty list.
func any1[T any](s *sim, list []T) (v T, ok bool) {
	if len(list) == 0 {
		return v, false
	}
	return list[s.rng.IntN(len(list))], true
}

const (
	operator = countersign.RoleOperator
	approver = countersign.RoleApprover
	admin    = countersign.RoleAdmin
)

func drawModel(s *sim, tenant string, p *picture) (act, bool) {
	id, expected := pick(s, "refund", "other"), int64(0)
	for _, m := range p.models {
		if m.ID == id {
			expected = m.Revision
		}
	}
	expected += maybe[int64](s, 10, 1)
	doc := s.model(id)
	return act{s.somebody(tenant, operator), fmt.Sprintf("put model %s, expecting %d", id, expected), func(a control.Actor) error {
		_, err := s.process.control.PutModel(background(), a, id, countersign.ModelWrite{Document: doc, ExpectedRevision: expected})
		return err
	}, "models.write", ""}, true
}

func drawSuspendModel(s *sim, tenant string, p *picture) (act, bool) {
	m, ok := any1(s, p.models)
	for _, other := range p.models {
		if other.Suspended && !s.chance(3) {
			m = other
		}
	}
	resume := m.Suspended || s.chance(6)
	return act{s.somebody(tenant, admin), fmt.Sprintf("suspend model %s (end it: %t)", m.ID, resume), func(a control.Actor) (err error) {
		if resume {
			_, err = s.process.control.ResumeModel(background(), a, m.ID, "over")
		} else {
			_, err = s.process.control.SuspendModel(background(), a, m.ID, "odd answers")
		}
		return err
	}, "", ""}, ok
}

func drawProject(s *sim, tenant string, p *picture) (act, bool) {
	id, w := tenant+"-"+pick(s, "one", "two"), s.project()
	for _, h := range p.projects {
		if h.ID == id {
			w.ExpectedRevision = h.Revision
		}
	}
	w.ExpectedRevision += maybe[int64](s, 10, 1)
	return act{s.somebody(tenant, admin), fmt.Sprintf("put project %s, expecting %d", id, w.ExpectedRevision), func(a control.Actor) error {
		_, err := s.process.control.PutProject(background(), a, id, w)
		return err
	}, "projects.write", ""}, true
}

func drawEnable(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.projects)
	for _, other := range p.projects {
		if !other.Enabled && !s.chance(4) {
			h = other
		}
	}
	healthFirst := !s.chance(8)
	return act{s.somebody(tenant, admin), "enable project " + h.ID, func(a control.Actor) error {
		if healthFirst {
			if _, err := s.process.control.CheckHealth(background(), a, h.ID); err != nil {
				return err
			}
		}
		_, err := s.process.control.EnableProject(background(), a, h.ID, countersign.Toggle{ExpectedRevision: h.Revision})
		return err
	}, "", ""}, ok
}

func drawDisable(s *sim, tenant string, p *picture) (act, bool) {
	h, ok := any1(s, p.projects)
	return act{s.somebody(tenant, admin), "disable project " + h.ID, func(a control.Actor) error {
		_, err := s.process.control.DisableProject(background(), a, h.ID, countersign.Toggle{ExpectedRevision: h.Revision})
		return err
	}, "", ""}, ok
}

func drawPlan(s *sim, tenant string, p *picture) (act, bool) {
	m, ok := any1(s, p.models)
	w := countersign.PlanWrite{
		Name: "plan", ModelID: m.ID, ModelRevision: m.Revision - maybe[int64](s, 20, 1), Steps: s.planSteps(tenant),
		Mode: pick(s, "", countersign.ModeDryRun, countersign.ModeLive, countersign.ModeLive, countersign.ModeLive, countersign.ModeLive),
		ID:   maybe(s, 6, pick(s, "mine", "yours")),
	}
	return act{s.somebody(tenant, operator), fmt.Sprintf("make a plan of %d steps %s %s", len(w.Steps), w.Mode, w.ID), func(a control.Actor) error {
		made, err := s.process.control.CreatePlan(background(), a, w)
		if err == nil {
			s.say("   plan %s is %s %.200v", made.ID, made.Status, made.ValidationErrors)
		}
		return err
	}, "", ""}, ok
}

func drawStart(s *sim, tenant string, p *picture) (act, bool) {
	plans := p.plans
	if len(plans) > 6 && !s.chance(4) {
		plans = newest(plans)
	}
	plan, ok := any1(s, plans)
	for _, other := range plans { // prefers a plan that can start
		if plan.Status != countersign.PlanReady || plan.Synthetic {
			plan = other
		}
	}
	key := s.key(tenant)
	return act{s.somebody(tenant, operator), "start plan " + plan.ID + " with key " + key, func(a control.Actor) error {
		started, err := s.process.control.StartRun(background(), a, countersign.RunStart{PlanID: plan.ID}, key)
		s.started(tenant, key, "plan "+plan.ID, started, err)
		return err
	}, "", ""}, ok
}

// newest are the last plans, since ids increase.
func newest(plans []records.Plan) []records.Plan { return plans[len(plans)-4:] }

// key draws an idempotency key, mostly a new one, sometimes a used one.
func (s *sim) key(tenant string) string {
	if s.chance(5) {
		return fmt.Sprintf("key-%s-%d", tenant, s.rng.IntN(20))
	}
	return fmt.Sprintf("key-%s-%d", tenant, 100+s.requests*10+s.rng.IntN(10))
}

func drawDecide(s *sim, tenant string, p *picture) (act, bool) {
	var open []records.Approval
	for _, a := range p.approvals {
		if a.Status == countersign.ApprovalPending || s.chance(40) {
			open = append(open, a)
		}
	}
	ap, ok := any1(s, open)
	d := countersign.Decision{Decision: countersign.ApprovalApproved, Reason: pick(s, "seen", "seen", "seen", "seen", "  ")}
	if s.chance(7) {
		d.Decision = countersign.ApprovalRejected
	}
	return act{s.somebody(tenant, approver), fmt.Sprintf("decide %s of %s: %s", ap.ID, ap.RunID, d.Decision), func(a control.Actor) error {
		_, err := s.process.control.Decide(background(), a, ap.ID, d)
		return err
	}, "approvals.decide", ""}, ok
}

func (s *sim) unfinished(p *picture, statuses ...countersign.RunStatus) (records.Run, bool) {
	var list []records.Run
	for _, r := range p.runs {
		for _, is := range statuses {
			if r.Status == is {
				list = append(list, r)
			}
		}
	}
	return any1(s, list)
}

func drawCancel(s *sim, tenant string, p *picture) (act, bool) {
	r, ok := s.unfinished(p, countersign.RunReady, countersign.RunRunning, countersign.RunWaitingApproval, countersign.RunRunning)
	if !ok || s.chance(10) {
		r, ok = any1(s, p.runs)
	}
	return act{s.somebody(tenant, operator), "cancel " + r.ID, func(a control.Actor) error {
		_, err := s.process.control.CancelRun(background(), a, r.ID, "not wanted")
		return err
	}, "", ""}, ok
}

func drawReconcile(s *sim, tenant string, p *picture) (act, bool) {
	r, ok := s.unfinished(p, countersign.RunRecoveryRequired)
	if !ok && s.chance(20) {
		r, ok = any1(s, p.runs)
	}
	rec := countersign.Reconcile{
		Resolution: pick(s, countersign.ConfirmedCompleted, countersign.ConfirmedNotExecuted, countersign.ConfirmedNotExecuted, countersign.Abandon),
		Evidence:   pick(s, "ticket 7", "ticket 7", "ticket 7", " "),
	}
	if !s.chance(5) {
		done := map[string]countersign.Value{"state": countersign.String("done"), "amount": countersign.RawValue("12.5"), "id": countersign.String("x"), "nested": countersign.RawValue(`{"list":[1,null,"x"]}`)}
		rec.Output = map[string]countersign.Value{"result": countersign.ObjectValue(done)}
		for k, v := range done {
			rec.Output[k] = v
		}
	}
	return act{s.somebody(tenant, approver), "reconcile " + r.ID + ": " + rec.Resolution, func(a control.Actor) error {
		_, err := s.process.control.ReconcileRun(background(), a, r.ID, rec)
		return err
	}, "runs.reconcile", ""}, ok
}

func drawProbe(s *sim, tenant string, p *picture) (act, bool) {
	r, ok := s.unfinished(p, countersign.RunRecoveryRequired)
	step := "s0"
	for _, st := range r.Steps {
		if st.Status == countersign.StepRecoveryRequired {
			step = st.ID
		}
	}
	return act{s.somebody(tenant, approver), "probe " + r.ID + " " + step, func(a control.Actor) error {
		_, err := s.process.control.Probe(background(), a, r.ID, step)
		return err
	}, "runs.probe", ""}, ok
}
