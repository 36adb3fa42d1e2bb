package agents

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// HeardAgents is a page of agents with their liveness, and the number of all agents of
// each liveness.
type HeardAgents struct {
	Page      countersign.Page[countersign.Agent]
	Counts    map[countersign.Liveness]int
	Instances map[string]int // number of instances, by agent of the page
}

// HeardAgents lists the agents within the actor's scope by id; is narrows the list to one
// liveness unless it is "". Liveness changes with time alone and so is no column: every
// agent in scope is checked, with three index reads each.
func (s *AgentService) HeardAgents(ctx context.Context, a core.Actor, l core.List, is countersign.Liveness) (out HeardAgents, err error) {
	err = s.View(ctx, a, access.ListAgents, func(tx store.Tx) error {
		heads, err := s.heardHeads(tx, a, l, is, &out)
		if err != nil {
			return err
		}
		shown := heads[min(l.Offset, len(heads)):min(l.Offset+l.Limit, len(heads))]
		items := make([]countersign.Agent, 0, len(shown))
		out.Instances = map[string]int{}
		for i := range shown {
			id := shown[i].ID
			agent, err := s.shownAgent(tx, a, &shown[i])
			if passed, err := s.Passes(store.Agents, a.Tenant, id, err); err != nil {
				return err
			} else if passed {
				continue
			}
			items = append(items, agent)
			if out.Instances[id], err = tx.Count(store.Instances, a.Tenant, store.Query{Where: []store.Filter{store.Equal("agent", id)}}); err != nil {
				return err
			}
		}
		out.Page = core.PageBehind(items, l.Offset, len(shown), len(heads))
		return nil
	})
	return out, err
}

// heardHeads counts all agents in scope and returns those of the requested liveness.
func (s *AgentService) heardHeads(tx store.Tx, a core.Actor, l core.List, is countersign.Liveness, out *HeardAgents) ([]records.AgentHead, error) {
	heads, err := unreadable.List(s.Config.Unreadable, tx, "agent", records.Agents, a.Tenant, store.Query{Where: l.Current(reach.OwnProjects(a, "project")...)})
	if err != nil {
		return nil, err
	}
	out.Counts = map[countersign.Liveness]int{}
	var asked []records.AgentHead
	for _, h := range heads {
		now, _, err := livenessOf(tx, a.Tenant, h.ID, s.Config.Now())
		if err != nil {
			return nil, err
		}
		out.Counts[now]++
		if is == "" || is == now {
			asked = append(asked, h)
		}
	}
	return asked, nil
}

// AgentsNamed reads the agents with these ids that exist within the actor's scope,
// without their instances.
func (s *AgentService) AgentsNamed(ctx context.Context, a core.Actor, ids []string) (out []countersign.Agent, err error) {
	err = s.View(ctx, a, access.ListAgents, func(tx store.Tx) error {
		out = nil
		for _, id := range ids {
			head, _, err := reach.Agent(tx, a, id)
			switch countersign.ErrorCode(err) {
			case countersign.CodeNotFound, countersign.CodeProjectScope:
				continue
			}
			if err != nil {
				return err
			}
			shown, err := s.shownAgent(tx, a, head)
			if err != nil {
				return err
			}
			out = append(out, shown)
		}
		return nil
	})
	return out, err
}
