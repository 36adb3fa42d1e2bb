package agents

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Offer is what an agent can be asked to do: the capabilities of its manifest that its
// project has now, in the manifest's order. Each start decides whether it may run.
type Offer struct {
	Agent        countersign.Agent
	Capabilities []countersign.Capability
}

// AgentOffer reads an agent with its capabilities in one snapshot, for a caller who may
// start its runs.
func (s *AgentService) AgentOffer(ctx context.Context, a core.Actor, id string) (o Offer, err error) {
	err = s.View(ctx, a, access.StartAgentRun, func(tx store.Tx) error {
		head, _, err := reach.Agent(tx, a, id)
		if err != nil {
			return err
		}
		o, err = s.offerOf(tx, a.Tenant, head)
		return err
	})
	return o, s.Refuse(ctx, a, access.StartAgentRun, "agent/"+id, err)
}

func (s *AgentService) offerOf(tx store.Tx, tenant string, head *records.AgentHead) (o Offer, err error) {
	if o.Agent, err = reach.AgentOf(tx, tenant, head); err != nil {
		return o, err
	}
	system, _, err := records.Projects.Get(tx, tenant, head.ProjectID)
	if err != nil {
		return o, err
	}
	p, err := reach.ProjectOf(s.Config.Allowed, tx, tenant, *system)
	if err != nil {
		return o, err
	}
	for _, name := range o.Agent.Capabilities {
		if c := p.Capability(name); c != nil {
			o.Capabilities = append(o.Capabilities, *c)
		}
	}
	return o, nil
}
