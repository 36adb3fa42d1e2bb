package sqldoc

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// autocommitRead is a reading that has no transaction yet. Most functions that read get one
// row, which needs none; the transaction is begun before anything more is read, and
// what the row was is then asked again in it.
type autocommitRead struct {
	begin func() error
	asked bool
	at    place
	row   store.Row // Version 0: there was none
}

// ErrFirstReadChanged is the Err of a Tx whose first row changed before the others were
// read: its function must run again.
var ErrFirstReadChanged = errors.New("sqldoc: what was read has changed meanwhile")

// Autocommit returns a Tx that calls begin before it reads more than one row.
func (c *Conn) Autocommit(begin func() error) *Tx {
	return &Tx{conn: c, readOnly: true, autocommit: &autocommitRead{begin: begin}}
}

// Begun says whether a Tx of Alone has called begin.
func (t *Tx) Begun() bool { return t.autocommit == nil }

// first gets the first row alone, and any other in the transaction.
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

// BeginSnapshot begins the transaction of a Tx of Alone, unless it is begun.
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
