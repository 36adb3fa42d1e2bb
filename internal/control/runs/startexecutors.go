package runs

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// StartAgentRun starts a run of one capability by one agent (specification
// 2.17). Its 202 means that the request was received, and nothing else.
func (s *StartService) StartAgentRun(ctx context.Context, a core.Actor, id string, start countersign.AgentRunStart, key string) (Started, error) {
	checked := start
	checked.Inputs = nil // values of any kind, which a schema judges
	if err := cmp.Or(core.WellFormed(a, checked), core.WellKeyed(key)); err != nil {
		return Started{}, err
	}
	return s.startAgent(ctx, a, id, start, &start.ExpectedRevision, key)
}

func (s *StartService) startAgent(ctx context.Context, a core.Actor, id string, start countersign.AgentRunStart, expected *int64, key string) (Started, error) {
	return s.startExecutors(ctx, a, s.agentStart(a, id, start, expected, key))
}

func (s *StartService) agentStart(a core.Actor, id string, start countersign.AgentRunStart, expected *int64, key string) executorsStart {
	return executorsStart{
		op: access.StartAgentRun, subject: "agent/" + id, id: id, key: key, mode: start.Mode, body: start, reason: start.Reason,
		gather: func(tx store.Tx) (plan.Executors, error) { return s.agentExecutors(tx, a, id, expected) },
		plan: func(c plan.Executors, o plan.Creation) (countersign.Plan, []string) {
			return plan.ForAgent(c, start, o)
		},
		reach:  func(tx store.Tx) error { _, _, err := reach.Agent(tx, a, id); return err },
		judged: func(tx store.Tx) error { return judgedAgentRun(tx, a, id, start, needed) },
	}
}

// Whether a LIVE agent run needs an expectation, its own or the capability's.
const (
	needed           = false
	neededUnlessRead = true
)

// judgedAgentRun: something must judge the answer of a LIVE agent run, the start's
// expectation or the capability's.
func judgedAgentRun(tx store.Tx, a core.Actor, id string, start countersign.AgentRunStart, unlessRead bool) error {
	if start.Mode != countersign.ModeLive || start.Expectation != nil {
		return nil
	}
	head, _, err := reach.Agent(tx, a, id)
	if err != nil {
		return err
	}
	p, err := core.CurrentSnapshot(tx, a.Tenant, head.ProjectID)
	if err != nil {
		return err
	}
	if _, c := mask.TargetOf(p, head.ProjectID, start.Capability); c != nil && (c.Expectation != nil || unlessRead && !c.HasSideEffect()) {
		return nil
	}
	if unlessRead {
		return countersign.Errorf(countersign.CodeExpectationRequired, "%s: nothing says what its output must be, so it is offered for rehearsal only; an ADMIN gives the capability an expectation", start.Capability)
	}
	return countersign.RefusedAt(countersign.CodeExpectationRequired, "expectation", "a LIVE agent run says what its output must be, unless its capability does; a 200 proves nothing")
}

// StartTeamRun starts a run of a team's steps, one after the other.
func (s *StartService) StartTeamRun(ctx context.Context, a core.Actor, id string, start countersign.TeamRunStart, key string) (Started, error) {
	checked := start
	checked.Inputs = nil // values of any kind, which a schema judges
	if err := cmp.Or(core.WellFormed(a, checked), core.WellKeyed(key)); err != nil {
		return Started{}, err
	}
	return s.startExecutors(ctx, a, executorsStart{
		op: access.StartTeamRun, subject: "team/" + id, id: id, key: key, mode: start.Mode, body: start, reason: start.Reason,
		gather: func(tx store.Tx) (plan.Executors, error) { return s.teamExecutors(tx, a, id, start.ExpectedRevision) },
		plan: func(c plan.Executors, o plan.Creation) (countersign.Plan, []string) {
			return plan.ForTeam(c, start, o)
		},
		reach: func(tx store.Tx) error { _, _, err := reach.Team(tx, a, id); return err },
	})
}

