package approvals

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/amount"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What an approval is compared with is looked for in other approvals and runs, the newest
// first: as far back, and so many at most.
const (
	comparedWithin = 90 * 24 * time.Hour
	maxCompared    = 5000
)

// comparison looks for what one approval is compared with.
type comparison struct {
	*ApprovalService
	actor core.Actor
	rec   *records.Approval
	agent string // whose run asks
	field string // of the number that people look at first, "" for none that the reader sees
}

// comparing reads what a comparison goes by. shown is the approval as its reader sees it.
func comparing(s *ApprovalService, tx store.Tx, a core.Actor, rec *records.Approval, shown *countersign.Approval) (comparison, error) {
	c := comparison{ApprovalService: s, actor: a, rec: rec}
	run, _, err := records.Runs.Get(tx, a.Tenant, rec.RunID)
	if passed, err := lacks(s.Core, store.Runs, a.Tenant, rec.RunID, err); passed || err != nil {
		return c, err
	}
	c.agent = run.AgentID
	of, err := capabilityOf(s.Core, tx, a.Tenant, rec)
	if passed, err := lacks(s.Core, store.Plans, a.Tenant, rec.PlanID, err); passed || of == nil || err != nil {
		return c, err
	}
	m := cost.New(nil, cost.InTurn, 0)
	field, _, ok := amount.Of(m, of, rec.InputSnapshot)
	if !ok || m.Over() {
		return c, nil
	}
	if _, visible := at(field, shown.InputSnapshot); visible {
		c.field = field
	}
	return c, nil
}

// lacks reports a record that is gone or can't be read: the approval is shown without what rests
// on it.
func lacks(s *core.Core, t *store.Table, tenant, id string, err error) (bool, error) {
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return s.Passes(t, tenant, id, err)
}

// at is the number at a field that the approval itself has.
func at(field string, input map[string]countersign.Value) (countersign.Number, bool) {
	m := cost.New(nil, cost.InTurn, 0)
	n, ok := amount.At(m, field, input)
	return n, ok && !m.Over()
}

// add adds to an approval what it is compared with.
func (c comparison) add(ctx context.Context, ap *countersign.Approval) (err error) {
	if ap.Usual, err = c.usual(ctx); err != nil {
		return err
	}
	if ap.RequesterRecord, err = c.requester(ctx); err != nil {
		return err
	}
	ap.SuggestedFrom, err = c.suggested(ctx)
	return err
}

// spans are those of the latest approvals of a status, until a time.
func (c comparison) spans(status countersign.ApprovalStatus, since, until time.Time) core.Spans[records.Approval] {
	of := spansOf(c.ApprovalService, func(tx store.Tx) ([]store.Filter, error) {
		where, err := records.InScope(tx, store.Approvals, c.actor.Principal)
		return append(where, store.Equal("status", string(status)),
			store.Filter{Column: "created", Op: store.AtLeast, Values: []any{since.UnixMicro()}},
			store.Filter{Column: "created", Op: store.AtMost, Values: []any{until.UnixMicro()}}), err
	})
	of.Most = maxCompared
	return of
}

func (c comparison) sameCapability(other *records.Approval) bool {
	return other.ProjectID == c.rec.ProjectID && other.Capability == c.rec.Capability
}

// usual is what is usually approved, nil where there is too little of it.
func (c comparison) usual(ctx context.Context) (*countersign.Usual, error) {
	if c.field == "" {
		return nil, nil
	}
	now := c.Config.Now()
	of := c.spans(countersign.ApprovalApproved, now.Add(-comparedWithin), now)
	found, err := core.InSpans(ctx, c.Core, c.actor, of, 0, func(tx store.Tx, other *records.Approval) (n countersign.Number, is bool, err error) {
		if !c.sameCapability(other) {
			return n, false, nil
		}
		if err := c.MaskApprovalFor(tx, c.actor, &other.Approval); err != nil {
			return n, false, err
		}
		n, is = at(c.field, other.InputSnapshot)
		return n, is, nil
	})
	if err != nil || len(found) < countersign.FewestCompared {
		return nil, err
	}
	return &countersign.Usual{Count: len(found), Field: c.field, Median: amount.Median(found)}, nil
}

// requester is the record of the agent, or of the token that asked without one; nil where there
// is too little of it.
func (c comparison) requester(ctx context.Context) (*countersign.RequesterRecord, error) {
	if c.agent == "" && !strings.HasPrefix(c.rec.RequestedBy, "token:") {
		return nil, nil
	}
	of := core.Spans[records.Run]{
		Of: records.Runs, Op: access.ReadApprovals, Turns: c.lookups, Most: maxCompared,
		Key: func(r *records.Run) (string, int64) { return r.ID, r.CreatedAt.UnixMicro() },
		Where: func(tx store.Tx) ([]store.Filter, error) {
			where, err := records.InScope(tx, store.Runs, c.actor.Principal)
			return append(where, core.Equals(map[string]string{"agent": c.agent})...), err
		},
	}
	found, err := core.InSpans(ctx, c.Core, c.actor, of, 0, func(_ store.Tx, r *records.Run) (countersign.Run, bool, error) {
		known := r.Status.IsTerminal() || r.Status == countersign.RunRecoveryRequired
		return countersign.Run{Status: r.Status, Error: r.Error, UnverifiedSteps: r.UnverifiedSteps},
			known && r.Mode == countersign.ModeLive && (c.agent != "" || r.RequestedBy == c.rec.RequestedBy), nil
	})
	if err != nil || len(found) < countersign.FewestCompared {
		return nil, err
	}
	out := &countersign.RequesterRecord{Runs: len(found)}
	for _, r := range found {
		switch {
		case r.Status == countersign.RunCompleted && r.UnverifiedSteps == 0:
			out.Verified++
		case strings.HasPrefix(r.Error, string(countersign.CodeApprovalRejected)+":"):
			out.Rejected++
		}
	}
	return out, nil
}

// suggested is the latest rejection before that suggested these very inputs.
func (c comparison) suggested(ctx context.Context) (*countersign.SuggestedFrom, error) {
	until := c.rec.RequestedAt
	of := c.spans(countersign.ApprovalRejected, until.Add(-comparedWithin), until)
	input := countersign.ObjectValue(c.rec.InputSnapshot)
	found, err := core.InSpans(ctx, c.Core, c.actor, of, 1, func(tx store.Tx, other *records.Approval) (from countersign.SuggestedFrom, is bool, err error) {
		if other.ID == c.rec.ID || other.SuggestedInput == nil || !c.sameCapability(other) || !countersign.ObjectValue(other.SuggestedInput).Equal(input) {
			return from, false, nil
		}
		name, err := names.In(tx, c.actor.Tenant).Of(other.DecidedBy)
		return countersign.SuggestedFrom{ApprovalID: other.ID, RunID: other.RunID, By: other.DecidedBy, ByName: name}, true, err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// capabilityOf is the capability of an approval as its plan knew it, nil if nothing says it.
func capabilityOf(s *core.Core, tx store.Tx, tenant string, rec *records.Approval) (*countersign.Capability, error) {
	p, err := planOf(s, tx, tenant, rec)
	if p == nil || err != nil {
		return nil, err
	}
	_, c := mask.TargetOf(p, rec.ProjectID, rec.Capability)
	return c, nil
}

// planOf is the plan of an approval, nil if it is gone.
func planOf(s *core.Core, tx store.Tx, tenant string, rec *records.Approval) (*countersign.Plan, error) {
	stored, err := s.Repo.ReadPlan(tx, tenant, rec.PlanID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.Repo.Plan(tx, tenant, rec.PlanID, stored.PlanDigest)
}
