package store

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/edition"
)

// Collection keeps values of one Go type in a table.
type Collection[T any] struct {
	Table *Table
	// Keys gives the column values of a document, in the table's order.
	Keys func(*T) []any
}

// Get reads one document and its version; ErrNotFound when there is none.
func (c Collection[T]) Get(tx Tx, tenant, id string) (*T, int64, error) {
	row, err := Look(tx, c.Table, tenant, id)
	if err != nil {
		return nil, 0, err
	}
	v, err := c.decode(row)
	return v, row.Version, err
}

// Put writes a document if its stored version is expected (0: there is none) and
// returns its new version; otherwise ErrConflict.
func (c Collection[T]) Put(tx Tx, tenant, id string, v *T, expected int64) (int64, error) {
	_, version, err := c.PutDoc(tx, tenant, id, v, expected)
	return version, err
}

// Add writes a document that hardly anybody else can have made (see Row.New), so that the store
// need not look whether there is one, and gives it; it must not be changed. Its version is 1.
func (c Collection[T]) Add(tx Tx, tenant, id string, v *T) (doc []byte, err error) {
	return c.put(tx, tenant, id, v, Row{New: true}, 0)
}

// PutSeen is Put of a document that was read before the function began (see Row.Seen).
func (c Collection[T]) PutSeen(tx Tx, tenant, id string, v *T, expected int64) error {
	_, err := c.put(tx, tenant, id, v, Row{Seen: true}, expected)
	return err
}

// PutDoc is Put, and gives the document that was written. It must not be changed.
func (c Collection[T]) PutDoc(tx Tx, tenant, id string, v *T, expected int64) (doc []byte, version int64, err error) {
	doc, err = c.put(tx, tenant, id, v, Row{}, expected)
	return doc, expected + 1, err
}

func (c Collection[T]) put(tx Tx, tenant, id string, v *T, row Row, expected int64) (doc []byte, err error) {
	if doc, err = countersign.Marshal(v); err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", c.Table.Name, id, err)
	}
	row.ID, row.Doc, row.Given = id, doc, true
	if edition.Has(edition.Third, v) {
		row.Edition = edition.Third
	}
	if c.Keys != nil {
		row.Keys = c.Keys(v)
	}
	return doc, tx.Put(c.Table, tenant, row, expected)
}

// Delete removes a document; removing none is not an error.
func (c Collection[T]) Delete(tx Tx, tenant, id string) error {
	return tx.Delete(c.Table, tenant, id)
}

// List reads the documents that match.
func (c Collection[T]) List(tx Tx, tenant string, q Query) ([]T, error) {
	rows, err := tx.List(c.Table, tenant, q)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		v, err := c.decode(row)
		if err != nil {
			return nil, err
		}
		out = append(out, *v)
	}
	return out, nil
}

// Each hands over the documents that match, one after the other, for those that may be
// large: at most so many rows are in memory at a time.
func (c Collection[T]) Each(tx Tx, tenant string, q Query, atOnce int, each func(*T) error) error {
	return c.EachReadable(tx, tenant, q, atOnce, each, func(_ Row, err error) error { return err })
}

// EachReadable is Each for who goes on behind a document that can't be read: it is handed to
// damaged with its columns, and the error that reading it ended with. An error of damaged ends
// the reading.
func (c Collection[T]) EachReadable(tx Tx, tenant string, q Query, atOnce int, each func(*T) error, damaged func(Row, error) error) error {
	left := q.Limit // 0: all
	for {
		q.Limit = atOnce
		if left > 0 {
			q.Limit = min(left, atOnce)
		}
		rows, err := tx.List(c.Table, tenant, q)
		if err != nil {
			return err
		}
		for _, row := range rows {
			v, err := c.decode(row)
			if err == nil {
				err = each(v)
			} else {
				err = damaged(row, err)
			}
			if err != nil {
				return err
			}
		}
		if left -= len(rows); len(rows) < q.Limit || left == 0 {
			return nil
		}
		q.Offset += len(rows)
	}
}

// Page reads one page and the total from the same snapshot.
func (c Collection[T]) Page(tx Tx, tenant string, q Query) (countersign.Page[T], error) {
	total, err := tx.Count(c.Table, tenant, q)
	if err != nil {
		return countersign.Page[T]{}, err
	}
	items, err := c.List(tx, tenant, q)
	if err != nil {
		return countersign.Page[T]{}, err
	}
	return countersign.NewPage(items, q.Offset, total), nil
}

func (c Collection[T]) decode(row Row) (*T, error) {
	v := new(T)
	if err := Decode(row.Doc, v); err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", c.Table.Name, row.ID, err)
	}
	return v, nil
}