// StartProjectRun starts a run of one capability of a project (contract 11).
func (s *StartService) StartProjectRun(ctx context.Context, a core.Actor, id string, start countersign.ProjectRunStart, key string) (Started, error) {
	checked := start
	checked.Inputs = nil // values of any kind, which a schema judges
	if err := cmp.Or(core.WellFormed(a, checked), core.WellKeyed(key)); err != nil {
		return Started{}, err
	}
	return s.startExecutors(ctx, a, executorsStart{
		op: access.StartProjectRun, subject: "project/" + id, id: id, key: key, mode: start.Mode, body: start, reason: start.Reason,
		gather: func(tx store.Tx) (plan.Executors, error) { return s.projectAlone(tx, a, id) },
		plan: func(c plan.Executors, o plan.Creation) (countersign.Plan, []string) {
			return plan.ForCall(c.Projects[id], start, o)
		},
		reach: func(tx store.Tx) error { _, _, err := reach.Project(tx, a, id); return err },
	})
}

// projectAlone is a project whose capability no agent carries out.
func (s *StartService) projectAlone(tx store.Tx, a core.Actor, id string) (c plan.Executors, err error) {
	head, _, err := reach.Project(tx, a, id)
	if err != nil {
		return c, err
	}
	p, err := reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head)
	c.Projects = map[string]plan.Source{id: {Project: &p, InScope: true}}
	return c, err
}

// asGiven is a start without inputs that are null; nil where it has none.
func asGiven(body any) any {
	switch start := body.(type) {
	case countersign.AgentRunStart:
		inputs, null := withoutNulls(start.Inputs)
		if start.Inputs = inputs; null {
			return start
		}
	case countersign.ProjectRunStart:
		inputs, null := withoutNulls(start.Inputs)
		if start.Inputs = inputs; null {
			return start
		}
	case countersign.TeamRunStart:
		isNull := false
		steps := make(map[string]map[string]countersign.Value, len(start.Inputs))
		for id, inputs := range start.Inputs {
			var null bool
			steps[id], null = withoutNulls(inputs)
			isNull = isNull || null
		}
		if start.Inputs = steps; isNull {
			return start
		}
	}
	return nil
}

// executorsStart is what runs of agents, teams and single calls differ in.
type executorsStart struct {
	op      access.Operation
	subject string
	id      string
	key     string
	mode    string
	body    any
	reason  string
	call    *agentCall
	reach   func(store.Tx) error
	judged  func(store.Tx) error // nil: nothing needs to judge the answers
	gather  func(store.Tx) (plan.Executors, error)
	plan    func(plan.Executors, plan.Creation) (countersign.Plan, []string)
}

// startExecutors starts a run of an agent, a team or a single call with a plan of its own. The plan is made
// of a snapshot, outside any write; what changed since then is drift, as it is
// for every plan.
func (s *StartService) startExecutors(ctx context.Context, a core.Actor, c executorsStart) (out Started, err error) {
	o, err := newStartRequest(s.Config.Now(), c.op, c.subject, c.id, c.key, c.body, asGiven(c.body))
	if err != nil {
		return out, err
	}
	o.call, o.reason = c.call, c.reason
	var executors *plan.Executors
	err = s.View(ctx, a, c.op, func(tx store.Tx) (err error) {
		executors, err = s.executorsToStart(tx, a, c, o)
		return err
	})
	var p *countersign.Plan
	if err == nil && executors != nil {
		p, o.known, err = s.planExecutors(ctx, a, c, *executors)
	}
	if err = s.Refuse(ctx, a, c.op, c.subject, err); err != nil {
		return out, err
	}
	var whole *countersign.Plan // what the turn to write would read again
	if p != nil {
		o.mode = p.Mode
		whole = plans.WithSources(*p, executors.Projects)
	}
	return s.start(ctx, a, o, func(tx store.Tx) (*countersign.Plan, error) {
		if p == nil { // the run that the key had started isn't found any more
			return nil, errRunGone
		}
		if err := s.plans.MayStart(tx, a.Tenant, p, nil); err != nil {
			return nil, err
		}
		if err := s.checkLimitsOfStart(tx, a.Tenant, o); err != nil {
			return nil, err
		}
		if err := s.Repo.MayLook(tx, a.Tenant, whole); err != nil {
			return nil, err
		}
		_, err := records.Plans.Put(tx, a.Tenant, p.ID, &records.Plan{Plan: *p, Synthetic: true}, 0)
		return whole, err
	})
}

// errRunGone: the same request, sent again, makes a plan.
var errRunGone = countersign.Errorf(countersign.CodeUnavailable, "the run that this key had started went away at this moment; nothing was changed, try again")

