package postgres

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// change is a statement that makes a sqldoc.Write: all rows of a table in one statement, a
// parameter for each of its arrays. Rows that can't be changed make it fail, so that a
// COMMIT in the same message isn't executed: an INSERT by the primary key, an UPDATE because
// it divides by zero.
type change struct {
	name string // of the prepared statement
	text string
	oids []uint32 // of the parameters
}

// The types of parameters.
const (
	oidText     = 25
	oidInteger  = 20
	oidBytes    = 17
	oidTexts    = 1009
	oidIntegers = 1016
)

// changes has the statements of all tables.
var changes = map[changeOf]change{}

type changeOf struct {
	table *store.Table
	kind  sqldoc.Kind
}

func init() {
	for _, t := range store.Tables() {
		for kind, name := range map[sqldoc.Kind]string{sqldoc.Delete: "delete", sqldoc.Insert: "insert", sqldoc.Update: "update"} {
			changes[changeOf{t, kind}] = newChange(t, kind, "countersign_"+name+"_"+t.Name)
		}
	}
}

// changeFor is the statement for a Write of any table.
func changeFor(w sqldoc.Write) change {
	if c, known := changes[changeOf{w.Table, w.Kind}]; known {
		return c
	}
	return newChange(w.Table, w.Kind, "")
}

func newChange(t *store.Table, kind sqldoc.Kind, name string) change {
	c := change{name: name}
	var columns, sets, arrays []string
	column := func(name string, oid uint32) {
		columns, c.oids = append(columns, name), append(c.oids, oid)
		arrays = append(arrays, "$"+strconv.Itoa(len(c.oids))+map[uint32]string{oidTexts: "::text[]", oidIntegers: "::bigint[]"}[oid])
		if len(columns) > 2 {
			sets = append(sets, name+" = given."+name)
		}
	}
	column("tenant", oidTexts)
	column("id", oidTexts)
	if kind != sqldoc.Delete {
		column("version", oidIntegers)
		column("doc", oidTexts)
		for _, of := range t.Columns {
			if of.Integer {
				column(of.Name, oidIntegers)
			} else {
				column(of.Name, oidTexts)
			}
		}
	}
	const same = "old.tenant = given.tenant AND old.id = given.id"
	switch set := strings.Join(sets, ", "); kind {
	case sqldoc.Delete:
		c.text = "DELETE FROM " + t.Name + " AS old USING " + given(arrays, columns) + " WHERE " + same
	case sqldoc.Insert:
		c.text = "INSERT INTO " + t.Name + " (" + strings.Join(columns, ", ") + ") SELECT * FROM " + given(arrays, columns)
	case sqldoc.Update:
		column("expected", oidIntegers)
		c.oids = append(c.oids, oidInteger)
		c.text = "WITH changed AS (UPDATE " + t.Name + " AS old SET " + set + " FROM " + given(arrays, columns) +
			" WHERE " + same + " AND old.version = given.expected RETURNING 1)" +
			" SELECT 1 / (CASE WHEN COUNT(*) = $" + strconv.Itoa(len(c.oids)) + " THEN 1 ELSE 0 END) FROM changed"
	}
	return c
}

// given is the rows of the arrays.
func given(arrays, columns []string) string {
	return "unnest(" + strings.Join(arrays, ", ") + ") AS given (" + strings.Join(columns, ", ") + ")"
}

// parameters encodes a Write's arrays, and for an Update the number of its rows, in the
// binary format.
func parameters(w sqldoc.Write) (values [][]byte) {
	for _, a := range w.Arrays {
		switch a := a.(type) {
		case []string:
			values = append(values, textArray(a))
		case []int64:
			values = append(values, integerArray(a))
		}
	}
	if w.Kind == sqldoc.Update {
		values = append(values, binary.BigEndian.AppendUint64(nil, uint64(w.Rows)))
	}
	return values
}

func textArray(values []string) []byte {
	size := arrayHead
	for _, v := range values {
		size += 4 + len(v)
	}
	b := beginArray(oidText, len(values), size)
	for _, v := range values {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

func integerArray(values []int64) []byte {
	b := beginArray(oidInteger, len(values), arrayHead+12*len(values))
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(v))
	}
	return b
}

const arrayHead = 20

// beginArray is an array's head: one dimension, no NULL, the type, the length, the first
// index.
func beginArray(oid uint32, n, size int) []byte {
	b := make([]byte, 0, size)
	for _, field := range []uint32{1, 0, oid, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, field)
	}
	return b
}
