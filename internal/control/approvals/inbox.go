package approvals

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/amount"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// InboxQuery says which of the approvals that wait a desk lists, and in which order: of its
// filter, status and run are not looked at.
type InboxQuery struct {
	Filter ApprovalFilter
	Others bool                 // those that somebody else must decide, in place of those that the actor may
	Put    func(id string) bool // reports what is put off until later; nil: nothing
	After  string               // the Key of the last row of the part before, "" for the first part
	Limit  int
}

// InboxRow is an approval as a desk lists it: without its content, with what of it one must know
// to choose.
type InboxRow struct {
	countersign.Approval
	Amount, Unit string   // the number that people look at first, as it is spelt, and its currency
	Same         int      // how many others with the same request wait
	Size         int64    // of the body
	Given        int      // approvals that count
	Open         []string // groups that nobody has decided for
	Barred       error    // why this actor can't decide it; nil when they can
	Key          string   // where the list goes on behind it
}

// Inbox is a part of a desk's list.
type Inbox struct {
	Rows  []InboxRow
	More  string // where the next part begins, "" at the end
	Total int    // that wait in the actor's scope, whoever decides them
}

// Bounds of one list: what is selected by no column is looked for in so many approvals, and the
// next part goes on behind them.
const (
	inboxSpan  = 250
	inboxSpans = 8
)

// Inbox lists approvals that wait. In the order of time it reads as far as it must, in spans;
// other orders look at all of them.
func (s *ReviewService) Inbox(ctx context.Context, a core.Actor, q InboxQuery) (in Inbox, err error) {
	q.Filter.Status, q.Filter.RunID = string(countersign.ApprovalPending), ""
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		where, err := q.Filter.within(tx, a)
		if err == nil {
			in.Total, err = tx.Count(store.Approvals, a.Tenant, store.Query{Where: where})
		}
		return err
	})
	if err != nil {
		return in, err
	}
	w := inboxWalk{ReviewService: s, actor: a, query: q, look: lookup{service: s.approvals, actor: a, filter: q.Filter, text: strings.ToLower(strings.TrimSpace(q.Filter.Text))}}
	if q.Filter.Order == OrderExpires || q.Filter.Order == OrderAmount {
		err = w.ordered(ctx)
	} else {
		err = w.inTime(ctx)
	}
	in.Rows, in.More = w.rows, w.more
	return in, err
}

// inboxWalk collects the rows of one list.
type inboxWalk struct {
	*ReviewService
	actor core.Actor
	query InboxQuery
	look  lookup

	rows []InboxRow
	more string
	at   inboxPlace
}

// inboxPlace is how far a list in the order of time has come.
type inboxPlace struct {
	created int64
	id      string
}

func (p inboxPlace) key() string { return strconv.FormatInt(p.created, 10) + "." + p.id }

func placeOf(key string) (p inboxPlace) {
	at, id, _ := strings.Cut(key, ".")
	created, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !countersign.ValidID(id) {
		return p
	}
	return inboxPlace{created, id}
}

// behind are the filters of what comes behind a place: others of its instant, and later ones.
func (p inboxPlace) behind() [][]store.Filter {
	if p.id == "" {
		return [][]store.Filter{nil}
	}
	from := func(at int64) store.Filter {
		return store.Filter{Column: "created", Op: store.AtLeast, Values: []any{at}}
	}
	until := store.Filter{Column: "created", Op: store.AtMost, Values: []any{p.created}}
	ids := store.Filter{Column: "id", Op: store.AtLeast, Values: []any{p.id}}
	return [][]store.Filter{{from(p.created), until, ids}, {from(p.created + 1)}}
}

// inTime lists the oldest first.
func (w *inboxWalk) inTime(ctx context.Context) error {
	w.at = placeOf(w.query.After)
	for range inboxSpans {
		next, ended := *w, false
		err := w.View(ctx, w.actor, access.ReadApprovals, func(tx store.Tx) (err error) {
			next, ended = *w, false // the function may run more than once
			next.rows = slices.Clone(w.rows)
			ended, err = next.span(tx)
			return err
		})
		if err != nil {
			return err
		}
		if *w = next; ended || w.more != "" {
			return nil
		}
	}
	w.more = w.at.key()
	return nil
}

// span looks at the next approvals, and reports that there are no others.
func (w *inboxWalk) span(tx store.Tx) (ended bool, err error) {
	where, err := w.query.Filter.within(tx, w.actor)
	if err != nil {
		return false, err
	}
	names, looked, from := names.In(tx, w.actor.Tenant), 0, w.at
	damaged := w.Damaged(store.Approvals, w.actor.Tenant)
	for _, part := range from.behind() {
		q := store.Query{Where: slices.Concat(where, part), Order: core.OldestFirst, Limit: inboxSpan + 1 - looked}
		err := records.Approvals.EachReadable(tx, w.actor.Tenant, q, core.ReadAtOnce, func(rec *records.Approval) error {
			place := inboxPlace{rec.RequestedAt.UnixMicro(), rec.ID}
			if place == from {
				return nil
			}
			looked++
			if len(w.rows) == w.query.Limit {
				w.more = w.at.key()
				return errEnough
			}
			w.at = place
			row, is, err := w.row(tx, names, rec)
			if passed, err := w.Passes(store.Approvals, w.actor.Tenant, rec.ID, err); passed || err != nil || !is {
				return err
			}
			w.rows = append(w.rows, row)
			return nil
		}, func(row store.Row, err error) error {
			looked++
			w.at = inboxPlace{row.Keys[0].(int64), row.ID}
			return damaged(row, err)
		})
		if errors.Is(err, errEnough) {
			return false, nil
		}
		if err != nil || looked >= inboxSpan {
			return false, err
		}
	}
	return true, nil
}