// executorsToStart reads what the plan is made of; nil where the key has started a run already.
func (s *StartService) executorsToStart(tx store.Tx, a core.Actor, c executorsStart, o startRequest) (*plan.Executors, error) {
	if err := access.Mode(a.Principal, cmp.Or(c.mode, countersign.ModeDryRun)); err != nil {
		return nil, err
	}
	if err := c.reach(tx); countersign.ErrorCode(err) == countersign.CodeNotFound {
		return nil, s.unknownSubject(tx, a, o, err)
	} else if err != nil {
		return nil, err
	}
	if earlier, err := s.claimed(tx, a, o); err != nil || earlier != nil {
		return nil, err
	}
	if c.judged != nil {
		if err := c.judged(tx); err != nil {
			return nil, err
		}
	}
	executors, err := c.gather(tx)
	return &executors, err
}

// planExecutors makes the plan, and says what is known of its steps.
func (s *StartService) planExecutors(ctx context.Context, a core.Actor, c executorsStart, executors plan.Executors) (*countersign.Plan, run.Estimate, error) {
	var p countersign.Plan
	var problems []string
	var known run.Estimate
	o := plan.Creation{ID: s.Config.NewID("plan"), By: a.ID, Now: s.Config.Now()}
	err := s.Judge(ctx, a, func(m *cost.Meter) {
		o.Meter = m
		if p, problems = c.plan(executors, o); len(problems) == 0 && !m.Over() {
			known = run.Taken(m, plans.WithSources(p, executors.Projects), true)
		}
	})
	if err != nil {
		return nil, known, c.places(err)
	}
	if len(problems) > 0 { // it is refused here, and never stored
		return nil, known, s.Read(ctx, func(tx store.Tx) error { return s.plans.MayStart(tx, a.Tenant, &p, core.Invalid(problems)) })
	}
	return &p, known, nil
}

// places says where in the body of the request the problem of a run of one capability is.
func (s executorsStart) places(err error) error {
	var e *countersign.Error
	if !errors.As(err, &e) || s.op == access.StartTeamRun {
		return err
	}
	return countersign.Errorf(e.Code, "%s", plan.AsSingleRun(e.Message))
}

// agentExecutors returns one admitted agent, at the revision that the caller expects (nil:
// any). A suspended agent is refused for being suspended (by plans.Admitted), whatever revision
// is expected.
func (s *StartService) agentExecutors(tx store.Tx, a core.Actor, id string, expected *int64) (c plan.Executors, err error) {
	head, _, err := reach.Agent(tx, a, id)
	if err != nil {
		return c, err
	}
	c.Projects = map[string]plan.Source{}
	if err := s.plans.AddExecutor(tx, a, &c, new(plans.Planned), head); err != nil {
		return c, err
	}
	if err := plans.RefuseRetired(c); err != nil {
		return c, err
	}
	if expected != nil && !head.Suspended {
		err = requireRevision("agent", id, head.Revision, *expected)
	}
	if err == nil {
		err = plans.Admitted(c)
	}
	return c, err
}

// teamExecutors returns a team at the revision that the caller expects, its members
// admitted. A suspended team is refused as such, whatever revision is expected.
func (s *StartService) teamExecutors(tx store.Tx, a core.Actor, id string, expected int64) (c plan.Executors, err error) {
	head, _, err := reach.Team(tx, a, id)
	if err != nil {
		return c, err
	}
	if head.Retired {
		return c, plan.Retired(plan.KindTeam, id)
	}
	if head.Suspended {
		return c, countersign.Errorf(countersign.CodeDrift, "team %s is suspended; an ADMIN resumes it", id)
	}
	if err := requireRevision("team", id, head.Revision, expected); err != nil {
		return c, err
	}
	team, err := reach.TeamOf(tx, a.Tenant, head)
	if err != nil {
		return c, err
	}
	if c, err = s.plans.ExecutorsOf(tx, a, &team); err == nil {
		err = plans.RefuseRetired(c)
	}
	if err == nil {
		err = plans.Admitted(c)
	}
	return c, err
}

// requireRevision refuses with 409 if the caller expects another revision than the current
// one.
func requireRevision(kind, id string, revision, expected int64) error {
	if revision == expected {
		return nil
	}
	return countersign.Errorf(countersign.CodeRevisionConflict, "%s %s is at revision %d, not %d; read it and send expectedRevision %d", kind, id, revision, expected, revision)
}
