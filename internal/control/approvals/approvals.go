// Package approvals holds the use cases of approvals: who may decide, what a decision signs, and what
// a reviewer sees beside it.
package approvals

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/control/runs"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ApprovalService is the use cases of approvals, and what of them others need.
type ApprovalService struct {
	*core.Core
	runs  *runs.RunService
	party func() *passkey.Party // nil from it: browsers allow no passkeys at the public address

	lookups  *semaphore.Semaphore // one read of a span of approvals at a time
	compared compared
}

// NewApprovals returns the use cases.
func NewApprovals(c *core.Core, runs *runs.RunService, party func() *passkey.Party) *ApprovalService {
	return &ApprovalService{Core: c, runs: runs, party: party, lookups: semaphore.New(1), compared: newCompared()}
}

// ApprovalFilter narrows a list of approvals; empty fields don't. RequestedBy is a principal,
// Group one of the approval's, Text is anywhere in what the reader is shown, in whatever case.
// With OldestFirst, the pending approval that was asked for first comes first; Order is another
// order.
type ApprovalFilter struct {
	Status, RunID      string
	ProjectID, AgentID string
	RequestedBy, Group string
	Text               string
	OldestFirst        bool
	Order              string
}

// Approvals lists the approvals within the actor's scope, newest first unless the filter
// says otherwise, without the other runs that sent the same request.
func (s *ApprovalService) Approvals(ctx context.Context, a core.Actor, l core.List, f ApprovalFilter) (countersign.Page[countersign.Approval], error) {
	return ListApprovals(ctx, s, a, l, f, core.Whole)
}

// WithoutContent leaves out of an approval what would be sent, and what it is made of.
func WithoutContent(a countersign.Approval) countersign.Approval {
	a.InputSnapshot, a.Request = nil, countersign.Request{Method: a.Request.Method}
	return a
}

// CountApprovals is how many Approvals lists.
func (s *ApprovalService) CountApprovals(ctx context.Context, a core.Actor, f ApprovalFilter) (n int, err error) {
	if f.looks() {
		found, err := s.find(ctx, a, f)
		return len(found), err
	}
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		where, err := f.within(tx, a)
		if err == nil {
			n, err = tx.Count(store.Approvals, a.Tenant, store.Query{Where: where})
		}
		return err
	})
	return n, err
}

func (f ApprovalFilter) within(tx store.Tx, a core.Actor) ([]store.Filter, error) {
	where, err := records.InScope(tx, store.Approvals, a.Principal)
	return append(where, core.Equals(map[string]string{"status": f.Status, "run": f.RunID})...), err
}

// ListApprovals is Approvals of what show makes of each: one may have three mebibytes, and few
// are in memory at a time.
func ListApprovals[T any](ctx context.Context, s *ApprovalService, a core.Actor, l core.List, f ApprovalFilter, show func(countersign.Approval) (T, error)) (page countersign.Page[T], err error) {
	if f.looks() {
		return listFound(ctx, s, a, l, f, show)
	}
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		where, err := f.within(tx, a)
		if err != nil {
			return err
		}
		order := core.NewestFirst
		if f.OldestFirst {
			order = core.OldestFirst
		}
		names := names.In(tx, a.Tenant)
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Approvals, l, l.Query(order, where...), func(r *records.Approval) (shown T, err error) {
			if err := s.showListed(tx, names, a, r); err != nil {
				return shown, err
			}
			return show(r.Approval)
		})
		return err
	})
	return page, err
}

// Approval reads one approval, with what it is compared with.
func (s *ApprovalService) Approval(ctx context.Context, a core.Actor, id string) (countersign.Approval, error) {
	out, beside, err := readApproval(ctx, s, a, id)
	if err != nil {
		return out, err
	}
	return out, beside.add(ctx, &out)
}

// ApprovalAlone reads one approval without what it is compared with, which is looked for in
// thousands of others.
func (s *ReviewService) ApprovalAlone(ctx context.Context, a core.Actor, id string) (countersign.Approval, error) {
	out, _, err := readApproval(ctx, s.approvals, a, id)
	return out, err
}

func readApproval(ctx context.Context, s *ApprovalService, a core.Actor, id string) (out countersign.Approval, beside comparison, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		rec, err := reach.Approval(tx, a, id)
		if err != nil {
			return err
		}
		if err := asRead(s.Core, tx, a.Tenant, rec); err != nil {
			return err
		}
		out = rec.Approval
		if err := s.showWithSame(tx, a, &out); err != nil {
			return err
		}
		beside, err = comparing(s, tx, a, rec, &out)
		return err
	})
	return out, beside, err
}

// asRead adds to a stored approval what its decisions are at this moment, and how they came.
func asRead(s *core.Core, tx store.Tx, tenant string, rec *records.Approval) error {
	if err := s.Repo.CountDecisions(tx, tenant, rec); err != nil {
		return err
	}
	showDoors(rec)
	return nil
}

