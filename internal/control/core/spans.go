package core

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// SpanRecords is how many records one read of a long look has.
const SpanRecords = 500

// Spans looks at the records of a collection, the newest first: what they are searched for has
// no column. Each span is a read of its own, so that nobody waits for all of them; one is read
// at a time, and tenants take turns.
type Spans[R any] struct {
	Of    store.Collection[R] // of a table with a column created
	Op    access.Operation
	Where func(tx store.Tx) ([]store.Filter, error)
	Key   func(*R) (id string, created int64)
	Turns *semaphore.Semaphore
	Most  int // so many records are looked at, 0: all

	// Read reads the records of a query, nil: as their collection does.
	Read func(tx store.Tx, tenant string, q store.Query, each func(*R) error, damaged func(store.Row, error) error) error
}

// passed is how far spans have come. The next one begins behind this record, and not at an
// offset: which others are selected may have changed by then.
type passed struct {
	looked  int
	id      string
	created int64
}

// InSpans collects what look finds in the records until it has enough; enough 0: in all of them.
func InSpans[R, T any](ctx context.Context, s *Core, a Actor, of Spans[R], enough int, look func(tx store.Tx, r *R) (found T, is bool, err error)) (all []T, err error) {
	var at passed
	for more := true; more && (enough == 0 || len(all) < enough); {
		next, found := at, []T(nil)
		busy := of.Turns.Do(ctx, a.Tenant, func() {
			err = s.View(ctx, a, of.Op, func(tx store.Tx) (err error) {
				next, found = at, nil // the function may run more than once
				more, err = of.span(s, tx, a.Tenant, &next, func(r *R) error {
					one, is, err := look(tx, r)
					id, _ := of.Key(r)
					if unread, err := s.Passes(of.Of.Table, a.Tenant, id, err); unread || err != nil || !is {
						return err
					}
					found = append(found, one)
					return nil
				})
				return err
			})
		})
		if err = cmp.Or(PublicRead(busy), err); err != nil {
			return nil, err
		}
		all, at = append(all, found...), next
	}
	if enough > 0 {
		all = all[:min(len(all), enough)]
	}
	return all, nil
}

// span looks at the next records, and reports whether there may be more.
func (of Spans[R]) span(s *Core, tx store.Tx, tenant string, at *passed, each func(*R) error) (more bool, err error) {
	where, err := of.Where(tx)
	if err != nil {
		return false, err
	}
	size := SpanRecords
	if of.Most > 0 {
		size = min(size, of.Most-at.looked)
	}
	was, looked := at.id, 0 // it comes once more, unless it isn't selected any more
	pass := func(id string, created int64) (again bool) {
		at.id, at.created = id, created
		looked++
		return id == was
	}
	damaged := s.Damaged(of.Of.Table, tenant)
	for _, part := range at.behind() {
		q := store.Query{Where: slices.Concat(where, part), Order: NewestFirst, Limit: size - looked}
		err := of.read(tx, tenant, q, func(r *R) error {
			if pass(of.Key(r)) {
				return nil
			}
			return each(r)
		}, func(row store.Row, err error) error {
			pass(row.ID, row.Keys[0].(int64))
			return damaged(row, err)
		})
		if err != nil {
			return false, err
		}
		if looked == size {
			at.looked += looked
			return of.Most == 0 || at.looked < of.Most, nil
		}
	}
	return false, nil
}

func (of Spans[R]) read(tx store.Tx, tenant string, q store.Query, each func(*R) error, damaged func(store.Row, error) error) error {
	if of.Read != nil {
		return of.Read(tx, tenant, q, each, damaged)
	}
	return of.Of.EachReadable(tx, tenant, q, ReadAtOnce, each, damaged)
}

// behind are the filters of what comes behind a record: others of its instant, and earlier ones.
func (p passed) behind() [][]store.Filter {
	if p.id == "" {
		return [][]store.Filter{nil}
	}
	until := func(at int64) store.Filter {
		return store.Filter{Column: "created", Op: store.AtMost, Values: []any{at}}
	}
	since := store.Filter{Column: "created", Op: store.AtLeast, Values: []any{p.created}}
	ids := store.Filter{Column: "id", Op: store.AtMost, Values: []any{p.id}}
	return [][]store.Filter{{until(p.created), since, ids}, {until(p.created - 1)}}
}
