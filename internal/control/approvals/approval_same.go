package approvals

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// showWithSame is ShowApproval plus the other runs with the same request. That reveals as
// much as the request itself, so an actor to whom the request is masked doesn't get it.
func (s *ApprovalService) showWithSame(tx store.Tx, a core.Actor, ap *countersign.Approval) (err error) {
	if err := s.ShowApproval(names.In(tx, a.Tenant), a, ap); err != nil || ap.RequestDigest == "" {
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
// digest contains the project's revision and the inputs, so if this request needs an
// approval, the others did too and are found among the approvals, unless a budget asks:
// those that it let out before are named apart.
func (s *ApprovalService) sameRequests(tx store.Tx, a core.Actor, ap *countersign.Approval) (out []countersign.SameRequest, err error) {
	seen := map[string]bool{}
	err = records.Approvals.EachReadable(tx, a.Tenant, store.Query{Order: core.NewestFirst, Limit: maxSameRead, Where: []store.Filter{
		store.Equal("digest", ap.RequestDigest),
		{Column: "created", Op: store.AtLeast, Values: []any{s.Config.Now().Add(-sameWithin).UnixMicro()}},
	}}, sameBatch, func(other *records.Approval) error {
		key := other.RunID + "/" + other.StepID // attempts of one step count once
		if other.RunID == ap.RunID || seen[key] {
			return nil
		}
		seen[key] = true
		same, err := s.sameStep(tx, a, &other.Approval)
		if err != nil || same == nil {
			return err
		}
		if out = append(out, *same); len(out) == maxSame {
			return errEnough
		}
		return nil
	}, s.Damaged(store.Approvals, a.Tenant))
	if err != nil && !errors.Is(err, errEnough) {
		return out, err
	}
	if out, err = s.sameUnasked(tx, a, ap, seen, out); err != nil {
		return out, err
	}
	slices.SortStableFunc(out, func(x, y countersign.SameRequest) int { return y.At.Compare(x.At) })
	return out[:min(len(out), maxSame)], nil
}

// sameUnasked adds the newest steps that budgets let out without an approval.
func (s *ApprovalService) sameUnasked(tx store.Tx, a core.Actor, ap *countersign.Approval, seen map[string]bool, out []countersign.SameRequest) ([]countersign.SameRequest, error) {
	since := s.Config.Now().Add(-sameWithin)
	found, err := s.sentSteps(tx, a.Tenant, ap.RequestDigest, since)
	if err != nil {
		return out, err
	}
	first, last := records.SentRequestsSince(ap.RequestDigest, since)
	earlier, err := unreadable.List(s.Config.Unreadable, tx, "sent request", records.SentRequests, a.Tenant, store.Query{
		Where: between("id", first, last), Order: []store.Order{{Column: "id", Descending: true}}, Limit: maxSameRead,
	})
	if err != nil {
		return out, err
	}
	found = append(found, earlier...)
	slices.SortStableFunc(found, func(x, y records.SentRequest) int { return y.At.Compare(x.At) })
	added := 0
	for _, sent := range found {
		key := sent.RunID + "/" + sent.StepID
		if sent.RunID == ap.RunID || seen[key] || added == maxSame {
			continue
		}
		seen[key] = true
		same, err := s.sameStep(tx, a, &countersign.Approval{RunID: sent.RunID, StepID: sent.StepID, RequestedAt: sent.At})
		if err != nil {
			return out, err
		}
		if same != nil {
			out, added = append(out, *same), added+1
		}
	}
	return out, nil
}

// sentSteps are the steps with a request that were sent since a time, the newest first.
func (s *ApprovalService) sentSteps(tx store.Tx, tenant, digest string, since time.Time) (out []records.SentRequest, err error) {
	first, last := records.SentSince(digest, since)
	q := store.Query{Where: between("sent", first, last), Order: []store.Order{{Column: "sent", Descending: true}}, Limit: sameBatch}
	for ; q.Offset < maxSameRead; q.Offset += sameBatch {
		rows, err := tx.List(store.Steps, tenant, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			var step struct {
				ID            string                 `json:"id"`
				RequestDigest countersign.StepDigest `json:"requestDigest"`
			}
			passed, err := s.Passes(store.Steps, tenant, row.ID, records.Decode(row, &step))
			if err != nil {
				return nil, err
			}
			if passed || step.RequestDigest.Text() != digest {
				continue
			}
			out = append(out, records.SentRequest{RunID: row.Keys[0].(string), StepID: step.ID, At: records.SentAt(row.Keys[2].(string))})
		}
		if len(rows) < sameBatch {
			break
		}
	}
	return out, nil
}

func between(column, first, last string) []store.Filter {
	return []store.Filter{{Column: column, Op: store.AtLeast, Values: []any{first}}, {Column: column, Op: store.AtMost, Values: []any{last}}}
}

// sameStep returns the step of another approval; nil if the actor may not see its run, or the
// run is archived or can't be read.
func (s *ApprovalService) sameStep(tx store.Tx, a core.Actor, ap *countersign.Approval) (same *countersign.SameRequest, err error) {
	same, err = stepOf(tx, a, ap)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	_, err = s.Passes(store.Runs, a.Tenant, ap.RunID, err)
	return same, err
}

func stepOf(tx store.Tx, a core.Actor, ap *countersign.Approval) (*countersign.SameRequest, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, ap.RunID)
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