// showDoors adds how decisions came, which is kept with their deciders.
func showDoors(rec *records.Approval) {
	rec.Decisions = slices.Clone(rec.Decisions)
	for i := range min(len(rec.Decisions), len(rec.Deciders)) {
		rec.Decisions[i].Via = rec.Deciders[i].Door
	}
}

// ShowApproval prepares an approval for its reader: it adds the principals' names and
// masks what the reader may not see.
func (s *ApprovalService) ShowApproval(names names.ReadNames, a core.Actor, ap *countersign.Approval) (err error) {
	if ap.RequestedByName, err = names.Of(ap.RequestedBy); err != nil {
		return err
	}
	if ap.DecidedByName, err = names.Of(ap.DecidedBy); err != nil {
		return err
	}
	ap.Decisions = slices.Clone(ap.Decisions)
	for i := range ap.Decisions {
		if ap.Decisions[i].ByName, err = names.Of(ap.Decisions[i].By); err != nil {
			return err
		}
	}
	if ap.Status == countersign.ApprovalPending && ap.OnBehalfOf != nil {
		behind, err := records.Behind(names.Tx, a.Tenant, access.Requester{OnBehalfOf: ap.OnBehalfOf})
		if err != nil {
			return err
		}
		ap.BehindUnknown = behind.Stranger // whoever signs in meanwhile is known from then on
	}
	return s.MaskApprovalFor(names.Tx, a, ap)
}

// Decide approves or rejects the step that a run waits to send. It requires a reason, and
// refuses the requester's own decision (contract 3).
func (s *ApprovalService) Decide(ctx context.Context, a core.Actor, id string, d countersign.Decision) (out countersign.Approval, err error) {
	if err := core.WellFormed(a, d); err != nil {
		return out, err
	}
	if err := core.Given("reason", d.Reason); err != nil {
		return out, err
	}
	if err := run.MaySuggest(d.Decision, d.SuggestedInput); err != nil {
		return out, err
	}
	fits, err := s.judgeSuggestion(ctx, a, id, d.SuggestedInput)
	if err != nil {
		return out, err
	}
	var moved runrepo.Moved
	err = s.Update(ctx, a, access.DecideApproval, "approval/"+id, func(tx store.Tx) error {
		rec, in, err := s.decidable(tx, a, id)
		if err != nil {
			return err
		}
		if err := sawThis(rec, d); err != nil {
			return err
		}
		actor := a.RunActor()
		actor.OnBehalfOf = in.OnBehalfOf
		signed, err := s.asserted(tx, a, rec, d)
		if err != nil {
			return err
		}
		event := run.Decided{Decision: d.Decision, Reason: d.Reason, By: a.ID, Suggested: d.SuggestedInput, Judged: fits.judged, Unfit: fits.unfit, Assertion: signed}
		moved, err = s.Repo.Apply(tx, runrepo.Ref{Tenant: a.Tenant, RunID: rec.RunID}, nil, event, actor)
		if err != nil {
			return err
		}
		rec, err = reach.Approval(tx, a, id)
		if err == nil {
			showDoors(rec)
			out = rec.Approval
		}
		return err
	})
	if err != nil {
		return out, err
	}
	s.runs.Settled(ctx, moved)
	ctx = context.WithoutCancel(ctx) // the decision is committed, so the answer must not deny it
	err = s.View(ctx, a, access.DecideApproval, func(tx store.Tx) error {
		decided := out
		if err := s.showWithSame(tx, a, &decided); err != nil {
			return err
		}
		out = decided
		return nil
	})
	if s.IsMade(a, "approval/"+id, err) {
		return out, nil // without names
	}
	return out, err
}

// decidable finds an approval that this actor may decide now.
func (s *ApprovalService) decidable(tx store.Tx, a core.Actor, id string) (*records.Approval, records.Eligibility, error) {
	rec, err := reach.Approval(tx, a, id)
	if err != nil {
		return nil, records.Eligibility{}, err
	}
	if err := s.Repo.CountDecisions(tx, a.Tenant, rec); err != nil {
		return nil, records.Eligibility{}, err
	}
	in, err := s.mayDecide(tx, a, rec)
	if err != nil {
		return nil, in, err
	}
	lapsed := rec.Status == countersign.ApprovalPending && !s.Config.Now().Before(rec.ExpiresAt)
	expired := rec.Status == countersign.ApprovalRejected && strings.HasPrefix(rec.DecisionReason, string(countersign.CodeApprovalExpired)+":") && rec.DecidedBy == countersign.SystemPrincipal
	switch {
	case lapsed || expired:
		return nil, in, countersign.Errorf(countersign.CodeApprovalExpired, "approval %s expired at %s; the system rejected it", id, rec.ExpiresAt.Format("2006-01-02T15:04:05Z07:00"))
	case rec.Status != countersign.ApprovalPending:
		return nil, in, countersign.Errorf(countersign.CodeStateConflict, "approval %s is %s already, decided by %s", id, rec.Status, rec.DecidedBy)
	}
	return rec, in, nil
}
