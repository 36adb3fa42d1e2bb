package runs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RunCounts counts, by present status, the runs within the actor's scope that were started
// during an interval.
type RunCounts struct {
	From, To time.Time // To excluded
	Runs     map[countersign.RunStatus]int
}

// RunCountsOver counts the runs of n consecutive intervals. Each count reads a range of an
// index and no run.
func (s *RunService) RunCountsOver(ctx context.Context, a core.Actor, from time.Time, width time.Duration, n int) (counts []RunCounts, err error) {
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		scope, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		counts = make([]RunCounts, n)
		for i := range counts {
			t := &counts[i]
			t.From = from.Add(time.Duration(i) * width)
			t.To = t.From.Add(width)
			if t.Runs, err = countRuns(tx, a, scope, t.From, t.To); err != nil {
				return err
			}
		}
		return nil
	})
	return counts, err
}

func countRuns(tx store.Tx, a core.Actor, scope []store.Filter, from, to time.Time) (map[countersign.RunStatus]int, error) {
	counts := map[countersign.RunStatus]int{}
	for _, status := range countersign.RunStatuses {
		where := slices.Concat(scope, []store.Filter{
			store.Equal("status", string(status)),
			{Column: "created", Op: store.AtLeast, Values: []any{from.UnixMicro()}},
			{Column: "created", Op: store.AtMost, Values: []any{to.UnixMicro() - 1}},
		})
		n, err := tx.Count(store.Runs, a.Tenant, store.Query{Where: where})
		if err != nil {
			return nil, err
		}
		counts[status] = n
	}
	return counts, nil
}

// PlanNames returns the names of these runs' plans that are in scope.
func (s *RunService) PlanNames(ctx context.Context, a core.Actor, runs []countersign.Run) (names map[string]string, err error) {
	err = s.View(ctx, a, access.ReadPlans, func(tx store.Tx) error {
		names = map[string]string{}
		for i := range runs {
			id := runs[i].PlanID
			if _, known := names[id]; known {
				continue
			}
			p, err := s.Repo.Plan(tx, a.Tenant, id, runs[i].PlanDigest)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if access.InScope(a.Principal, records.ProjectsOf(p)...) == nil {
				names[id] = p.Name
			}
		}
		return nil
	})
	return names, err
}
