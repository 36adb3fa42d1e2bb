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

// approvalFact is what of an approval others are compared by.
type approvalFact struct {
	project, capability string
	suggests            bool
}

// numberFact is the number at a field of an approval, as a reader sees it.
type numberFact struct {
	n  countersign.Number
	is bool
}

// spans are those of the latest approvals of a status, until a time.
func (c comparison) spans(status countersign.ApprovalStatus, since, until time.Time) core.Spans[noted[approvalFact]] {
	of := spansOf(c.ApprovalService, func(tx store.Tx) ([]store.Filter, error) {
		where, err := records.InScope(tx, store.Approvals, c.actor.Principal)
		return append(where, store.Equal("status", string(status)),
			store.Filter{Column: "created", Op: store.AtLeast, Values: []any{since.UnixMicro()}},
			store.Filter{Column: "created", Op: store.AtMost, Values: []any{until.UnixMicro()}}), err
	})
	of.Most = maxCompared
	return notedIn(c.Core, of, c.compared.approvals, func(tx store.Tx, k factKey, r *records.Approval) (approvalFact, error) {
		fact := approvalFact{project: r.ProjectID, capability: r.Capability, suggests: r.SuggestedInput != nil}
		if status != countersign.ApprovalApproved || !c.sameCapability(fact) {
			return fact, nil
		}
		_, err := c.noteNumber(tx, k, r) // while the record is at hand
		return fact, err
	})
}

func (c comparison) sameCapability(other approvalFact) bool {
	return other.project == c.rec.ProjectID && other.capability == c.rec.Capability
}

// usual is what is usually approved, nil where there is too little of it.
func (c comparison) usual(ctx context.Context) (*countersign.Usual, error) {
	if c.field == "" {
		return nil, nil
	}
	now := c.Config.Now()
	of := c.spans(countersign.ApprovalApproved, now.Add(-comparedWithin), now)
	found, err := core.InSpans(ctx, c.Core, c.actor, of, 0, func(tx store.Tx, other *noted[approvalFact]) (countersign.Number, bool, error) {
		if other.err != nil || !c.sameCapability(other.fact) {
			return countersign.Number{}, false, other.err
		}
		fact, err := c.number(tx, other.factKey)
		return fact.n, fact.is, err
	})
	if err != nil || len(found) < countersign.FewestCompared {
		return nil, err
	}
	return &countersign.Usual{Count: len(found), Field: c.field, Median: amount.Median(found)}, nil
}

// number is what the reader sees at the field of another approval. An approval goes with its plan,
// so what masks it stays as well.
func (c comparison) number(tx store.Tx, k factKey) (numberFact, error) {
	if fact, known := c.compared.numbers.Get(c.ofField(k)); known {
		return fact, nil
	}
	r, _, err := records.Approvals.Get(tx, c.actor.Tenant, k.id)
	if err != nil {
		return numberFact{}, err
	}
	return c.noteNumber(tx, k, r)
}

func (c comparison) noteNumber(tx store.Tx, k factKey, r *records.Approval) (fact numberFact, err error) {
	if err := c.MaskApprovalFor(tx, c.actor, &r.Approval); err != nil {
		return fact, err
	}
	fact.n, fact.is = at(c.field, r.InputSnapshot)
	c.compared.numbers.Put(c.ofField(k), fact)
	return fact, nil
}

func (c comparison) ofField(k factKey) factKey {
	if k.of = "seen whole: " + c.field; core.Masks(c.actor) {
		k.of = "masked: " + c.field
	}
	return k
}

// runFact is what of a run its agent's record is made of.
type runFact struct {
	requestedBy        string
	counts             bool // it is LIVE, and its end is known, or that it isn't
	verified, rejected bool
}

func factOf(r *records.Run) runFact {
	return runFact{
		requestedBy: r.RequestedBy,
		counts:      r.Mode == countersign.ModeLive && (r.Status.IsTerminal() || r.Status == countersign.RunRecoveryRequired),
		verified:    r.Status == countersign.RunCompleted && r.UnverifiedSteps == 0,
		rejected:    strings.HasPrefix(r.Error, string(countersign.CodeApprovalRejected)+":"),
	}
}

// requester is the record of the agent, or of the token that asked without one; nil where there
// is too little of it.
func (c comparison) requester(ctx context.Context) (*countersign.RequesterRecord, error) {
	if c.agent == "" && !strings.HasPrefix(c.rec.RequestedBy, "token:") {
		return nil, nil
	}
	of := core.Spans[records.Run]{
		Of: records.Runs, Op: access.ReadApprovals, Turns: c.lookups, Most: maxCompared,
		Where: func(tx store.Tx) ([]store.Filter, error) {
			where, err := records.InScope(tx, store.Runs, c.actor.Principal)
			return append(where, core.Equals(map[string]string{"agent": c.agent})...), err
		},
	}
	noted := notedIn(c.Core, of, c.compared.runs, func(_ store.Tx, _ factKey, r *records.Run) (runFact, error) { return factOf(r), nil })
	found, err := core.InSpans(ctx, c.Core, c.actor, noted, 0, counting(func(r runFact) bool {
		return r.counts && (c.agent != "" || r.requestedBy == c.rec.RequestedBy)
	}))
	if err != nil || len(found) < countersign.FewestCompared {
		return nil, err
	}
	out := &countersign.RequesterRecord{Runs: len(found)}
	for _, r := range found {
		switch {
		case r.verified:
			out.Verified++
		case r.rejected:
			out.Rejected++
		}
	}
	return out, nil
}

// counting collects the facts that hold.
func counting[F any](holds func(F) bool) func(store.Tx, *noted[F]) (F, bool, error) {
	return func(_ store.Tx, n *noted[F]) (F, bool, error) {
		return n.fact, n.err == nil && holds(n.fact), n.err
	}
}

// suggested is the latest rejection before that suggested these very inputs.
func (c comparison) suggested(ctx context.Context) (*countersign.SuggestedFrom, error) {
	until := c.rec.RequestedAt
	of := c.spans(countersign.ApprovalRejected, until.Add(-comparedWithin), until)
	input := countersign.ObjectValue(c.rec.InputSnapshot)
	found, err := core.InSpans(ctx, c.Core, c.actor, of, 1, func(tx store.Tx, noted *noted[approvalFact]) (from countersign.SuggestedFrom, is bool, err error) {
		if noted.err != nil || noted.id == c.rec.ID || !noted.fact.suggests || !c.sameCapability(noted.fact) {
			return from, false, noted.err
		}
		other, _, err := records.Approvals.Get(tx, c.actor.Tenant, noted.id)
		if err != nil || !countersign.ObjectValue(other.SuggestedInput).Equal(input) {
			return from, false, err
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
