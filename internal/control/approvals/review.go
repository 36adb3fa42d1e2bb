package approvals

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ReviewService is what a person sees beside what waits for them.
type ReviewService struct {
	*core.Core
	approvals *ApprovalService
}

// NewReviews returns the use cases.
func NewReviews(c *core.Core, approvals *ApprovalService) *ReviewService {
	return &ReviewService{Core: c, approvals: approvals}
}

// What a reviewer reads before a decision. None of it decides anything or is recorded; the
// decision itself checks everything again.

// MayDecide returns the error that deciding this approval would get now, nil for none, so
// that a page can say at its top that somebody else must decide.
func (s *ReviewService) MayDecide(ctx context.Context, a core.Actor, id string) error {
	return s.View(ctx, a, access.DecideApproval, func(tx store.Tx) error {
		_, _, err := s.approvals.decidable(tx, a, id)
		return err
	})
}

// MayReconcile returns the error that the actor would get when probing or reconciling this
// run, nil for none, whatever the run's state.
func (s *ReviewService) MayReconcile(ctx context.Context, a core.Actor, id string) error {
	return s.View(ctx, a, access.ReconcileRun, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, id)
		if err != nil {
			return err
		}
		return s.MayJudgeRun(a, access.ReconcileRun)(tx, rec)
	})
}

// How many approved approvals are searched for one of the same capability, and how many
// are in memory at a time: each holds a whole request.
const (
	maxApprovalsSearched = 200
	approvalsPerRead     = core.ReadAtOnce
)

// ApprovedBefore returns the last approval of the same project and capability that was
// approved before this one was requested; nil if there is none among the latest.
func (s *ReviewService) ApprovedBefore(ctx context.Context, a core.Actor, id string) (out *countersign.Approval, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		rec, err := reach.Approval(tx, a, id)
		if err != nil {
			return err
		}
		out, err = s.approvedBefore(tx, a.Tenant, &rec.Approval)
		if err != nil || out == nil {
			return err
		}
		return s.approvals.ShowApproval(names.In(tx, a.Tenant), a, out)
	})
	return out, err
}

func (s *ReviewService) approvedBefore(tx store.Tx, tenant string, this *countersign.Approval) (found *countersign.Approval, err error) {
	q := store.Query{Order: core.NewestFirst, Limit: maxApprovalsSearched, Where: []store.Filter{
		store.Equal("status", string(countersign.ApprovalApproved)),
		{Column: "created", Op: store.AtMost, Values: []any{this.RequestedAt.UnixMicro()}},
	}}
	err = records.Approvals.EachReadable(tx, tenant, q, approvalsPerRead, func(other *records.Approval) error {
		if other.ID != this.ID && other.ProjectID == this.ProjectID && other.Capability == this.Capability {
			found = &other.Approval
			return errEnough
		}
		return nil
	}, s.Damaged(store.Approvals, tenant))
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// Queue is the position of an approval among the pending ones, oldest first. Before and
// After are the neighbors' ids, "" at an end.
type Queue struct {
	Before, After string
	At, Total     int
}

// ApprovalQueue returns an approval's position among the pending ones in the actor's scope.
// A decided approval has neighbors but no position.
func (s *ReviewService) ApprovalQueue(ctx context.Context, a core.Actor, id string) (q Queue, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		rec, err := reach.Approval(tx, a, id)
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
	if q.Before, err = nearest(tx, tenant, store.Query{Where: upTo, Order: core.NewestFirst}, earlier); err != nil {
		return q, err
	}
	later := func(row store.Row) bool { return row.Keys[0] != at || row.ID > this.ID }
	q.After, err = nearest(tx, tenant, store.Query{Where: from, Order: core.OldestFirst}, later)
	return q, err
}

// sameInstant is how many approvals may have been requested in one microsecond before a
// neighbor is missed.
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

// Found returns the value of a field in an answer, as a step with this outputField would
// read it.
func Found(answer countersign.Value, outputField, field string) (countersign.Value, bool) {
	out, ok := plan.Select(answer, outputField)
	if !ok {
		out = plan.Output{Value: answer, OutputField: outputField} // as in a reconciliation
	}
	return out.Field(field)
}
