// Package transfer moves everything that one store keeps to another, whatever the
// engines: rows with their versions, keys and documents byte for byte.
//
// The target must be empty and is marked until the copy is complete and checked;
// nothing may be served from it before. What is read is one snapshot of the source.
// The records of the processes that use a store say who uses it, those of limits who
// has just tried to sign in: neither are part of what it keeps. They stay behind, and the runs that they drove are taken over at
// the target's first start as after a crash.
package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Why a copy isn't begun, or wasn't ended.
var (
	// ErrOccupied: the target holds something; nothing was changed.
	ErrOccupied = errors.New("the target is not empty")
	// ErrEmpty: the source holds nothing; nothing was changed.
	ErrEmpty = errors.New("the source holds nothing")
	// ErrInUse: processes have a record in the source; what they commit would be lost.
	ErrInUse = errors.New("the source is in use")
	// ErrIncomplete: the store is the target of a copy that goes on or was broken off.
	ErrIncomplete = errors.New("the store holds a copy that is not complete")
	// ErrBrokenOff: the target stays marked, and of no use.
	ErrBrokenOff = errors.New("the copy was broken off")
)

// markID is the id of the mark, in Meta under Realm, while a copy isn't complete.
const markID = "copy-incomplete"

// Config says how to copy.
type Config struct {
	// Used allows a source that processes have a record in, living or crashed: what
	// is copied is the moment at which the copy begins.
	Used bool
	// Progress is told of the rows done and of all, -1 where their number isn't
	// known. Each is moved once and read back once.
	Progress func(done, all int64)
}

// Copy moves from's rows into to and compares the digests of what was read and of
// what can be read then. Only a Report that is Sound leaves a target that may be
// served from.
func Copy(ctx context.Context, from, to store.Store, cfg Config) (Report, error) {
	if err := cfg.unused(ctx, from); err != nil {
		return Report{}, err
	}
	all, err := count(ctx, from)
	if err != nil {
		return Report{}, err
	}
	if err := begin(ctx, to); err != nil {
		return Report{}, err
	}
	m := &move{cfg: cfg, from: from, to: to, all: all}
	if err := m.run(ctx); err != nil {
		return m.report, fmt.Errorf("%w: %w", ErrBrokenOff, err)
	}
	return m.report, nil
}

// Viewer is a store that is looked at.
type Viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

// Complete refuses a store that a copy was begun to and not ended.
func Complete(ctx context.Context, s Viewer) error {
	return s.View(ctx, func(tx store.Tx) error {
		_, err := tx.Get(store.Meta, store.Realm, markID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = ErrIncomplete
		}
		return err
	})
}

// begin marks the target, in the transaction that finds it empty: a process that
// began to use it before has left a row, one that begins later finds the mark.
func begin(ctx context.Context, to store.Store) error {
	if err := Complete(ctx, to); err != nil {
		return err
	}
	return update(ctx, to, func(tx store.Whole) error {
		for _, t := range store.Tables() {
			tenants, err := tx.Tenants(t)
			if err != nil {
				return err
			}
			if len(tenants) > 0 {
				return fmt.Errorf("%w: its table %s has rows", ErrOccupied, t.Name)
			}
		}
		return tx.Put(store.Meta, store.Realm, store.Row{ID: markID, Doc: []byte("{}")}, 0)
	})
}

// move is a copy under way.
type move struct {
	cfg       Config
	from, to  store.Store
	done, all int64
	report    Report
}

func (m *move) run(ctx context.Context) error {
	if err := m.carry(ctx); err != nil {
		return err
	}
	if err := m.readBack(ctx); err != nil || !m.report.Sound() {
		return err
	}
	// A service that began meanwhile may have committed what isn't in the copy.
	if err := m.cfg.unused(ctx, m.from); err != nil {
		return err
	}
	return m.to.Update(ctx, func(tx store.Tx) error { return tx.Delete(store.Meta, store.Realm, markID) })
}

// errAnew: an engine may give a View a second snapshot, which is another state.
var errAnew = errors.New("the connection to the source was lost")

// carry moves all rows and takes their digest on the way.
func (m *move) carry(ctx context.Context) error {
	begun := false
	return view(ctx, m.from, func(tx store.Whole) error {
		if begun {
			return errAnew
		}
		d := newDigest()
		err := walk(ctx, tx, func(p page) error {
			begun = true
			d.add(p)
			m.tell(p)
			return update(ctx, m.to, p.load)
		})
		m.report.Tables, m.report.Rows, m.report.From = d.tables, d.rows, d.sum()
		return err
	})
}

// readBack takes the digest of the target and verifies its audit logs.
func (m *move) readBack(ctx context.Context) error {
	before := m.done
	return view(ctx, m.to, func(tx store.Whole) error {
		m.done = before
		d := newDigest()
		err := walk(ctx, tx, func(p page) error {
			d.add(p)
			m.tell(p)
			return nil
		})
		if err != nil {
			return err
		}
		m.report.To = d.sum()
		m.report.Logs, err = logs(tx, d.tenants())
		return err
	})
}

func (m *move) tell(p page) {
	m.done += int64(len(p.rows))
	if m.cfg.Progress != nil {
		m.cfg.Progress(m.done, max(2*m.all, -1))
	}
}

// count counts the rows there are. On a very large database that takes longer than
// a statement may: then nobody knows.
func count(ctx context.Context, s store.Store) (all int64, err error) {
	some := false
	err = view(ctx, s, func(tx store.Whole) error {
		all = 0
		return places(tx, func(t *store.Table, tenant string) error {
			some = true
			n, err := tx.Count(t, tenant, store.Query{})
			all += int64(n)
			return err
		})
	})
	switch {
	case some && err != nil && ctx.Err() == nil:
		return -1, nil
	case err == nil && !some:
		return 0, ErrEmpty
	}
	return all, err
}

// unused refuses a source in which processes that share it have a record.
func (c Config) unused(ctx context.Context, from store.Store) error {
	if c.Used {
		return nil
	}
	return from.View(ctx, func(tx store.Tx) error {
		found, err := records.AllReplicas(tx)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("%w by %d replicas, the first is %s", ErrInUse, len(found), found[0].ID)
		}
		return err
	})
}

func view(ctx context.Context, s store.Store, fn func(store.Whole) error) error {
	return s.View(ctx, func(tx store.Tx) error { return fn(tx.(store.Whole)) })
}

func update(ctx context.Context, s store.Store, fn func(store.Whole) error) error {
	return s.Update(ctx, func(tx store.Tx) error { return fn(tx.(store.Whole)) })
}
