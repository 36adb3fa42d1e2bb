package sqldoc

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// alone is a reading that has no transaction yet. Most functions that read get one
// row, which needs none; the transaction is begun before anything more is read, and
// what the row was is then asked again in it.
type alone struct {
	begin func() error
	asked bool
	at    place
	row   store.Row // Version 0: there was none
}

// ErrTogether is the Err of a Tx whose first row changed before the others were
// read: its function must run again.
var ErrTogether = errors.New("sqldoc: what was read has changed meanwhile")

// Alone returns a Tx that calls begin before it reads more than one row.
func (c *Conn) Alone(begin func() error) *Tx {
	return &Tx{conn: c, readOnly: true, alone: &alone{begin: begin}}
}

// Begun says whether a Tx of Alone has called begin.
func (t *Tx) Begun() bool { return t.alone == nil }

// first gets the first row alone, and any other in the transaction.
func (t *Tx) first(p place) (store.Row, error) {
	if t.alone.asked {
		if err := t.Join(); err != nil {
			return store.Row{}, err
		}
		return t.get(p)
	}
	row, err := t.get(p)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		t.alone.asked, t.alone.at, t.alone.row = true, p, row
	}
	return row, err
}

// Join begins the transaction of a Tx of Alone, unless it is begun.
func (t *Tx) Join() error {
	if t.alone == nil || t.err != nil || t.over {
		return t.usable()
	}
	a := t.alone
	t.alone = nil
	if t.err = a.begin(); t.err != nil || !a.asked {
		return t.err
	}
	row, err := t.get(a.at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if row.Version != a.row.Version || string(row.Doc) != string(a.row.Doc) {
		t.err = ErrTogether
	}
	return t.err
}
