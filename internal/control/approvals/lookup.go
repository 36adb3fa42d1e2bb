package approvals

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/amount"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Orders of a list of approvals, besides the newest first.
const (
	OrderExpires = "expires" // the one that expires first
	OrderAmount  = "amount"  // the largest of the numbers that their titles, rules or budgets name first
)

// looks reports a filter that needs the approvals themselves.
func (f ApprovalFilter) looks() bool {
	return f.ProjectID+f.AgentID+f.RequestedBy+f.Group+f.Text+f.Order != ""
}

// sighted is an approval that was found, with what it is ordered by.
type sighted struct {
	id               string
	created, expires int64
	counted          bool // it has an amount
	amount           countersign.Number
}

// lookup looks approvals up, from the newest on.
type lookup struct {
	service *ApprovalService
	actor   core.Actor
	filter  ApprovalFilter
	text    string
}

// find finds all approvals that the filter selects, in its order.
func (s *ApprovalService) find(ctx context.Context, a core.Actor, f ApprovalFilter) ([]sighted, error) {
	l := lookup{service: s, actor: a, filter: f, text: strings.ToLower(strings.TrimSpace(f.Text))}
	within := func(tx store.Tx) ([]store.Filter, error) { return f.within(tx, a) }
	var known names.ReadNames // of one span
	found, err := core.InSpans(ctx, s.Core, a, spansOf(s, within), 0, func(tx store.Tx, rec *records.Approval) (sighted, bool, error) {
		if known.Tx != tx {
			known = names.In(tx, a.Tenant)
		}
		return l.look(tx, known, rec)
	})
	slices.SortFunc(found, f.compare)
	return found, err
}

// spans are those of the approvals that are selected.
func spansOf(s *ApprovalService, where func(tx store.Tx) ([]store.Filter, error)) core.Spans[records.Approval] {
	key := func(rec *records.Approval) (string, int64) { return rec.ID, rec.RequestedAt.UnixMicro() }
	return core.Spans[records.Approval]{Of: records.Approvals, Op: access.ReadApprovals, Where: where, Key: key, Turns: s.lookups}
}

// compare orders what was found.
func (f ApprovalFilter) compare(a, b sighted) int {
	newest := cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.id, a.id))
	switch {
	case f.Order == OrderExpires:
		return cmp.Or(cmp.Compare(a.expires, b.expires), -newest)
	case f.OldestFirst:
		return -newest
	case f.Order != OrderAmount:
		return newest
	case a.counted && b.counted:
		return cmp.Or(b.amount.Compare(a.amount), newest)
	case a.counted:
		return -1
	case b.counted:
		return 1
	}
	return newest
}

// look reports whether the filter selects an approval, and what it is ordered by.
func (l *lookup) look(tx store.Tx, names names.ReadNames, rec *records.Approval) (out sighted, is bool, err error) {
	f := l.filter
	if f.ProjectID != "" && rec.ProjectID != f.ProjectID || f.RequestedBy != "" && rec.RequestedBy != f.RequestedBy || f.Group != "" && !slices.Contains(rec.Groups, f.Group) {
		return out, false, nil
	}
	if f.AgentID != "" {
		if agent, err := l.agentOf(tx, rec); err != nil || agent != f.AgentID {
			return out, false, err
		}
	}
	out = sighted{id: rec.ID, created: rec.RequestedAt.UnixMicro(), expires: rec.ExpiresAt.UnixMicro()}
	if l.text == "" && f.Order != OrderAmount {
		return out, true, nil
	}
	if l.text == "" && !core.Masks(l.actor) { // who sees all is shown what is stored
		out.amount, out.counted, err = l.amountOf(tx, rec, rec)
		return out, true, err
	}
	shown := *rec
	if err := asRead(l.service.Core, tx, l.actor.Tenant, &shown); err != nil {
		return out, false, err
	}
	if err := l.service.ShowApproval(names, l.actor, &shown.Approval); err != nil {
		return out, false, err
	}
	if l.text != "" && !search.Says(shown.Approval, l.text) {
		return out, false, nil
	}
	if f.Order == OrderAmount {
		out.amount, out.counted, err = l.amountOf(tx, rec, &shown)
	}
	return out, true, err
}

// amountOf is the number that an approval is ordered by. Who may not see it isn't told by the
// order either.
func (l *lookup) amountOf(tx store.Tx, rec, shown *records.Approval) (n countersign.Number, ok bool, err error) {
	c, err := capabilityOf(l.service.Core, tx, l.actor.Tenant, rec)
	if c == nil || err != nil {
		return n, false, err
	}
	m := cost.New(context.Background(), cost.InTurn, 0)
	field, n, ok := amount.Of(m, c, rec.InputSnapshot)
	if !ok || m.Over() {
		return n, false, nil
	}
	if _, visible := amount.At(cost.New(context.Background(), cost.InTurn, 0), field, shown.InputSnapshot); !visible {
		return n, false, countersign.Errorf(countersign.CodeInvalidRequest, "order: the amounts of %s/%s are hidden from you; order by oldest or expires", rec.ProjectID, rec.Capability)
	}
	return n, true, nil
}

// agentOf is the agent whose step an approval is of, "" for none.
func (l *lookup) agentOf(tx store.Tx, rec *records.Approval) (string, error) {
	p, err := planOf(l.service.Core, tx, l.actor.Tenant, rec)
	if p == nil || err != nil {
		return "", err
	}
	for i := range p.Steps {
		if p.Steps[i].ID == rec.StepID {
			return p.Steps[i].AgentID, nil
		}
	}
	return "", nil
}

// listFound lists what was found: each is looked at anew, since it may have been decided or
// archived since it was.
func listFound[T any](ctx context.Context, s *ApprovalService, a core.Actor, l core.List, f ApprovalFilter, show func(countersign.Approval) (T, error)) (page countersign.Page[T], err error) {
	found, err := s.find(ctx, a, f)
	if err != nil {
		return page, err
	}
	begin := min(l.Offset, len(found))
	ids := found[begin:min(begin+l.Limit, len(found))]
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		names, items := names.In(tx, a.Tenant), make([]T, 0, len(ids))
		for _, one := range ids {
			item, is, err := showFound(s, tx, names, a, f, one.id, show)
			if passed, err := s.Passes(store.Approvals, a.Tenant, one.id, err); err != nil {
				return err
			} else if is && !passed {
				items = append(items, item)
			}
		}
		page = core.PageBehind(items, l.Offset, len(ids), len(found))
		return nil
	})
	return page, err
}

func showFound[T any](s *ApprovalService, tx store.Tx, names names.ReadNames, a core.Actor, f ApprovalFilter, id string, show func(countersign.Approval) (T, error)) (item T, is bool, err error) {
	rec, err := reach.Approval(tx, a, id)
	if countersign.ErrorCode(err) != "" {
		return item, false, nil // archived, or out of scope by now
	}
	if err != nil || f.Status != "" && string(rec.Status) != f.Status {
		return item, false, err
	}
	if err := s.showListed(tx, names, a, rec); err != nil {
		return item, false, err
	}
	item, err = show(rec.Approval)
	return item, err == nil, err
}

// showListed prepares an approval as lists show it.
func (s *ApprovalService) showListed(tx store.Tx, names names.ReadNames, a core.Actor, rec *records.Approval) error {
	if err := asRead(s.Core, tx, a.Tenant, rec); err != nil {
		return err
	}
	return s.ShowApproval(names, a, &rec.Approval)
}
