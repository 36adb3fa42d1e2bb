package audit

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Filter narrows a listing; empty fields match everything.
type Filter struct {
	Subject string
	Actor   string
	Action  string
	Since   time.Time
}

// Size is the number of records in a tenant's log. It reads only the head.
func Size(tx store.Tx, tenant string) (int64, error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return 0, err
	}
	return h.Size, nil
}

// List reads one page of a tenant's log, newest first.
func List(tx store.Tx, tenant string, f Filter, limit, offset int) (countersign.Page[countersign.AuditRecord], error) {
	q := store.Query{Where: f.where(), Order: f.order(), Limit: limit, Offset: offset}
	total, err := f.total(tx, tenant)
	if err != nil {
		return countersign.Page[countersign.AuditRecord]{}, err
	}
	rows, err := tx.List(store.Audit, tenant, q)
	if err != nil {
		return countersign.Page[countersign.AuditRecord]{}, err
	}
	items := make([]countersign.AuditRecord, len(rows))
	for i, row := range rows {
		if err := store.Decode(row.Doc, &items[i]); err != nil {
			return countersign.Page[countersign.AuditRecord]{}, err
		}
	}
	return countersign.NewPage(items, offset, total), nil
}

// total is how many records match. The head has the number of all: to count them would take
// longer the longer the log is. The records behind a head that is damaged or missing are listed
// all the same.
func (f Filter) total(tx store.Tx, tenant string) (int, error) {
	if !f.Any() {
		size, err := Size(tx, tenant)
		if err == nil && size > 0 || err != nil && !errors.Is(err, errHead) {
			return int(size), err
		}
	}
	return tx.Count(store.Audit, tenant, store.Query{Where: f.where()})
}

// order is newest first, by the ids, which are indexed and sort like the sequence
// numbers.
func (f Filter) order() []store.Order {
	if f.byID() {
		return []store.Order{{Column: "id", Descending: true}}
	}
	return []store.Order{{Column: "seq", Descending: true}}
}

func (f Filter) byID() bool { return f.Subject == "" && f.Actor == "" && f.Action == "" }

// Any reports that the filter is not empty.
func (f Filter) Any() bool { return !f.byID() || !f.Since.IsZero() }

func (f Filter) where() []store.Filter {
	var w []store.Filter
	for _, is := range [][2]string{{"subject", f.Subject}, {"actor", f.Actor}, {"action", f.Action}} {
		if is[1] != "" {
			w = append(w, store.Equal(is[0], is[1]))
		}
	}
	if !f.Since.IsZero() {
		w = append(w, store.Filter{Column: "at", Op: store.AtLeast, Values: []any{f.Since.UnixMicro()}})
	}
	return w
}

// Get reads one record of a tenant's log; store.ErrNotFound for none.
func Get(tx store.Tx, tenant string, seq int64) (r countersign.AuditRecord, err error) {
	row, err := tx.Get(store.Audit, tenant, recordID(seq))
	if err != nil {
		return r, err
	}
	err = store.Decode(row.Doc, &r)
	return r, err
}

// FollowingReadable is Following behind records that can't be read: each is handed to damaged,
// whose error ends the reading.
func FollowingReadable(tx store.Tx, tenant string, actions []string, first, last int64, limit int, damaged func(seq int64, err error) error) ([]countersign.AuditRecord, error) {
	list, err := Following(tx, tenant, actions, first, last, limit)
	if !errors.Is(err, store.ErrDamaged) {
		return list, err
	}
	if last-first <= 1 {
		return nil, damaged(first, err)
	}
	middle := first + (last-first)/2
	list, err = FollowingReadable(tx, tenant, actions, first, middle, limit, damaged)
	if err != nil || len(list) == limit {
		return list, err
	}
	rest, err := FollowingReadable(tx, tenant, actions, middle, last, limit-len(list), damaged)
	return append(list, rest...), err
}

// Following reads at most limit records of these actions, nil for all, in order, from sequence
// number first to before last.
func Following(tx store.Tx, tenant string, actions []string, first, last int64, limit int) ([]countersign.AuditRecord, error) {
	q := store.Query{ // by the ids, which are indexed and sort like the sequence numbers
		Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{recordID(first)}}, {Column: "id", Op: store.AtMost, Values: []any{recordID(last - 1)}}},
		Order: []store.Order{{Column: "id"}}, Limit: limit,
	}
	if actions != nil {
		of := store.Filter{Column: "action", Op: store.In}
		for _, action := range actions {
			of.Values = append(of.Values, action)
		}
		q.Where = []store.Filter{of, {Column: "seq", Op: store.AtLeast, Values: []any{first}}, {Column: "seq", Op: store.AtMost, Values: []any{last - 1}}}
		q.Order = []store.Order{{Column: "seq"}}
	}
	rows, err := tx.List(store.Audit, tenant, q)
	if err != nil {
		return nil, err
	}
	out := make([]countersign.AuditRecord, len(rows))
	for i, row := range rows {
		if err := store.Decode(row.Doc, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
