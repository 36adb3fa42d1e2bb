package writebehind

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/storage/store"
)

// A frame is the rows of one commit, in no order, each as
//
//	table, tenant, id   texts
//	version             uvarint; 0: the row is deleted, and nothing follows
//	doc                 text
//	columns             texts and varints, as the table has them
//
// where a text is its length as a uvarint and its bytes. A frame says what rows are after
// the commit whatever they were before, so that frames may be applied again.

func appendFrame(to []byte, c *changes) []byte {
	for i := range c.list {
		is := &c.list[i]
		to = appendText(appendText(appendText(to, is.table.Name), is.tenant), is.id)
		to = binary.AppendUvarint(to, uint64(is.version))
		if is.version == 0 {
			continue
		}
		to = appendText(to, is.doc)
		for _, k := range is.keys {
			if n, ok := k.(int64); ok {
				to = binary.AppendVarint(to, n)
			} else {
				to = appendText(to, k.(string))
			}
		}
	}
	return to
}

func appendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Recover applies the frame of the commit that follows the last one. Nobody else may use
// the Layers yet.
func (w *Writer) Recover(frame []byte, tables func(name string) *store.Table) error {
	b := w.Begin()
	defer b.End()
	t := &Tx{Snapshot: b.snapshot, batch: b}
	r := &reader{frame}
	for len(r.left) > 0 {
		if err := r.row(t, tables); err != nil {
			return err
		}
	}
	b.Committed()
	return nil
}

var errFrame = errors.New("a commit can't be read")

// reader reads a frame.
type reader struct{ left []byte }

func (r *reader) row(t *Tx, tables func(name string) *store.Table) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	table := tables(name)
	if table == nil {
		return fmt.Errorf("%w: it has rows of the unknown table %q", errFrame, name)
	}
	p := place{table: table}
	if p.tenant, err = r.text(); err != nil {
		return err
	}
	if p.id, err = r.text(); err != nil {
		return err
	}
	is, err := r.version(table)
	if err != nil {
		return err
	}
	was, err := t.read(p)
	if err == nil {
		t.change(p, was, is)
	}
	return err
}

func (r *reader) version(table *store.Table) (is row, err error) {
	version, err := r.number()
	if err != nil || version == 0 {
		return is, err
	}
	is.version = int64(version)
	doc, err := r.text()
	if err != nil {
		return is, err
	}
	is.doc = []byte(doc)
	for _, c := range table.Columns {
		var v any
		if c.Integer {
			v, err = r.integer()
		} else {
			v, err = r.text()
		}
		if err != nil {
			return is, err
		}
		is.keys = append(is.keys, v)
	}
	return is, nil
}

func (r *reader) number() (uint64, error) {
	v, n := binary.Uvarint(r.left)
	if n <= 0 {
		return 0, errFrame
	}
	r.left = r.left[n:]
	return v, nil
}

func (r *reader) integer() (int64, error) {
	v, n := binary.Varint(r.left)
	if n <= 0 {
		return 0, errFrame
	}
	r.left = r.left[n:]
	return v, nil
}

func (r *reader) text() (string, error) {
	n, err := r.number()
	if err != nil || n > uint64(len(r.left)) {
		return "", errFrame
	}
	text := string(r.left[:n])
	r.left = r.left[n:]
	return text, nil
}
