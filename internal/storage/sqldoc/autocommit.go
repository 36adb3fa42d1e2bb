package sqldoc

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// autocommitRead is the first read of a function, outside of any transaction. Most
// functions read one row and need none. A second read begins a snapshot and reads the
// first row again: if it has changed, the function runs again.
type autocommitRead struct {
	begin func() error
	asked bool
	at    place
	row   store.Row // Version 0: there was none
}

// ErrFirstReadChanged is the Err of a Tx whose first row changed before its snapshot
// began: the function must run again.
var ErrFirstReadChanged = errors.New("sqldoc: what was read has changed meanwhile")

// Autocommit returns a Tx that calls begin before it reads more than one row.
func (c *Conn) Autocommit(begin func() error) *Tx {
	return &Tx{conn: c, readOnly: true, autocommit: &autocommitRead{begin: begin}}
}

// Begun reports that a Tx of Autocommit has begun its snapshot.
func (t *Tx) Begun() bool { return t.autocommit == nil }

// first gets the first row without a transaction, and every later one in the snapshot.
func (t *Tx) first(p place) (store.Row, error) {
	if t.autocommit.asked {
		if err := t.BeginSnapshot(); err != nil {
			return store.Row{}, err
		}
		return t.get(p)
	}
	row, err := t.get(p)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		t.autocommit.asked, t.autocommit.at, t.autocommit.row = true, p, row
	}
	return row, err
}

// BeginSnapshot begins the snapshot of a Tx of Autocommit, unless it has begun.
func (t *Tx) BeginSnapshot() error {
	if t.autocommit == nil || t.err != nil || t.over {
		return t.usable()
	}
	a := t.autocommit
	t.autocommit = nil
	if t.err = a.begin(); t.err != nil || !a.asked {
		return t.err
	}
	row, err := t.get(a.at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if row.Version != a.row.Version || string(row.Doc) != string(a.row.Doc) {
		t.err = ErrFirstReadChanged
	}
	return t.err
}
