// Package changes holds the use cases of changes that several administrators decide: what weakens is
// proposed, decided by people, and made in the transaction of the last approval.
package changes

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/assertion"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Maker makes a request again that was proposed: what its path named, and its body.
type Maker func(ctx context.Context, a core.Actor, id string, body []byte) (any, error)

// Again is the maker of a use case.
func Again[B, T any](f func(ctx context.Context, a core.Actor, id string, w B) (T, error)) Maker {
	return func(ctx context.Context, a core.Actor, id string, body []byte) (any, error) {
		var w B
		if err := exactjson.Decode(body, &w); err != nil {
			return nil, err
		}
		return f(ctx, a, id, w)
	}
}

// Unnamed is Again for a use case whose path names nothing.
func Unnamed[B, T any](f func(ctx context.Context, a core.Actor, w B) (T, error)) Maker {
	return Again(func(ctx context.Context, a core.Actor, _ string, w B) (T, error) { return f(ctx, a, w) })
}

// Makers has one for each operation that may be proposed.
type Makers map[access.Operation]Maker

// Asserting checks a passkey's answer of the actor's.
type Asserting func(tx store.Tx, a core.Actor, about assertion.Signed, answer *countersign.SignedAnswer) (*countersign.Assertion, error)

// ChangeService is the use cases of reading proposed changes.
type ChangeService struct{ *book }

// DecisionService is the use case of deciding them.
type DecisionService struct {
	*book
	asserted Asserting
}

// MakeService is the use cases of whoever has proposed one.
type MakeService struct{ *book }

// proposals keeps what weakens.
type proposals struct{ *book }

// New returns the use cases. From then on what weakens is proposed by them.
func New(c *core.Core, asserted Asserting, makers Makers) (*ChangeService, *DecisionService, *MakeService) {
	b := &book{Core: c, makers: makers}
	c.Propose = proposals{b}.propose
	return &ChangeService{b}, &DecisionService{b, asserted}, &MakeService{b}
}

// Changes lists the proposed changes within the actor's scope, newest first.
func (s *ChangeService) Changes(ctx context.Context, a core.Actor, l core.List) (page countersign.Page[countersign.ProposedChange], err error) {
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		q := l.Query([]store.Order{{Column: "id", Descending: true}}, records.AllChanges()...)
		if !a.Limited() {
			page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Changes, l, q, func(r *records.Change) (countersign.ProposedChange, error) { return s.shown(r), nil })
			return err
		}
		page, err = s.pageInScope(tx, a, l, q)
		return err
	})
	return page, err
}

// span is how many changes are read at once where some of them are out of scope.
const span = 20

// pageInScope is a page for whoever reaches some projects only.
func (s *ChangeService) pageInScope(tx store.Tx, a core.Actor, l core.List, q store.Query) (page countersign.Page[countersign.ProposedChange], err error) {
	items, total := []countersign.ProposedChange{}, 0
	q.Limit, q.Offset = 0, 0
	err = records.Changes.EachReadable(tx, a.Tenant, q, span, func(r *records.Change) error {
		if reached(a, r) != nil {
			return nil
		}
		if total >= l.Offset && len(items) < l.Limit {
			items = append(items, s.shown(r))
		}
		total++
		return nil
	}, s.Damaged(records.Changes.Table, a.Tenant))
	return countersign.NewPage(items, l.Offset, total), err
}

// OpenChanges are the changes within the actor's scope that somebody may still act on, newest first.
func (s *ChangeService) OpenChanges(ctx context.Context, a core.Actor) (out []countersign.ProposedChange, err error) {
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		out = nil
		open, _, err := s.open(tx, a.Tenant)
		if err != nil {
			return err
		}
		for _, o := range slices.Backward(open.Items) {
			rec, _, err := s.readable(tx, a.Tenant, o.ID)
			if err != nil {
				return err
			}
			if rec != nil && reached(a, rec) == nil && !s.lapsed(rec) {
				out = append(out, s.shown(rec))
			}
		}
		return nil
	})
	return out, err
}

// Change reads one proposed change.
func (s *ChangeService) Change(ctx context.Context, a core.Actor, id string) (out countersign.ProposedChange, err error) {
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		_, rec, _, err := s.find(tx, a, id)
		if err == nil {
			out = s.shown(rec)
		}
		return err
	})
	return out, err
}

// Asked reads a change with the request that it asks for.
func (s *ChangeService) Asked(tx store.Tx, a core.Actor, id string) (*records.Change, error) {
	if err := access.Allow(a.Principal, access.ReadChanges); err != nil {
		return nil, err
	}
	_, rec, _, err := s.find(tx, a, id)
	return rec, err
}
