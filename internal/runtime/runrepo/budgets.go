package runrepo

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Budgets are judged, and what is sent is counted, in the transaction that commits the
// intent to send: no two steps can both find the last of a budget free, on any replica.

// spendings are what was used of the budgets that concern the step of a run that comes to
// the gate. Each capability and agent is read once, and none for an event that begins no step.
type spendings struct {
	repository *Repository
	tx         store.Tx
	loaded     *LoadedRun
	now        time.Time
	known      []*spending // in the order of reading
	places     []spent
	err        error // nothing may be committed
}

// spent is a step's place in one of them.
type spent struct {
	*spending
	step     string
	declared func(input string) bool
	own      int64 // the number of its entry, -1: it wasn't sent yet
}

// used is what run.Apply asks for.
func (s *spendings) used(step *countersign.StepRun) (out []budget.Used) {
	if s.err == nil {
		s.err = s.read(step)
	}
	for _, p := range s.of(step) {
		out = append(out, p.used(p.declared, p.own)...)
	}
	return out
}

// of are a step's places.
func (s *spendings) of(step *countersign.StepRun) []spent {
	first := slices.IndexFunc(s.places, func(p spent) bool { return p.step == step.ID })
	if first < 0 {
		return nil
	}
	n := slices.IndexFunc(s.places[first:], func(p spent) bool { return p.step != step.ID })
	if n < 0 {
		return s.places[first:]
	}
	return s.places[first : first+n]
}

func (s *spendings) read(step *countersign.StepRun) error {
	c := capabilityOf(s.loaded.plan, step)
	if c == nil || len(s.of(step)) > 0 {
		return nil
	}
	if err := s.add(step, c, records.SpendingOfCapability(step.ProjectID, step.Capability), c.Budgets); err != nil || step.AgentID == "" {
		return err
	}
	budgets, err := s.repository.agentBudgets(s.tx, s.loaded.Ref.Tenant, step.AgentID)
	if err != nil {
		return err
	}
	return s.add(step, c, records.SpendingOfAgent(step.AgentID), budgets)
}

func (s *spendings) add(step *countersign.StepRun, c *countersign.Capability, id string, budgets []countersign.Budget) (err error) {
	if len(budgets) == 0 {
		return nil
	}
	var of *spending
	if i := slices.IndexFunc(s.known, func(k *spending) bool { return k.id == id }); i >= 0 {
		of = s.known[i]
	} else if of, err = s.repository.loadSpending(s.tx, s.loaded.Ref.Tenant, id, budgets, s.now); err != nil {
		return err
	} else {
		s.known = append(s.known, of)
	}
	own := int64(-1)
	if step.Attempt > 0 {
		if own, err = of.find(s.loaded.Ref.RunID+"/"+step.ID, step.StartedAt); err != nil {
			return err
		}
	}
	declared := func(input string) bool { return c.InputSchema[input].IsNumber() }
	s.places = append(s.places, spent{of, step.ID, declared, own})
	return nil
}

// count counts a step whose intent to send is committed, and saves what has changed. sent is
// what the step is found by from now on, "" for one that has an approval or was sent before.
func (s *spendings) count(res run.Result) (sent string, err error) {
	if err := s.countLook(res); err != nil {
		return "", err
	}
	if res.Call != nil {
		step := &res.Run.Steps[res.Call.Step]
		for _, p := range s.of(step) {
			if p.own >= 0 { // it counts at its last sending
				if err := p.void(p.own); err != nil {
					return "", err
				}
			}
			if err := p.add(s.loaded.Ref.RunID+"/"+step.ID, step.Input, p.declared); err != nil {
				return "", err
			}
			if step.ApprovalID == "" && p.own < 0 {
				sent = records.SentKey(step.RequestDigest.Text(), p.now)
			}
		}
	}
	for _, of := range s.known {
		if err := of.save(s.repository); err != nil {
			return "", err
		}
	}
	return sent, nil
}

// giveBack gives the place of a step back of which nothing was ever sent. Nothing else does:
// neither what a person says of a sending nor what its receiver does.
func (s *spendings) giveBack(step *countersign.StepRun) error {
	if s.err = s.read(step); s.err != nil {
		return s.err
	}
	for _, p := range s.of(step) {
		if p.own >= 0 {
			if err := p.void(p.own); err != nil {
				return err
			}
		}
	}
	return nil
}

// neverLeft is the step whose only sending turned out never to have left, nil for none.
func neverLeft(e run.Event, res run.Result) *countersign.StepRun {
	outcome, is := e.(run.Returned)
	if !is || outcome.Outcome.Certainty != request.NotSent || res.Unchanged() {
		return nil
	}
	if s := &res.Run.Steps[outcome.Step]; s.Attempt == outcome.Attempt && s.Status == countersign.StepFailed && !s.WasSent() {
		return s
	}
	return nil
}

// agentBudgets reads an agent's budgets in the transaction, and decodes its head unless this
// very document was decoded before.
func (l *Repository) agentBudgets(tx store.Tx, tenant, id string) ([]countersign.Budget, error) {
	row, err := store.Look(tx, store.Agents, tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stamp := cache.StampOf(tenant, id, row.Version, row.Doc)
	if known, ok := l.budgets.Get(stamp); ok {
		return known, nil
	}
	var head records.AgentHead
	if err := records.Decode(row, &head); err != nil {
		return nil, err
	}
	l.budgets.Put(stamp, head.Budgets)
	return head.Budgets, nil
}

func capabilityOf(p *countersign.Plan, step *countersign.StepRun) *countersign.Capability {
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == step.ProjectID {
			return p.ProjectSnapshots[i].Capability(step.Capability)
		}
	}
	return nil
}
