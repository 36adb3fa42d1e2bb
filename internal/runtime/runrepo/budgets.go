package runrepo

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Budgets are judged, and what is sent is counted, in the transaction that commits the
// intent to send: no two steps can both find the last of a budget free, on any replica.

// spendings are what was used of the budgets that concern the open steps of a run. Each
// capability and agent is read once.
type spendings struct {
	tx     store.Tx
	loaded *LoadedRun
	env    run.Env
	known  map[string]*spending
	order  []*spending // of reading
	agents map[string][]countersign.Budget
	steps  map[string][]spent // by step id
}

// spent is a step's place in one of them.
type spent struct {
	*spending
	declared func(input string) bool
	own      int64 // the number of its entry, -1: it wasn't sent yet
}

// loadSpendings reads them for a LIVE run that may begin a step.
func loadSpendings(tx store.Tx, h *LoadedRun, env run.Env) (*spendings, error) {
	s := &spendings{tx: tx, loaded: h, env: env}
	if h.Run().Mode != countersign.ModeLive || h.Run().Status.IsTerminal() || env.Stopped {
		return s, nil
	}
	for i := range h.Run().Steps {
		step := &h.Run().Steps[i]
		if step.Status != countersign.StepPending && step.Status != countersign.StepWaitingApproval {
			continue
		}
		if err := s.step(step); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *spendings) step(step *countersign.StepRun) error {
	c := capabilityOf(s.loaded.plan, step)
	if c == nil {
		return nil
	}
	declared := func(input string) bool { return c.InputSchema[input].Type == "number" }
	if len(c.Budgets) > 0 {
		if err := s.add(step, records.SpendingOfCapability(step.ProjectID, step.Capability), c.Budgets, declared); err != nil {
			return err
		}
	}
	if step.AgentID == "" {
		return nil
	}
	budgets, known := s.agents[step.AgentID]
	if !known {
		head, _, err := records.Agents.Get(s.tx, s.loaded.Ref.Tenant, step.AgentID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			budgets = head.Budgets
		}
		if s.agents == nil {
			s.agents = map[string][]countersign.Budget{}
		}
		s.agents[step.AgentID] = budgets
	}
	if len(budgets) == 0 {
		return nil
	}
	return s.add(step, records.SpendingOfAgent(step.AgentID), budgets, declared)
}

func (s *spendings) add(step *countersign.StepRun, id string, budgets []countersign.Budget, declared func(input string) bool) (err error) {
	if s.known == nil {
		s.known, s.steps = map[string]*spending{}, map[string][]spent{}
	}
	of := s.known[id]
	if of == nil {
		if of, err = loadSpending(s.tx, s.loaded.Ref.Tenant, id, budgets, s.env.Now); err != nil {
			return err
		}
		s.known[id], s.order = of, append(s.order, of)
	}
	own := int64(-1)
	if step.Attempt > 0 {
		if own, err = of.find(s.loaded.Ref.RunID + "/" + step.ID); err != nil {
			return err
		}
	}
	s.steps[step.ID] = append(s.steps[step.ID], spent{of, declared, own})
	return nil
}

// used is what run.Apply is told.
func (s *spendings) used() map[string][]budget.Used {
	out := make(map[string][]budget.Used, len(s.steps))
	for id, places := range s.steps {
		for _, p := range places {
			out[id] = append(out[id], p.used(p.declared, p.own)...)
		}
	}
	return out
}

// count counts a step whose intent to send is committed, and saves what has changed.
func (s *spendings) count(res run.Result) error {
	if res.Call != nil {
		step := &res.Run.Steps[res.Call.Step]
		digest := ""
		if step.ApprovalID == "" {
			digest = step.RequestDigest.Text()
		}
		for _, p := range s.steps[step.ID] {
			if err := p.add(s.loaded.Ref.RunID+"/"+step.ID, p.own, digest, step.Input, p.declared); err != nil {
				return err
			}
			digest = "" // a capability's and an agent's budgets name it once
		}
	}
	for _, of := range s.order {
		if err := of.save(); err != nil {
			return err
		}
	}
	return nil
}

func capabilityOf(p *countersign.Plan, step *countersign.StepRun) *countersign.Capability {
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == step.ProjectID {
			return p.ProjectSnapshots[i].Capability(step.Capability)
		}
	}
	return nil
}
