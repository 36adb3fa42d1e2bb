package control

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What a reviewer reads before a decision. None of it decides or is recorded:
// whether a decision is taken, the decision itself says.

// MayDecide is the refusal that deciding this approval now would meet, nil for
// none: so that nobody reads a page to its end to learn that somebody else must.
func (s *Service) MayDecide(ctx context.Context, a Actor, id string) error {
	return s.view(ctx, a, access.DecideApproval, func(tx store.Tx) error {
		_, err := s.decidable(tx, a, id)
		return err
	})
}

// MayReconcile is the refusal that probing or reconciling this run meets for
// who asks, nil for none. Of the run's state it says nothing.
func (s *Service) MayReconcile(ctx context.Context, a Actor, id string) error {
	return s.view(ctx, a, access.ReconcileRun, func(tx store.Tx) error {
		rec, err := reachRun(tx, a, id)
		if err != nil {
			return err
		}
		return s.judges(a, access.ReconcileRun)(tx, rec)
	})
}

// How many approved approvals are looked through for one of the same capability,
// and how many of them at a time: each holds a whole request.
const (
	lookedBack   = 200
	lookedAtOnce = 20
)

// ApprovedBefore is the approval that was approved last before this one was
// asked for, of the same project and capability; nil where there is none among
// the latest ones.
func (s *Service) ApprovedBefore(ctx context.Context, a Actor, id string) (out *countersign.Approval, err error) {
	err = s.view(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		rec, err := reachApproval(tx, a, id)
		if err != nil {
			return err
		}
		out, err = approvedBefore(tx, a.Tenant, &rec.Approval)
		if err != nil || out == nil {
			return err
		}
		return s.showApproval(tx, a, out)
	})
	return out, err
}

func approvedBefore(tx store.Tx, tenant string, this *countersign.Approval) (*countersign.Approval, error) {
	q := store.Query{Order: newestFirst, Limit: lookedAtOnce, Where: []store.Filter{
		store.Equal("status", string(countersign.ApprovalApproved)),
		{Column: "created", Op: store.AtMost, Values: []any{this.RequestedAt.UnixMicro()}},
	}}
	for ; q.Offset < lookedBack; q.Offset += lookedAtOnce {
		found, err := records.Approvals.List(tx, tenant, q)
		if err != nil {
			return nil, err
		}
		for i := range found {
			other := &found[i].Approval
			if other.ID != this.ID && other.ProjectID == this.ProjectID && other.Capability == this.Capability {
				return other, nil
			}
		}
		if len(found) < lookedAtOnce {
			break
		}
	}
	return nil, nil
}

// Queue is where an approval stands among those that wait, the one that was
// asked for first in front. Before and After are its neighbours, "" at an end.
type Queue struct {
	Before, After string
	At, Total     int
}

// ApprovalQueue says where an approval stands among those that wait within the
// actor's scope. One that waits no more has neighbours too, and no place.
func (s *Service) ApprovalQueue(ctx context.Context, a Actor, id string) (q Queue, err error) {
	err = s.view(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		rec, err := reachApproval(tx, a, id)
		if err != nil {
			return err
		}
		where, err := records.InScope(tx, store.Approvals, a.Principal)
		if err != nil {
			return err
		}
		where = append(where, store.Equal("status", string(countersign.ApprovalPending)))
		q, err = queueAround(tx, a.Tenant, where, &rec.Approval)
		return err
	})
	return q, err
}

func queueAround(tx store.Tx, tenant string, where []store.Filter, this *countersign.Approval) (q Queue, err error) {
	at := this.RequestedAt.UnixMicro()
	upTo := slices.Concat(where, []store.Filter{{Column: "created", Op: store.AtMost, Values: []any{at}}})
	from := slices.Concat(where, []store.Filter{{Column: "created", Op: store.AtLeast, Values: []any{at}}})
	if q.Total, err = tx.Count(store.Approvals, tenant, store.Query{Where: where}); err != nil {
		return q, err
	}
	if this.Status == countersign.ApprovalPending {
		if q.At, err = tx.Count(store.Approvals, tenant, store.Query{Where: upTo}); err != nil {
			return q, err
		}
	}
	earlier := func(row store.Row) bool { return row.Keys[0] != at || row.ID < this.ID }
	if q.Before, err = nearest(tx, tenant, store.Query{Where: upTo, Order: newestFirst}, earlier); err != nil {
		return q, err
	}
	later := func(row store.Row) bool { return row.Keys[0] != at || row.ID > this.ID }
	q.After, err = nearest(tx, tenant, store.Query{Where: from, Order: oldestFirst}, later)
	return q, err
}

// sameInstant is how many approvals may have been asked for in one microsecond
// before a neighbour is missed.
const sameInstant = 8

func nearest(tx store.Tx, tenant string, q store.Query, beyond func(store.Row) bool) (string, error) {
	q.Limit = sameInstant
	rows, err := tx.List(store.Approvals, tenant, q)
	for _, row := range rows {
		if beyond(row) {
			return row.ID, err
		}
	}
	return "", err
}

// Found is what a field names in an answer, as a step with this outputField
// would have found it.
func Found(answer countersign.Value, outputField, field string) (countersign.Value, bool) {
	out, ok := plan.Select(answer, outputField)
	if !ok {
		out = plan.Output{Value: answer, OutputField: outputField} // as a reconcile takes it
	}
	return out.Field(field)
}
