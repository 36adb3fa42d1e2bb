package runrepo

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Looks at the state that preconditions speak of.

// lookEnv adds what an event about a look asks for.
func (l *Repository) lookEnv(tx store.Tx, h *LoadedRun, env *run.Env, a *loadedApproval, e run.Event) error {
	env.AgentLooks = func(agentID string) int {
		at, _, err := records.LooksOf(tx, h.Ref.Tenant, agentID, env.Now)
		if err != nil {
			return countersign.MaxLooksPerMinute // nobody can say: not now
		}
		return len(at)
	}
	if _, is := e.(run.Looked); !is || a.record == nil || a.record.Status != countersign.ApprovalApproved {
		return nil
	}
	backed, err := l.backed(tx, h.Ref.Tenant, a.record)
	env.Unbacked = !backed
	return err
}

// backed reports an approved approval of which enough of those who approved still count, as they
// would have to if it were decided now.
func (l *Repository) backed(tx store.Tx, tenant string, r *records.Approval) (bool, error) {
	again := *r
	again.Status = countersign.ApprovalPending
	if err := l.CountDecisions(tx, tenant, &again); err != nil {
		return false, err
	}
	return Enough(&again), nil
}

// look completes a look that is let out, and counts it.
func (l *Repository) look(tx store.Tx, h *LoadedRun, env *run.Env, res run.Result) (err error) {
	if res.Look == nil {
		return nil
	}
	if res.Look.BoundTo, err = credowner.OfProject(tx, res.Look.Project); err != nil {
		return err
	}
	if agent := res.Run.Steps[res.Look.Step].AgentID; agent != "" {
		return records.CountLook(tx, h.Ref.Tenant, agent, env.Now)
	}
	return nil
}

// lookAnswered gives the place in a budget back that a look took which never left.
func (s *spendings) lookAnswered(h *LoadedRun, e run.Event) error {
	looked, is := e.(run.Looked)
	if !is || !looked.Found.NotSent {
		return nil
	}
	if of := run.CountedLook(h.plan, &h.Run().Steps[looked.Step], looked.N); of != nil {
		return s.giveBack(of)
	}
	return nil
}

// countLook counts a look among the calls of its read.
func (s *spendings) countLook(res run.Result) error {
	if res.Look == nil {
		return nil
	}
	of := res.Look.Counted()
	if s.err = s.read(of); s.err != nil {
		return s.err
	}
	for _, p := range s.of(of) {
		if err := p.add(s.loaded.Ref.RunID+"/"+of.ID, of.Input, p.declared); err != nil {
			return err
		}
	}
	return nil
}

// seen has an approval show the state that was read, and mark one in whose place another is asked for.
func (a *loadedApproval) seen(res run.Result) {
	if res.State != nil {
		a.record.State, a.record.StateDigest, a.record.Changed = res.State, countersign.StateDigest(res.State.Capability, res.State.Values), res.StateChanged
		a.changed = true
	}
	if res.Superseded && a.record != nil && a.record.Status == countersign.ApprovalApproved {
		a.record.Superseded, a.changed = true, true
	}
}

// MayLook refuses the start of a LIVE run that will look, by an agent that has looked as often within
// the minute as it may.
func (l *Repository) MayLook(tx store.Tx, tenant string, p *countersign.Plan) error {
	if p.Mode != countersign.ModeLive {
		return nil
	}
	var agents []string
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.AgentID == "" || slices.Contains(agents, s.AgentID) || !looks(p, s) {
			continue
		}
		agents = append(agents, s.AgentID)
		at, _, err := records.LooksOf(tx, tenant, s.AgentID, l.cfg.Now())
		if err != nil {
			return err
		}
		if len(at) >= countersign.MaxLooksPerMinute {
			return quota.Exceeded("agent "+s.AgentID, countersign.MaxLooksPerMinute, "looks at preconditions within a minute", "start it again in a minute")
		}
	}
	return nil
}

func looks(p *countersign.Plan, s *countersign.Step) bool {
	c := capabilityOf(p, &countersign.StepRun{ProjectID: s.ProjectID, Capability: s.Capability})
	return c != nil && c.Precondition != nil
}
