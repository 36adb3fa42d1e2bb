package core

import (
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// One record that can't be read stops nothing but what rests on it: a list shows the others,
// and what is looked up beside a record lacks it.

// Passes reports whether a record is passed over, since it, or what is shown with it, can't be
// read. Any error of the store itself it returns. That one was read isn't told: another reader
// may need more of it.
func (s *Core) Passes(t *store.Table, tenant, id string, err error) (bool, error) {
	if err == nil {
		return false, nil
	}
	of := unreadable.Record{Tenant: tenant, Kind: strings.TrimSuffix(t.Name, "s"), ID: id}
	return true, s.Config.Unreadable.Pass(of, err)
}

// Damaged is Passes for store.Collection.EachReadable.
func (s *Core) Damaged(t *store.Table, tenant string) func(store.Row, error) error {
	return func(row store.Row, err error) error {
		_, err = s.Passes(t, tenant, row.ID, err)
		return err
	}
}

// readable decodes rows and prepares each for the reader. It leaves out those that can't be read.
func readable[T, U any](s *Core, c store.Collection[T], tenant string, rows []store.Row, show func(*T) (U, error)) (items []U, err error) {
	items = make([]U, 0, len(rows))
	for _, row := range rows {
		var item U
		v := new(T)
		err := records.Decode(row, v)
		if err == nil {
			item, err = show(v)
		}
		passed, err := s.Passes(c.Table, tenant, row.ID, err)
		if err != nil {
			return items, err
		}
		if !passed {
			items = append(items, item)
		}
	}
	return items, nil
}

// ShowPage reads a page of a collection, a few documents at a time, and keeps of each what show
// makes of it for the reader. What can't be read is counted, and isn't among the items.
func ShowPage[T, U any](s *Core, tx store.Tx, tenant string, c store.Collection[T], l List, q store.Query, show func(*T) (U, error)) (page countersign.Page[U], err error) {
	total, err := tx.Count(c.Table, tenant, q)
	if err != nil {
		return page, err
	}
	items, looked := make([]U, 0, l.Limit), 0
	for left := q.Limit; left > 0; left = q.Limit - looked {
		span := q
		span.Offset, span.Limit = q.Offset+looked, min(left, ReadAtOnce)
		rows, err := tx.List(c.Table, tenant, span)
		if err != nil {
			return page, err
		}
		shown, err := readable(s, c, tenant, rows, show)
		if err != nil {
			return page, err
		}
		items, looked = append(items, shown...), looked+len(rows)
		if len(rows) < span.Limit {
			break
		}
	}
	return PageBehind(items, l.Offset, looked, total), nil
}

// PageBehind is a page for which so many records were looked at, perhaps more than it has items.
func PageBehind[T any](items []T, offset, looked, total int) countersign.Page[T] {
	p := countersign.NewPage(items, offset, total)
	p.NextOffset = nil
	if next := offset + looked; looked > 0 && next < total {
		p.NextOffset = &next
	}
	return p
}

// IsMade reports that a committed change is answered with what was committed, since what would be
// shown beside it can't be read: whoever is told of a failure makes the change again. It says
// nothing to whom values are masked, which only a read can do.
func (s *Core) IsMade(a Actor, subject string, err error) bool {
	if err == nil || Masks(a) {
		return false
	}
	if countersign.ErrorCode(err) != countersign.CodeUnavailable {
		s.Log.Error("a change is made, and what is shown beside it can't be read", "tenant", a.Tenant, "subject", subject, "error", err)
	}
	return true
}
