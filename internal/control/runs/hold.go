package runs

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RedactionService is the use cases of what a run holds for how long: holds and redaction.
type RedactionService struct {
	*core.Core
	runs *RunService
}

// NewRedactions returns the use cases.
func NewRedactions(c *core.Core, runs *RunService) *RedactionService {
	return &RedactionService{Core: c, runs: runs}
}

// HoldRun has a run kept from being redacted and archived, or ends that, which weakens.
func (s *RedactionService) HoldRun(ctx context.Context, a core.Actor, id string, w countersign.HoldWrite) (countersign.Run, error) {
	if err := core.WellFormed(a, w); err != nil {
		return countersign.Run{}, err
	}
	if err := core.Given("reason", w.Reason); err != nil {
		return countersign.Run{}, err
	}
	a = a.Asking(id, w)
	k := kept{id: id, op: access.HoldRun}
	return s.change(ctx, a, &k, func(tx store.Tx) error {
		if (k.run.Hold != nil) == w.Hold {
			return nil
		}
		if k.run.Redacted != nil {
			return countersign.Errorf(countersign.CodeStateConflict, "run %s was redacted on %s; nothing of it is left to be held", id, k.run.Redacted.At.UTC().Format("2006-01-02"))
		}
		var hold *countersign.RunHold
		change := core.Change{Before: "HELD", After: "NOT_HELD", Reason: w.Reason, Weakens: true, Was: core.Member("hold", k.run.Hold), Now: core.Members(nil)}
		if w.Hold {
			hold = &countersign.RunHold{By: a.ID, At: s.Config.Now(), Reason: w.Reason}
			change = core.Change{Before: "NOT_HELD", After: "HELD", Reason: w.Reason}
		}
		if err := s.hold(tx, a, &k, hold); err != nil {
			return err
		}
		return s.Audit(tx, a, access.HoldRun, "run/"+id, change)
	})
}

func (s *RedactionService) hold(tx store.Tx, a core.Actor, k *kept, hold *countersign.RunHold) (err error) {
	if k.left == nil {
		k.moved, err = s.Repo.Amend(tx, runrepo.Ref{Tenant: a.Tenant, RunID: k.id}, func(r *records.Run) { r.Hold = hold })
		return err
	}
	k.left.Run.Hold = hold
	_, err = records.ArchivedRuns.Put(tx, a.Tenant, k.id, k.left, k.version)
	return err
}

// kept is a run that is to be held or redacted, archived or not.
type kept struct {
	id  string
	op  access.Operation
	run *countersign.Run

	asked   access.Requester
	left    *records.Archived // of an archived run, with its version
	version int64
	moved   *runrepo.LoadedRun // once it has changed, if it isn't archived
}

// find reads it, if the actor reaches it.
func (k *kept) find(tx store.Tx, a core.Actor) error {
	rec, _, err := records.Runs.Get(tx, a.Tenant, k.id)
	if err == nil {
		k.run, k.asked = &rec.Run, rec.Requester
		return access.InRun(a.Principal, rec.AgentID, rec.Projects...)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if k.left, k.version, err = records.ArchivedRuns.Get(tx, a.Tenant, k.id); err != nil {
		return reach.FoundRun(tx, a, k.id, err)
	}
	k.run, k.asked = &k.left.Run, k.left.AskedBy()
	return access.InRun(a.Principal, k.left.Run.AgentID, k.left.Projects...)
}

// change finds the run and changes it in one transaction, and shows it as it is then: of an archived
// run what is left of it.
func (s *RedactionService) change(ctx context.Context, a core.Actor, k *kept, change func(tx store.Tx) error) (r countersign.Run, err error) {
	of := *k
	err = s.Update(ctx, a, k.op, "run/"+k.id, func(tx store.Tx) error {
		*k = of
		if err := k.find(tx, a); err != nil {
			return err
		}
		return change(tx)
	})
	if err != nil {
		return r, err
	}
	if k.moved != nil {
		s.runs.moved(k.moved)
	}
	ctx = context.WithoutCancel(ctx) // it is done: no answer may say any more that nothing was changed
	err = s.Read(ctx, func(tx store.Tx) (err error) {
		if k.left != nil {
			r, err = s.shownLeft(tx, a, k.id)
		} else {
			r, err = s.runs.WholeRun(tx, a, k.id)
		}
		return err
	})
	return r, err
}
