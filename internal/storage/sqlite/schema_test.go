package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestMigrationsAndTablesAgree compares the schema, column by column, with what
// store.Tables calls for.
func TestMigrationsAndTablesAgree(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	db, err := defaults().readerPool(filepath.Join(dir, databaseFile))
	mustDo(t, err)
	defer func() { mustDo(t, db.Close()) }()
	want := map[string][]string{}
	for _, table := range store.Tables() {
		columns := []string{"tenant TEXT key 1", "id TEXT key 2", "version INTEGER key 0", "doc TEXT key 0"}
		for _, c := range table.Columns {
			columns = append(columns, c.Name+map[bool]string{false: " TEXT key 0", true: " INTEGER key 0"}[c.Integer])
		}
		want[table.Name] = columns
	}
	if diff := cmp.Diff(want, schema(t, db)); diff != "" {
		t.Errorf("the migrations (+) and store.Tables (-) differ:\n%s", diff)
	}
}

// schema returns the columns of every table of documents, none of what counts them; all must be NOT NULL
// in STRICT tables.
func schema(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	rows, err := db.Query(`SELECT l.name, l.strict, c.name, c.type, c."notnull", c.pk
		FROM pragma_table_list l, pragma_table_info(l.name) c
		WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite%' AND l.name NOT LIKE 'goose%' AND l.name NOT LIKE '%_counted' AND l.name NOT IN ('journal', 'audit_packs', 'audit_postings')
		ORDER BY l.name, c.cid`)
	mustDo(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table, column, kind string
		var strict, notNull bool
		var key int
		mustDo(t, rows.Scan(&table, &strict, &column, &kind, &notNull, &key))
		if !strict || !notNull {
			t.Errorf("%s.%s: strict %t, not null %t", table, column, strict, notNull)
		}
		found[table] = append(found[table], fmt.Sprintf("%s %s key %d", column, kind, key))
	}
	mustDo(t, rows.Err())
	return found
}

// TestNamesNeedNoQuotes: statements are put together from them.
func TestNamesNeedNoQuotes(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z][a-z_]*$`)
	for _, table := range store.Tables() {
		for _, c := range append([]store.Column{{Name: table.Name}}, table.Columns...) {
			if !plain.MatchString(c.Name) {
				t.Errorf("table %s: name %q", table.Name, c.Name)
			}
		}
	}
}

func TestWriterSyncsEachCommit(t *testing.T) {
	s := mustOpen(t, emptyStore(t))
	for pragma, want := range map[string]string{
		"synchronous": "2", "journal_mode": "wal", "wal_autocheckpoint": "0", "application_id": fmt.Sprint(applicationID),
		"temp_store": "2", "user_version": fmt.Sprint(level), "page_size": fmt.Sprint(pageSize),
	} {
		got := ""
		mustDo(t, s.flusher.conn.QueryRow("PRAGMA "+pragma, &got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	conn, err := s.readers.borrow(context.Background())
	mustDo(t, err)
	defer func() { s.readers.idle <- conn }()
	if conn.Exec("DELETE FROM models") == nil {
		t.Error("a reader wrote")
	}
}

// TestPacksAreFoundWithoutTheirContent: what counts and skips reads an index alone.
func TestPacksAreFoundWithoutTheirContent(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	s := newSearch(nil)
	sum, _, _ := s.sum("acme")
	b := blocks{descending: true}
	inDatabase(t, dir, func(db *sql.DB) {
		for _, query := range []string{sum, b.inOrder("SELECT first, n, earliest, latest FROM audit_packs WHERE tenant = $1")} {
			var id, parent, unused int
			var plan string
			mustDo(t, db.QueryRow("EXPLAIN QUERY PLAN "+dialectOf("").Rewrite(query), "acme", 1, 2, 3).Scan(&id, &parent, &unused, &plan))
			if !strings.HasPrefix(plan, "SEARCH audit_packs USING COVERING INDEX audit_packs_span") {
				t.Errorf("%s\n%s", query, plan)
			}
		}
	})
}