// ordered lists in another order: all are found, and a part of them is read anew.
func (w *inboxWalk) ordered(ctx context.Context) error {
	found, err := w.look.service.find(ctx, w.actor, w.query.Filter)
	if err != nil {
		return err
	}
	begin := 0
	if after := placeOf(w.query.After); after.id != "" {
		begin = 1 + slices.IndexFunc(found, func(one sighted) bool { return one.id == after.id })
	}
	for at := begin; at < len(found) && w.more == ""; at += inboxSpan {
		part := found[at:min(at+inboxSpan, len(found))]
		next := *w
		err := w.View(ctx, w.actor, access.ReadApprovals, func(tx store.Tx) error {
			next = *w
			next.rows = slices.Clone(w.rows)
			return next.read(tx, part)
		})
		if err != nil {
			return err
		}
		*w = next
	}
	return nil
}

func (w *inboxWalk) read(tx store.Tx, part []sighted) error {
	names := names.In(tx, w.actor.Tenant)
	for _, one := range part {
		if len(w.rows) == w.query.Limit {
			w.more = w.at.key()
			return nil
		}
		w.at = inboxPlace{one.created, one.id}
		rec, _, err := records.Approvals.Get(tx, w.actor.Tenant, one.id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		row, is := InboxRow{}, false
		if err == nil && rec.Status == countersign.ApprovalPending && access.InScope(w.actor.Principal, rec.ProjectID) == nil {
			row, is, err = w.row(tx, names, rec)
		}
		if passed, err := w.Passes(store.Approvals, w.actor.Tenant, one.id, err); err != nil {
			return err
		} else if is && !passed {
			w.rows = append(w.rows, row)
		}
	}
	return nil
}

// row reports whether the list has an approval, and how.
func (w *inboxWalk) row(tx store.Tx, names names.ReadNames, rec *records.Approval) (row InboxRow, is bool, err error) {
	if !w.Config.Now().Before(rec.ExpiresAt) || w.query.Put != nil && w.query.Put(rec.ID) {
		return row, false, nil
	}
	if w.query.Filter.looks() && w.query.Filter.Order == "" {
		if _, is, err := w.look.look(tx, names, rec); err != nil || !is {
			return row, false, err
		}
	}
	barred := w.approvals.barredDecision(tx, w.actor, rec)
	if may, err := waitsFor(barred); err != nil || may == w.query.Others {
		return row, false, err
	}
	row = InboxRow{Size: int64(len(rec.Request.Body.Raw())), Barred: barred, Key: inboxPlace{rec.RequestedAt.UnixMicro(), rec.ID}.key()}
	shown := *rec
	if err := w.approvals.showListed(tx, names, w.actor, &shown); err != nil {
		return row, false, err
	}
	row.Given, row.Open = runrepo.Waits(&shown.Approval)
	if err := w.addAmount(tx, rec, &shown, &row); err != nil {
		return row, false, err
	}
	if shown.RequestDigest != "" {
		where, err := records.InScope(tx, store.Approvals, w.actor.Principal)
		if err != nil {
			return row, false, err
		}
		where = append(where, store.Equal("status", string(countersign.ApprovalPending)), store.Equal("digest", rec.RequestDigest))
		if row.Same, err = tx.Count(store.Approvals, w.actor.Tenant, store.Query{Where: where}); err != nil {
			return row, false, err
		}
		row.Same = max(0, row.Same-1)
	}
	row.Approval = WithoutContent(shown.Approval)
	return row, true, nil
}

// currency is the form of an input that says of which currency an amount is.
var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// addAmount adds the number that people look at first, where the actor sees it.
func (w *inboxWalk) addAmount(tx store.Tx, rec, shown *records.Approval, row *InboxRow) error {
	c, err := capabilityOf(w.Core, tx, w.actor.Tenant, rec)
	if passed, err := lacks(w.Core, store.Plans, w.actor.Tenant, rec.PlanID, err); passed || c == nil || err != nil {
		return err
	}
	m := cost.New(nil, cost.InTurn, 0)
	field, _, ok := amount.Of(m, c, rec.InputSnapshot)
	if !ok || m.Over() {
		return nil
	}
	v, ok := request.InputsAt(cost.New(nil, cost.InTurn, 0), shown.InputSnapshot)(field)
	if !ok || v.Kind() != countersign.KindNumber {
		return nil
	}
	row.Amount = v.Raw()
	if unit := shown.InputSnapshot["currency"]; unit.Kind() == countersign.KindString && currency.MatchString(unit.Text()) {
		row.Unit = unit.Text()
	}
	return nil
}

// Alike reports rows of one call: the same capability, asked for by the same, within a minute.
func (r *InboxRow) Alike(other *InboxRow) bool {
	between := other.RequestedAt.Sub(r.RequestedAt)
	return r.ProjectID == other.ProjectID && r.Capability == other.Capability && r.RequestedBy == other.RequestedBy && max(between, -between) <= time.Minute
}

// WaitsNow is what waits for an actor as their feed knows it, nil where nobody with the same
// rights watches.
func (s *DeskService) WaitsNow(a core.Actor) *countersign.WaitingCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.feeds[sameRights(a)]; f != nil {
		return f.waiting
	}
	return nil
}
