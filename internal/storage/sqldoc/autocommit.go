package sqldoc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// autocommitRead is the first read of a function, outside of any transaction. Most
// functions read one row and need none. A second read begins a snapshot and reads the
// first row again, in the message that begins it: if it has changed, the function runs again.
type autocommitRead struct {
	reads Reads
	asked bool
	at    place
	row   store.Row // Version 0: there was none
}

// Reads is the engine's side of a Tx of Autocommit.
type Reads interface {
	// First asks for a row as it is now, outside of any transaction: nil for none.
	First(get Call) (row []any, err error)
	// Begin begins a snapshot on a connection and, in the same message, asks in it for rows:
	// it gives each, nil for none.
	Begin(gets []Call) (conn *Conn, rows [][]any, err error)
}

// ErrFirstReadChanged is the Err of a Tx whose first row changed before its snapshot
// began: the function must run again, for which the snapshot can be used.
var ErrFirstReadChanged = errors.New("sqldoc: what was read has changed meanwhile")

// Autocommit returns a Tx that needs no connection before it reads more than one row.
func Autocommit(d Dialect, reads Reads) *Tx {
	return &Tx{conn: &Conn{dialect: d}, readOnly: true, autocommit: &autocommitRead{reads: reads}}
}

// first gets the first row without a transaction, and every later one in the snapshot.
func (t *Tx) first(p place) (store.Row, error) {
	if err := t.usable(); err != nil {
		return store.Row{}, err
	}
	a := t.autocommit
	if a.asked {
		rows, err := t.snapshot(p)
		return found(p, rows, err)
	}
	rows, err := t.answered([]place{p}, func(gets []Call) ([][]any, error) {
		row, err := a.reads.First(gets[0])
		return [][]any{row}, err
	})
	if t.err = err; err == nil {
		a.asked, a.at, a.row = true, p, rows[0]
	}
	return found(p, rows, err)
}

// beginSnapshot begins the snapshot of a Tx of Autocommit, unless it has begun.
func (t *Tx) beginSnapshot() error {
	if t.autocommit != nil && t.err == nil && !t.over {
		_, _ = t.snapshot()
	}
	return t.usable()
}

// found gives the first of the rows, which is at p.
func found(p place, rows []store.Row, err error) (store.Row, error) {
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
	rows, t.err = t.answered(places, func(gets []Call) (rows [][]any, err error) {
		t.conn, rows, err = a.begun(t.conn, gets)
		return rows, err
	})
	if t.err != nil || !a.asked {
		return rows, t.err
	}
	again := rows[len(rows)-1]
	if again.Version != a.row.Version || string(again.Doc) != string(a.row.Doc) {
		t.err = ErrFirstReadChanged
	}
	return rows[:len(rows)-1], t.err
}

// begun begins the snapshot; the connection stays what it was if there is none.
func (a *autocommitRead) begun(was *Conn, gets []Call) (*Conn, [][]any, error) {
	conn, rows, err := a.reads.Begin(gets)
	if err != nil {
		return was, nil, err
	}
	return conn, rows, nil
}

// answered asks for rows.
func (t *Tx) answered(places []place, ask func(gets []Call) ([][]any, error)) ([]store.Row, error) {
	gets := make([]Call, len(places))
	for i, p := range places {
		gets[i] = p.get()
	}
	answers, err := ask(gets)
	if err != nil {
		return nil, t.conn.mean(err)
	}
	rows := make([]store.Row, len(places))
	for i, p := range places {
		version, doc, keys, err := Answer(answers[i])
		if err != nil {
			return nil, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
		}
		rows[i] = store.Row{ID: p.id, Version: version, Keys: slices.Clone(keys), Doc: []byte(doc)}
	}
	return rows, nil
}
