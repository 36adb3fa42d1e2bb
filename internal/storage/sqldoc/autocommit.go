package sqldoc

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/storage/store"
)

// autocommitRead is the first read of a function, outside of any transaction. Most
// functions read one row and need none. A second read begins a snapshot and reads the
// first row again, in the message that begins it: if it has changed, the function runs again.
type autocommitRead struct {
	begin func(gets []Call) ([][]any, error)
	asked bool
	at    place
	row   store.Row // Version 0: there was none
}

// ErrFirstReadChanged is the Err of a Tx whose first row changed before its snapshot
// began: the function must run again.
var ErrFirstReadChanged = errors.New("sqldoc: what was read has changed meanwhile")

// Autocommit returns a Tx that calls begin before it reads more than one row. begin begins a
// snapshot and, in the same message, asks in it for rows: it gives each, nil for none.
func (c *Conn) Autocommit(begin func(gets []Call) ([][]any, error)) *Tx {
	return &Tx{conn: c, readOnly: true, autocommit: &autocommitRead{begin: begin}}
}

// Begun reports that a Tx of Autocommit has begun its snapshot.
func (t *Tx) Begun() bool { return t.autocommit == nil }

// first gets the first row without a transaction, and every later one in the snapshot.
func (t *Tx) first(p place) (store.Row, error) {
	if t.autocommit.asked {
		return t.beginAt(p)
	}
	row, err := t.get(p)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		t.autocommit.asked, t.autocommit.at, t.autocommit.row = true, p, row
	}
	return row, err
}

// BeginSnapshot begins the snapshot of a Tx of Autocommit, unless it has begun.
func (t *Tx) BeginSnapshot() error {
	if t.autocommit != nil && t.err == nil && !t.over {
		_, _ = t.snapshot()
	}
	return t.usable()
}

// beginAt begins the snapshot and gets a row in it.
func (t *Tx) beginAt(p place) (store.Row, error) {
	if err := t.usable(); err != nil {
		return store.Row{}, err
	}
	rows, err := t.snapshot(p)
	switch {
	case err != nil:
		return store.Row{}, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
	case rows[0].Version == 0:
		return store.Row{}, missing(p)
	}
	return rows[0], nil
}

// snapshot begins the snapshot and gets rows in it, those of Version 0 if there is none. It
// fails if the first row isn't any more what it was.
func (t *Tx) snapshot(places ...place) ([]store.Row, error) {
	a := t.autocommit
	t.autocommit = nil
	if a.asked {
		places = append(places, a.at)
	}
	var rows []store.Row
	if rows, t.err = t.beginning(a, places); t.err != nil || !a.asked {
		return rows, t.err
	}
	again := rows[len(rows)-1]
	if again.Version != a.row.Version || string(again.Doc) != string(a.row.Doc) {
		t.err = ErrFirstReadChanged
	}
	return rows[:len(rows)-1], t.err
}

func (t *Tx) beginning(a *autocommitRead, places []place) ([]store.Row, error) {
	gets := make([]Call, len(places))
	for i, p := range places {
		gets[i] = Call{t.conn.on(p.table).get.text, []any{p.tenant, p.id}}
	}
	found, err := a.begin(gets)
	if err != nil {
		return nil, t.conn.mean(err)
	}
	rows := make([]store.Row, len(places))
	for i, p := range places {
		e, err := recalled(found[i])
		if err != nil {
			return nil, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
		}
		rows[i] = e.row(p.id)
	}
	return rows, nil
}
