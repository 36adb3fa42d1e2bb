// Package transfer copies everything that one store keeps to another, of any engine: rows with
// their versions, keys and documents byte for byte.
//
// The target must be empty, and is marked until the copy is complete and checked; nothing may
// be served from it before. The source is marked before anything is copied, and stays so: what
// is unfinished in it goes on in the copy. The copy is one snapshot of the source. It leaves out the records
// of the processes that use the store and of sign-in limits, which are not part of what the
// store keeps. At the target's first start its runs are taken over as after a crash.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Errors of a copy that was not begun or not completed.
var (
	// ErrOccupied: the target has rows; nothing was changed.
	ErrOccupied = errors.New("the target is not empty")
	// ErrEmpty: the source has no rows; nothing was changed.
	ErrEmpty = errors.New("the source holds nothing")
	// ErrInUse: the source has records of processes; their later commits would be lost.
	ErrInUse = errors.New("the source is in use")
	// ErrCopied: what is unfinished in the source goes on in an earlier copy of it.
	ErrCopied = errors.New("the source was copied before")
	// ErrIncomplete: the store is the target of a copy that is running or was broken off.
	ErrIncomplete = errors.New("the store holds a copy that is not complete")
	// ErrBrokenOff: the target stays marked and can't be used.
	ErrBrokenOff = errors.New("the copy was broken off")
)

// markID is the id of the mark of an incomplete copy, in Meta under Realm.
const markID = "copy-incomplete"

// Config has the options of a copy.
type Config struct {
	// Crashed allows a source with records of processes. They are watched for the length of a
	// lease, since one that lives would send what the copy sends too, and removed when the source
	// is marked, so that one which only stood still does nothing any more.
	Crashed bool
	// To and At are what the source is marked with: the target's address, without a password, and
	// the time.
	To string
	At time.Time
	// Progress is called with the rows done and the total, -1 if it is not known. Each row
	// counts twice: it is copied and read back.
	Progress func(done, all int64)
}

// Copy copies from's rows to to, reads them back and compares the digests. A target may be
// served from only if the Report is Sound.
func Copy(ctx context.Context, from, to store.Store, cfg Config) (Report, error) {
	if err := from.View(ctx, cfg.mayCopy); err != nil {
		return Report{}, err
	}
	all, err := count(ctx, from)
	if err != nil {
		return Report{}, err
	}
	vacate := unused
	if cfg.Crashed {
		if _, vacate, err = lease.Vacant(ctx, from); err != nil {
			return Report{}, err
		}
	}
	if err := begin(ctx, to); err != nil {
		return Report{}, err
	}
	m := &move{cfg: cfg, vacate: vacate, from: from, to: to, all: all, mark: records.Copied{To: cfg.To, At: cfg.At}}
	if err := m.run(ctx); err != nil {
		return m.report, fmt.Errorf("%w: %w", ErrBrokenOff, err)
	}
	return m.report, nil
}

// Viewer is a store that can be read.
type Viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

// Complete refuses a store that is the target of an incomplete copy.
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

// begin marks the target in the transaction that finds it empty: a process that began to use
// the target before has left a row there, and one that begins later finds the mark.
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

// move is a running copy.
type move struct {
	cfg       Config
	vacate    func(store.Tx) error // leaves no record of a process in the source, or fails
	from, to  store.Store
	done, all int64
	report    Report
	mark      records.Copied // of the source
}

func (m *move) run(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	if err := m.carry(ctx); err != nil {
		return err
	}
	if err := m.readBack(ctx); err != nil || !m.report.Sound() {
		return err
	}
	if err := m.complete(ctx); err != nil {
		return err
	}
	return m.to.Update(ctx, func(tx store.Tx) error { return tx.Delete(store.Meta, store.Realm, markID) })
}

// errAnew ends a View that the engine repeats, since its second snapshot is another state.
var errAnew = errors.New("the connection to the source was lost")

// carry copies all rows and computes their digest.
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

// readBack computes the digest of the target and verifies its audit logs.
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

// count counts all rows. It returns -1 if that takes longer than a statement may, as in a very
// large database.
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

// mayCopy refuses a source that can't be copied, before anything is changed.
func (c Config) mayCopy(tx store.Tx) error {
	err := uncopied(tx)
	if err != nil || c.Crashed {
		return err
	}
	return unused(tx)
}

// uncopied refuses a source that has a complete copy: both copies would go on with what is
// unfinished.
func uncopied(tx store.Tx) error {
	was, err := records.CopiedTo(tx)
	if err == nil && was != nil && was.Complete {
		err = fmt.Errorf("%w, to %s at %s", ErrCopied, was.To, was.At.UTC().Format(time.RFC3339))
	}
	return err
}

// unused refuses a source with records of processes that share it.
func unused(tx store.Tx) error {
	found, err := records.AllReplicas(tx)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%w: process %s has a record in it, one of %d", ErrInUse, found[0].ID, len(found))
	}
	return err
}

// begin marks the source before anything is copied, so that no service starts on it any more.
// In the same transaction those lose their right to commit that have a record.
func (m *move) begin(ctx context.Context) error {
	return m.from.Update(ctx, func(tx store.Tx) error {
		if err := uncopied(tx); err != nil {
			return err
		}
		if err := m.vacate(tx); err != nil {
			return err
		}
		return records.MarkCopied(tx, m.mark)
	})
}

// complete marks the source as copied for good. A service that was started meanwhile may have
// committed rows that the copy lacks, as may one on a source that was reopened. From here on
// the copy may be in use: the target's own mark goes last.
func (m *move) complete(ctx context.Context) error {
	return m.from.Update(ctx, func(tx store.Tx) error {
		if err := uncopied(tx); err != nil {
			return err
		}
		if err := unused(tx); err != nil {
			return err
		}
		is, err := records.CopiedTo(tx)
		switch {
		case err != nil:
			return err
		case is == nil || is.To != m.mark.To || !is.At.Equal(m.mark.At):
			return errReopened
		}
		is.Complete = true
		return records.MarkCopied(tx, *is)
	})
}

var errReopened = errors.New("the source was reopened, or copied elsewhere, meanwhile")

func view(ctx context.Context, s store.Store, fn func(store.Whole) error) error {
	return s.View(ctx, func(tx store.Tx) error { return fn(tx.(store.Whole)) })
}

func update(ctx context.Context, s store.Store, fn func(store.Whole) error) error {
	return s.Update(ctx, func(tx store.Tx) error { return fn(tx.(store.Whole)) })
}
