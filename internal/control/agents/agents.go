// Package agents holds the use cases of agents and teams: manifests, admission, heartbeats.
package agents

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// AgentService is the use cases of agents.
type AgentService struct{ *core.Core }

// NewAgents returns the use cases.
func NewAgents(c *core.Core) *AgentService { return &AgentService{Core: c} }

// AgentFilter narrows a list of agents; empty fields don't.
type AgentFilter struct{ ProjectID, Status string }

// Agents lists the agents within the actor's scope by id, each with its present
// liveness.
func (s *AgentService) Agents(ctx context.Context, a core.Actor, l core.List, f AgentFilter) (countersign.Page[countersign.Agent], error) {
	return ListAgents(ctx, s, a, l, f, core.Whole)
}

// ListAgents is Agents of what show makes of each.
func ListAgents[T any](ctx context.Context, s *AgentService, a core.Actor, l core.List, f AgentFilter, show func(countersign.Agent) (T, error)) (page countersign.Page[T], err error) {
	err = s.View(ctx, a, access.ListAgents, func(tx store.Tx) error {
		where := core.Equals(map[string]string{"project": f.ProjectID, "status": f.Status})
		q := l.Query(nil, l.Current(append(where, reach.OwnProjects(a, "project")...)...)...)
		show := names.WithNames(tx, a.Tenant, show)
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Agents, l, q, func(h *records.AgentHead) (shown T, err error) {
			agent, err := s.shownAgent(tx, a, h)
			if err != nil {
				return shown, err
			}
			return show(agent)
		})
		return err
	})
	return page, err
}

// AgentName is what to choose an agent by.
type AgentName struct{ ID, Name string }

// AgentNames lists the names of agents, without their liveness, whose reading takes most of the
// time of Agents.
func (s *AgentService) AgentNames(ctx context.Context, a core.Actor, l core.List) (names []AgentName, err error) {
	err = s.View(ctx, a, access.ListAgents, func(tx store.Tx) error {
		names = nil
		heads, err := records.Agents.List(tx, a.Tenant, l.Query(nil, l.Current(reach.OwnProjects(a, "project")...)...))
		for i := 0; err == nil && i < len(heads); i++ {
			var agent countersign.Agent
			agent, err = reach.AgentOf(tx, a.Tenant, &heads[i])
			names = append(names, AgentName{agent.ID, agent.Name})
		}
		return err
	})
	return names, err
}

// Agent reads one agent with its instances.
func (s *AgentService) Agent(ctx context.Context, a core.Actor, id string) (out countersign.AgentWithInstances, err error) {
	err = s.View(ctx, a, access.ReadAgents, func(tx store.Tx) error {
		head, _, err := reach.Agent(tx, a, id)
		if err != nil {
			return err
		}
		if out.AgentRecord, err = s.shownAgent(tx, a, head); err != nil {
			return err
		}
		out.Instances, out.InstanceCount, err = instancesOf(tx, a.Tenant, id, s.Config.Now())
		return err
	})
	return out, err
}

// shownAgent returns the agent as the actor may see it, with its present liveness.
func (s *AgentService) shownAgent(tx store.Tx, a core.Actor, h *records.AgentHead) (countersign.Agent, error) {
	out, err := reach.AgentOf(tx, a.Tenant, h)
	if err != nil {
		return out, err
	}
	if out.Liveness, out.LastHeartbeatAt, err = livenessOf(tx, a.Tenant, h.ID, s.Config.Now()); err != nil {
		return out, err
	}
	err = core.MaskAgentFor(tx, a, &out)
	return out, err
}

// saveAgent writes the head, if it is still the one that was read, and, where the revision is new,
// the revision.
func saveAgent(tx store.Tx, tenant string, was *records.AgentHead, version int64, next countersign.Agent) error {
	head := records.AgentHead{
		ID: next.ID, ProjectID: next.ProjectID, Revision: next.Revision, ModelID: next.ModelID,
		Status: next.Status, Suspended: next.Suspended, Retired: next.Retired, CreatedAt: next.CreatedAt, UpdatedAt: next.UpdatedAt, Budgets: next.Budgets,
	}
	if was != nil {
		head.Identities, head.IdentitiesRevision = was.Identities, was.IdentitiesRevision
	}
	if was == nil {
		if _, err := records.Agents.Add(tx, tenant, next.ID, &head); err != nil {
			return err
		}
	} else if err := records.Agents.PutSeen(tx, tenant, next.ID, &head, version); err != nil {
		return err
	}
	if was != nil && was.Revision == next.Revision {
		return nil
	}
	next.Budgets, next.Identities, next.IdentitiesRevision = nil, nil, 0 // of no revision: they count at once, for runs under way too
	// That there is no such revision needs no look: the version of the head says so.
	_, err := records.AgentRevisions.Add(tx, tenant, records.RevisionID(next.ID, next.Revision), &next)
	return err
}

