package control

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// showWithSame is showApproval plus the other runs with the same request. That reveals as
// much as the request itself, so an actor to whom the request is masked doesn't get it.
func (s *Service) showWithSame(tx store.Tx, a Actor, ap *countersign.Approval) (err error) {
	if err := s.showApproval(tx, a, ap); err != nil || ap.RequestDigest == "" {
		return err
	}
	ap.Same, err = s.sameRequests(tx, a, ap)
	return err
}

// Bounds on the search for other runs with the same request: how far back, how many are
// named, how many approvals are read, and how many are in memory at a time.
const (
	sameWithin  = 90 * 24 * time.Hour
	maxSame     = 10
	maxSameRead = 200
	sameBatch   = 16
)

var errEnough = errors.New("enough was found")

// sameRequests finds the steps of other runs in scope with the same request digest. The
// digest contains the project's revision, so if this request needs an approval, the
// others did too: they are all found among the approvals.
func (s *Service) sameRequests(tx store.Tx, a Actor, ap *countersign.Approval) (out []countersign.SameRequest, err error) {
	seen := map[string]bool{}
	err = records.Approvals.Each(tx, a.Tenant, store.Query{Order: newestFirst, Limit: maxSameRead, Where: []store.Filter{
		store.Equal("digest", ap.RequestDigest),
		{Column: "created", Op: store.AtLeast, Values: []any{s.cfg.Now().Add(-sameWithin).UnixMicro()}},
	}}, sameBatch, func(other *records.Approval) error {
		key := other.RunID + "/" + other.StepID // attempts of one step count once
		if other.RunID == ap.RunID || seen[key] {
			return nil
		}
		seen[key] = true
		same, err := sameStep(tx, a, &other.Approval)
		if err != nil || same == nil {
			return err
		}
		if out = append(out, *same); len(out) == maxSame {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// sameStep returns the step of another approval; nil if the actor may not see its run or
// the run is archived.
func sameStep(tx store.Tx, a Actor, ap *countersign.Approval) (*countersign.SameRequest, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, ap.RunID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || access.InScope(a.Principal, rec.Projects...) != nil {
		return nil, err
	}
	var out *countersign.SameRequest
	err = runrepo.EachStep(tx, runrepo.Ref{Tenant: a.Tenant, RunID: ap.RunID}, 0, func(step *countersign.StepRun) {
		if step.ID == ap.StepID {
			out = &countersign.SameRequest{RunID: ap.RunID, StepID: step.ID, Status: step.Status, At: ap.RequestedAt}
		}
	})
	return out, err
}
