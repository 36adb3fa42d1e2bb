package harness

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // reads the directory's database while the server runs
)

// Kept reads a store while its server runs, without the audit log and without what the service writes
// by itself, such as the last use of a token and leases. Close it before the server stops.
type Kept struct {
	s      *Server
	tables []string
	query  func(statement string) ([]string, error)
	Close  func()
}

// documentTables selects the tables with documents. All other rows derive from them.
const documentTables = `SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%doc TEXT%'`

// Kept opens the server's store for reading.
func (s *Server) Kept() *Kept {
	s.t.Helper()
	s.own("Kept")
	k := &Kept{s: s}
	catalogue, open := documentTables, k.openDirectory
	if s.Shared() {
		open, catalogue = k.openDatabase, `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'doc'`
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

// Rows lists every row with its version, which increases with each change. It uses one statement, and
// so one snapshot.
func (k *Kept) Rows() string {
	k.s.t.Helper()
	var parts []string
	for _, table := range k.tables {
		if strings.HasPrefix(table, "audit") || table == "terms" { // the search index follows the log in the background
			continue
		}
		parts = append(parts, "SELECT '"+table+" ' || tenant || '/' || id || ' ' || "+k.state(table)+" FROM "+table+own(table))
	}
	rows, err := k.query(strings.Join(parts, " UNION ALL ") + " ORDER BY 1")
	if err != nil {
		k.s.t.Fatalf("read what is kept: %v", err)
	}
	return strings.Join(rows, "\n")
}

// state is the part of a row that must not change.
func (k *Kept) state(table string) string {
	field := map[string]string{"tokens": "lastUsedAt", "sessions": "seenAt"}[table]
	switch {
	case field == "":
		return "version"
	case k.s.Shared():
		return "(doc::jsonb - '" + field + "')::text"
	default:
		return "json_remove(doc, '$." + field + "')"
	}
}

// own excludes the records of processes, of limits and of the search index.
func own(table string) string {
	if table != "meta" {
		return ""
	}
	return " WHERE id NOT LIKE 'replica%' AND id NOT LIKE 'limit%' AND id NOT LIKE 'indexed/%'"
}
