package sqldoc

import (
	"database/sql"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// statement is the text of a statement and, once it was used on its connection,
// the prepared form.
type statement struct {
	text string
	stmt *sql.Stmt
	once bool // never prepared
}

func (s *statement) close() {
	if s.stmt != nil {
		_ = s.stmt.Close()
		s.stmt = nil
	}
}

// tableStatements are the statements on single rows of a table. Those that write have the
// parameters $1 tenant, $2 id, $3 the new version, $4 doc, $5 … the columns; an update has
// the expected version last.
type tableStatements struct {
	get    statement
	insert statement
	// touch updates a row only if its columns have these values already; rewrite
	// sets them. A row's columns seldom change, and an UPDATE that names a column
	// writes the pages of all indexes on it, changed or not: touching first
	// spares a third of the bytes that a typical commit writes.
	touch   statement
	rewrite statement
	remove  statement
}

func (c *Conn) on(t *store.Table) *tableStatements {
	s, ok := c.tables[t]
	if !ok {
		s = newTableStatements(t)
		c.tables[t] = s
	}
	return s
}

const key = " WHERE tenant = $1 AND id = $2"

// gets has the statements that read a row, of each table.
var gets = map[*store.Table]string{}

func init() {
	for _, t := range store.Tables() {
		gets[t] = selectFrom(t) + key
	}
}

// get asks for a row.
func (p place) get() Call {
	text, known := gets[p.table]
	if !known {
		text = selectFrom(p.table) + key
	}
	return Call{text, []any{p.tenant, p.id}}
}

func newTableStatements(t *store.Table) *tableStatements {
	update := "UPDATE " + t.Name + " SET version = $3, doc = $4"
	at := " AND version = $" + strconv.Itoa(len(t.Columns)+5)
	var names, values, same, set strings.Builder
	for i, column := range t.Columns {
		parameter := "$" + strconv.Itoa(i+5)
		names.WriteString(", " + column.Name)
		values.WriteString(", " + parameter)
		same.WriteString(" AND " + column.Name + " = " + parameter)
		set.WriteString(", " + column.Name + " = " + parameter)
	}
	return &tableStatements{
		get: statement{text: selectFrom(t) + key},
		insert: statement{text: "INSERT INTO " + t.Name + " (tenant, id, version, doc" + names.String() +
			") VALUES ($1, $2, $3, $4" + values.String() + ") ON CONFLICT DO NOTHING"},
		touch:   statement{text: update + key + at + same.String()},
		rewrite: statement{text: update + set.String() + key + at},
		remove:  statement{text: "DELETE FROM " + t.Name + key},
	}
}

func (s *tableStatements) close() {
	for _, each := range []*statement{&s.get, &s.insert, &s.touch, &s.rewrite, &s.remove} {
		each.close()
	}
}

// selectFrom selects what scan reads.
func selectFrom(t *store.Table) string { return selectDocs(t, "doc") }

// bareFrom is selectFrom without documents.
func bareFrom(t *store.Table) string { return selectDocs(t, "''") }

func selectDocs(t *store.Table, doc string) string {
	var b strings.Builder
	b.WriteString("SELECT id, version, " + doc)
	for _, c := range t.Columns {
		b.WriteString(", " + c.Name)
	}
	b.WriteString(" FROM " + t.Name)
	return b.String()
}
