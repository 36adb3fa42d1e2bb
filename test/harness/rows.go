package harness

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// checkRows searches every column of every table of the database for secrets.
func (s *Server) checkRows() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.settings["SVC_PLATFORM_STORE"])
	if err != nil {
		s.t.Errorf("look for secrets in the database: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := s.scan(ctx, conn); err != nil {
		s.t.Errorf("look for secrets in the database: %v", err)
	}
}

const ownTables = `SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public'`

func (s *Server) scan(ctx context.Context, conn *pgx.Conn) error {
	names, err := conn.Query(ctx, ownTables)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := s.scanTable(ctx, conn, table); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// scanTable reads the rows as text, the format of the simple protocol.
func (s *Server) scanTable(ctx context.Context, conn *pgx.Conn, table string) error {
	rows, err := conn.Query(ctx, "SELECT * FROM "+table, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		for i, value := range rows.RawValues() {
			if secret := s.leaked(string(value)); secret != "" {
				s.t.Errorf("the secret %q is in the database, in %s.%s", secret, table, rows.FieldDescriptions()[i].Name)
			}
		}
	}
	return rows.Err()
}
