package runs

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Asker puts questions, whose intents are committed, to receivers, and commits what they say.
type Asker interface {
	Question(ref runrepo.Ref, q *run.Question, withdraw bool) (countersign.SettlementRecord, error)
}

// SettleRun ends an uncertain step by what its receiver has signed, or has the receiver withdraw a
// key that it never saw (contract 12.6).
func (s *ProbeService) SettleRun(ctx context.Context, a core.Actor, id string, w countersign.Settle) (countersign.Run, error) {
	if err := core.WellFormed(a, w); err != nil {
		return countersign.Run{}, err
	}
	if err := core.Given("reason", w.Reason); err != nil {
		return countersign.Run{}, err
	}
	mayJudge := s.MayJudgeRun(a, access.SettleRun)
	check := func(tx store.Tx, rec *records.Run) error {
		if err := mayJudge(tx, rec); err != nil {
			return err
		}
		return s.runs.quiet(runrepo.Ref{Tenant: a.Tenant, RunID: id}, rec)
	}
	if w.Action == countersign.SettleWithdraw {
		return s.askReceiver(ctx, a, access.SettleRun, id, check, run.Asking{Withdraw: true, By: a.ID, Reason: w.Reason, N: w.N}, w.StepID)
	}
	return s.runs.applyTo(ctx, a, access.SettleRun, id, check, run.Settling{Settle: w, By: a.ID})
}

// quiet refuses a step whose call is under way in this process, whatever a clock that was set says.
func (s *RunService) quiet(ref runrepo.Ref, rec *records.Run) error {
	waits := rec.WaitingFor != nil && s.Config.Now().Before(rec.WaitingFor.NotBefore)
	if !waits && s.driver.Calls(ref) {
		return countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; the call of its step is under way in this very process; say what became of it when it has ended", ref.RunID, rec.Status)
	}
	return nil
}

// askReceiver commits the intent of a question, asks it, and answers with the run as it is then.
func (s *ProbeService) askReceiver(ctx context.Context, a core.Actor, op access.Operation, id string, check func(store.Tx, *records.Run) error, e run.Asking, stepID string) (countersign.Run, error) {
	ref := runrepo.Ref{Tenant: a.Tenant, RunID: id}
	var moved runrepo.Moved
	err := s.Update(ctx, a, op, "run/"+id, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, id)
		if err != nil {
			return err
		}
		if err := check(tx, rec); err != nil {
			return err
		}
		held, err := s.Repo.Load(tx, ref)
		if err != nil {
			return err
		}
		if e.Step = slices.IndexFunc(held.Run().Steps, func(st countersign.StepRun) bool { return st.ID == stepID }); e.Step < 0 {
			return countersign.Errorf(countersign.CodeInvalidRequest, "stepId: run %s has no step %s", id, stepID)
		}
		moved, err = s.Repo.Apply(tx, ref, held, e, a.RunActor())
		return err
	})
	if err != nil {
		return countersign.Run{}, err
	}
	s.runs.Settled(ctx, moved)
	ctx = context.WithoutCancel(ctx) // what is asked is kept, even if the client has disconnected
	if _, err := s.runs.driver.Question(ref, moved.Question, e.Withdraw); err != nil {
		return countersign.Run{}, core.Public(err)
	}
	return s.afterProbe(ctx, a, id)
}

// askByProbe asks the receiver beside a reviewer's probe, where the project has a settlement.
// done: the probe itself is not to be sent, since there is none, or the step is settled.
func (s *ProbeService) askByProbe(ctx context.Context, a core.Actor, ref runrepo.Ref, stepID string) (r countersign.Run, done bool, err error) {
	var asks, probes bool
	err = s.Read(ctx, func(tx store.Tx) error {
		held, err := s.Repo.Load(tx, ref)
		if err != nil {
			return nil //nolint:nilerr // the probe says what is wrong
		}
		for i := range held.Run().Steps {
			if st := &held.Run().Steps[i]; st.ID == stepID && st.Status == countersign.StepRecoveryRequired {
				asks = run.SettlementOf(held.Plan(), st) != nil
				_, c := mask.TargetOf(held.Plan(), st.ProjectID, st.Capability)
				probes = c != nil && c.Probe != ""
			}
		}
		return nil
	})
	if err != nil || !asks {
		return r, false, err
	}
	r, err = s.askReceiver(ctx, a, access.ProbeRun, ref.RunID, s.MayJudgeRun(a, access.ProbeRun), run.Asking{}, stepID)
	if err != nil {
		return r, true, err
	}
	return r, !probes || r.Status != countersign.RunRecoveryRequired, nil
}
