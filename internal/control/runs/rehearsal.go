package runs

import (
	"context"
	"errors"

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

// Rehearsal compares what a LIVE run sends with the last rehearsal of the same plan content.
func (s *RunService) Rehearsal(ctx context.Context, a core.Actor, id string) (out countersign.Rehearsal, err error) {
	err = s.View(ctx, a, access.ReadRehearsal, func(tx store.Tx) error {
		if _, err := reach.Run(tx, a, id); err != nil {
			return err
		}
		live, err := s.Repo.Load(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
		if err != nil {
			return err
		}
		out, err = s.compare(tx, a, live)
		return err
	})
	return out, err
}

func (s *RunService) compare(tx store.Tx, a core.Actor, live *runrepo.LoadedRun) (countersign.Rehearsal, error) {
	r := live.Run()
	out := countersign.Rehearsal{RunID: r.ID, PlanDigest: r.PlanDigest, Verdict: countersign.RehearsalNone, Steps: []countersign.RehearsedStep{}}
	if r.Mode != countersign.ModeLive {
		return out, countersign.Errorf(countersign.CodeStateConflict, "run %s is itself a rehearsal; only a LIVE run can be compared", r.ID)
	}
	if r.Redacted != nil {
		return out, countersign.Errorf(countersign.CodeStateConflict, "run %s was redacted; nothing of it is left to be compared", r.ID)
	}
	last, _, err := records.Rehearsals.Get(tx, a.Tenant, r.PlanDigest)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	if err == nil {
		rehearsed, err := s.Repo.Read(tx, runrepo.Ref{Tenant: a.Tenant, RunID: last.RunID})
		if err != nil {
			return out, err
		}
		out = run.Compare(live.Plan(), r, &rehearsed.Run)
	}
	if core.Masks(a) {
		mask.Rehearsal(&out, live.Plan(), r.Steps)
	}
	return out, nil
}