// AdmitAgent lets an agent run, and ends its suspension. Budgets that are given replace
// those that it has, and count at once.
func (s *AgentService) AdmitAgent(ctx context.Context, a core.Actor, id string, d countersign.Admission) (countersign.Agent, error) {
	if err := core.WellFormed(a, d); err != nil {
		return countersign.Agent{}, err
	}
	return s.moveAgent(ctx, a, access.AdmitAgent, id, d)
}

// SuspendAgent stops new runs of an agent, and the next step of its unfinished runs. It
// doesn't stop the agent's own process (specification 3.2).
func (s *AgentService) SuspendAgent(ctx context.Context, a core.Actor, id string, d countersign.Admission) (countersign.Agent, error) {
	if err := core.WellFormed(a, d); err != nil {
		return countersign.Agent{}, err
	}
	return s.moveAgent(ctx, a, access.SuspendAgent, id, d)
}

func (s *AgentService) moveAgent(ctx context.Context, a core.Actor, op access.Operation, id string, d countersign.Admission) (out countersign.Agent, err error) {
	if err := core.Given("reason", d.Reason); err != nil {
		return out, err
	}
	a = a.Asking(id, d)
	if d.Budgets != nil && op != access.AdmitAgent {
		return out, countersign.Invalid("budgets", "they belong to POST /agents/{id}/admit")
	}
	err = s.Update(ctx, a, op, "agent/"+id, func(tx store.Tx) error {
		head, version, err := reach.Agent(tx, a, id)
		if err != nil {
			return err
		}
		if d.ExpectedRevision != nil {
			if err := core.Compare("agent", id, head.Revision, *d.ExpectedRevision); err != nil {
				return err
			}
		}
		if err := s.toggleAgent(tx, a, op, head, version, d); err != nil {
			return err
		}
		head, _, err = records.Agents.Get(tx, a.Tenant, id)
		if err != nil {
			return err
		}
		out, err = s.shownAgent(tx, a, head)
		return err
	})
	return out, err
}

func (s *AgentService) toggleAgent(tx store.Tx, a core.Actor, op access.Operation, head *records.AgentHead, version int64, d countersign.Admission) error {
	was, err := reach.AgentOf(tx, a.Tenant, head)
	if err != nil {
		return err
	}
	if op == access.AdmitAgent && was.Retired {
		return plan.Retired(plan.KindAgent, was.ID)
	}
	next, changed := agentMoves[op](was, s.Config.Now())
	weakens := false
	if d.Budgets != nil && !reflect.DeepEqual(was.Budgets, d.Budgets) && len(was.Budgets)+len(d.Budgets) > 0 {
		if err := checkAgentBudgets(tx, a.Tenant, &was, d.Budgets); err != nil {
			return err
		}
		next.Budgets, next.UpdatedAt, changed, weakens = d.Budgets, s.Config.Now(), true, budget.Weaker(was.Budgets, d.Budgets)
	}
	if !changed {
		return nil
	}
	if err := saveAgent(tx, a.Tenant, head, version, next); err != nil {
		return err
	}
	c := core.Change{Before: registered(was), After: registered(next), Reason: d.Reason, Weakens: weakens, Revision: was.Revision}
	c.Was, c.Now = core.Member("budgets", was.Budgets), core.Member("budgets", next.Budgets)
	return s.Audit(tx, a, op, "agent/"+head.ID, c)
}

var agentMoves = map[access.Operation]func(countersign.Agent, time.Time) (countersign.Agent, bool){
	access.AdmitAgent: registry.Admit, access.SuspendAgent: registry.Suspend, access.RetireAgent: registry.Retire, access.RestoreAgent: registry.Restore,
}

// registered returns the agent's registration status as audit records name it.
func registered(a countersign.Agent) string {
	text := core.RevisionText(a.Revision, a.Suspended, a.Retired) + ", " + string(a.Status)
	if n := len(a.Budgets); n > 0 {
		text += fmt.Sprintf(", %d budgets", n)
	}
	return text
}

// RetireAgent retires an agent. It doesn't stop the agent's own process, whose heartbeats
// are still recorded.
func (s *AgentService) RetireAgent(ctx context.Context, a core.Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RetireAgent, id, countersign.Admission{Reason: reason})
}

// RestoreAgent ends the retirement of an agent, which is admitted if it was before.
func (s *AgentService) RestoreAgent(ctx context.Context, a core.Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RestoreAgent, id, countersign.Admission{Reason: reason})
}
