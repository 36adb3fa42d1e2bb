package harness

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // reads the directory's database while the server runs

	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// Kept reads a store while its server runs, without the audit log and without what the service writes
// by itself, such as the last use of a token and leases. Close it before the server stops.
type Kept struct {
	s      *Server
	tables []string
	query  func(statement string) ([]string, error)
	list   func() ([]string, error)
	Close  func()
}

// documentTables selects the tables with documents. All other rows derive from them.
const documentTables = `SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%doc TEXT%'`

// Kept opens the server's store for reading.
func (s *Server) Kept() *Kept {
	s.t.Helper()
	s.own("Kept")
	k := &Kept{s: s}
	k.list = k.selected
	catalogue, open := documentTables, k.openDirectory
	if s.Shared() {
		open, catalogue = k.openDatabase, `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'doc'`
	} else {
		k.list = k.peek // the database lacks what is only in the journal
	}
	err := open()
	if err == nil {
		k.tables, err = k.query(catalogue)
	}
	if err != nil {
		s.t.Fatalf("read what is kept: %v", err)
	}
	s.t.Cleanup(k.Close)
	return k
}

func (k *Kept) openDirectory() error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(k.s.Store, "countersign.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	k.Close = func() { _ = db.Close() }
	k.query = func(statement string) ([]string, error) {
		rows, err := db.Query(statement)
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		var out []string
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return nil, err
			}
			out = append(out, text)
		}
		return out, rows.Err()
	}
	return nil
}

func (k *Kept) openDatabase() error {
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgx.Connect(ctx, k.s.settings["SVC_PLATFORM_STORE"])
	if err != nil {
		cancel()
		return err
	}
	k.Close = func() { _ = conn.Close(ctx); cancel() }
	k.query = func(statement string) ([]string, error) {
		rows, err := conn.Query(ctx, statement)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	}
	return nil
}

// checkDocuments searches for secrets in the rows of a directory's database, since a long document is
// in several pieces in the file. If the database can't be read, its file was searched.
func (s *Server) checkDocuments() {
	k := &Kept{s: s}
	if k.openDirectory() != nil {
		return
	}
	defer k.Close()
	tables, err := k.query(documentTables)
	if err != nil {
		return
	}
	for _, table := range tables {
		rows, _ := k.query("SELECT tenant || ' ' || id || ' ' || doc FROM " + table)
		if secret := s.leaked(strings.Join(rows, "\n")); secret != "" {
			s.t.Errorf("the secret %s is in the store's table %s", secret, table)
		}
	}
}

// Rows lists every row with its version, which increases with each change, as of one moment.
func (k *Kept) Rows() string {
	k.s.t.Helper()
	rows, err := k.list()
	if err != nil {
		k.s.t.Fatalf("read what is kept: %v", err)
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// follows reports a table that is written beside each change, or after it in the background.
func follows(table string) bool { return strings.HasPrefix(table, "audit") || table == "terms" }

// peek lists the rows of a directory.
func (k *Kept) peek() (all []string, err error) {
	err = sqlite.Peek(context.Background(), k.s.Store, func(tx store.Tx) error {
		all = nil
		for _, table := range store.Tables() {
			if follows(table.Name) {
				continue
			}
			tenants, err := tx.(store.Whole).Tenants(table)
			if err != nil {
				return err
			}
			for _, tenant := range tenants {
				rows, err := tx.List(table, tenant, store.Query{})
				if err != nil {
					return err
				}
				for _, row := range rows {
					if table == store.Meta && ownRecord(row.ID) {
						continue
					}
					all = append(all, fmt.Sprintf("%s %s/%s %s", table.Name, tenant, row.ID, lasting(table, row)))
				}
			}
		}
		return nil
	})
	return all, err
}

// ownRecord reports a record of a process, a limit or the search index.
func ownRecord(id string) bool {
	return strings.HasPrefix(id, "replica") || strings.HasPrefix(id, "limit") || strings.HasPrefix(id, "indexed/")
}

// lasting is the part of a row that must not change.
func lasting(table *store.Table, row store.Row) string {
	field := seen[table.Name]
	if field == "" {
		return strconv.FormatInt(row.Version, 10)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(row.Doc, &doc); err != nil {
		return string(row.Doc)
	}
	delete(doc, field)
	return fmt.Sprint(doc)
}

// seen are the fields that the service writes by itself.
var seen = map[string]string{"tokens": "lastUsedAt", "sessions": "seenAt"}

// selected lists the rows of a database, by one statement and so in one snapshot.
func (k *Kept) selected() ([]string, error) {
	var parts []string
	for _, table := range k.tables {
		if follows(table) {
			continue
		}
		parts = append(parts, "SELECT '"+table+" ' || tenant || '/' || id || ' ' || "+k.state(table)+" FROM "+table+own(table))
	}
	return k.query(strings.Join(parts, " UNION ALL "))
}

// state is the part of a row that must not change.
func (k *Kept) state(table string) string {
	if field := seen[table]; field != "" {
		return "(doc::jsonb - '" + field + "')::text"
	}
	return "version"
}

// own excludes the records of processes, of limits and of the search index.
func own(table string) string {
	if table != "meta" {
		return ""
	}
	return " WHERE id NOT LIKE 'replica%' AND id NOT LIKE 'limit%' AND id NOT LIKE 'indexed/%'"
}
