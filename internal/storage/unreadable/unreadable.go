// Package unreadable lets whoever goes over the records of all tenants go on behind one that
// can't be read. What rests on that record waits; it is named in the log once, counted, and
// shown by `countersign doctor`.
package unreadable

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Is reports an error that lies in what is stored, not one of the store that may pass: a record
// that can't be read as what it should be, or one that another refers to and that isn't there.
func Is(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}

// Record is what can't be read, or what rests on it: a run, say, one of whose steps is damaged.
type Record struct{ Tenant, Kind, ID string }

// Records are what a process can't read now. It is safe for concurrent use. Nil passes over
// records and tells nobody.
type Records struct {
	log *slog.Logger

	mu    sync.Mutex
	known map[Record]bool
}

// New makes the records of a process, which names each in the log.
func New(log *slog.Logger) *Records {
	return &Records{log: log, known: map[Record]bool{}}
}

// Pass tells of an error that lies in a record, so that the caller goes on with the next, and
// returns nil then. It returns any other error. Nil says that the record was read.
func (r *Records) Pass(of Record, err error) error {
	if err != nil && !Is(err) {
		return err
	}
	if r != nil && r.keep(of, err != nil) {
		r.log.Error("a record can't be read; what rests on it waits, and the others go on", "tenant", of.Tenant, "kind", of.Kind, "id", of.ID, "error", err)
	}
	return nil
}

// List lists the documents that can be read, and tells of the others.
func List[T any](r *Records, tx store.Tx, kind string, c store.Collection[T], tenant string, q store.Query) (out []T, err error) {
	rows, err := tx.List(c.Table, tenant, q)
	for _, row := range rows {
		var v T
		err := records.Decode(row, &v)
		if r.Pass(Record{Tenant: tenant, Kind: kind, ID: row.ID}, err) == nil && err == nil {
			out = append(out, v)
		}
	}
	return out, err
}

// PassRun is Pass of an entry in the list of unfinished runs.
func (r *Records) PassRun(row store.Row, err error) error {
	u := records.UnfinishedOfRow(row)
	return r.Pass(Record{Tenant: u.TenantID, Kind: "run", ID: u.RunID}, err)
}

// keep remembers whether a record can be read. It reports one that couldn't be read for the
// first time.
func (r *Records) keep(of Record, damaged bool) (isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !damaged {
		delete(r.known, of)
		return false
	}
	isNew = !r.known[of]
	r.known[of] = true
	return isNew
}

// All are the records that can't be read, as far as anybody has looked.
func (r *Records) All() []Record {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(r.known), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

// EachTenant does something for each tenant. What can't be read of one stops it for that tenant
// alone, until it is done again; so does any other error, which it returns with those of the
// others. Only the end of the context ends it.
func (r *Records) EachTenant(ctx context.Context, s store.Store, what string, do func(tenant string) error) error {
	var ids []string
	err := s.View(ctx, func(tx store.Tx) (err error) {
		ids, err = records.TenantIDs(tx)
		return err
	})
	for _, id := range ids {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if failed := r.Pass(Record{Tenant: id, Kind: what, ID: id}, do(id)); failed != nil {
			err = errors.Join(err, &TenantError{id, failed})
		}
	}
	return err
}

// TenantError is an error that ended something for one tenant.
type TenantError struct {
	Tenant string
	Err    error
}

func (t *TenantError) Error() string { return "tenant " + t.Tenant + ": " + t.Err.Error() }

func (t *TenantError) Unwrap() error { return t.Err }
