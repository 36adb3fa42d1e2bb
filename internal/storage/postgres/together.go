package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// together makes writes in one message.
func together(conn *sql.Conn, writes []sqldoc.Write) error {
	return conn.Raw(func(c any) error {
		pinned := c.(*stdlib.Conn).Conn()
		b, err := message(pinned, calls(writes))
		if err != nil {
			return err
		}
		return refused(pinned.PgConn().ExecBatch(context.Background(), b).Close())
	})
}

// call is a statement with its parameters in the binary format.
type call struct {
	change
	values [][]byte
}

func calls(writes []sqldoc.Write) []call {
	all := make([]call, len(writes))
	for i, w := range writes {
		all[i] = call{changeFor(w), parameters(w)}
	}
	return all
}

// message has statements. It prepares those that the connection doesn't have yet, if it
// keeps any.
func message(conn *pgx.Conn, all []call) (*pgconn.Batch, error) {
	b, keeps := &pgconn.Batch{}, kept(conn)
	for _, c := range all {
		switch {
		case keeps == nil || c.name == "":
			b.ExecParams(c.text, c.values, c.oids, binaryFormat, nil)
			continue
		case !keeps[c.name]:
			if _, err := conn.PgConn().Prepare(context.Background(), c.name, c.text, c.oids); err != nil {
				return nil, err
			}
			keeps[c.name] = true
		}
		b.ExecPrepared(c.name, c.values, binaryFormat, nil)
	}
	return b, nil
}

var binaryFormat = []int16{1} // of all parameters

// kept has the names of the statements that are prepared on a connection; nil if it
// prepares none.
func kept(conn *pgx.Conn) map[string]bool {
	const key = "countersign.prepared"
	of := conn.PgConn().CustomData()
	if _, known := of[key]; !known {
		var names map[string]bool
		if conn.Config().DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
			names = map[string]bool{}
		}
		of[key] = names
	}
	return of[key].(map[string]bool)
}

const (
	divisionByZero = "22012"
	notUnique      = "23505"
)

// refused turns the errors by which a change tells that it could not change each row into
// store.ErrConflict.
func refused(err error) error {
	if c := code(err); c == divisionByZero || c == notUnique {
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	}
	return err
}

// askTogether sends queries in one message and returns the row of each.
func askTogether(conn *sql.Conn, calls []sqldoc.Call) (rows [][]any, err error) {
	var b pgx.Batch
	for _, c := range calls {
		b.Queue(c.Text, c.Args...)
	}
	err = conn.Raw(func(c any) error {
		answers := c.(*stdlib.Conn).Conn().SendBatch(context.Background(), &b)
		for range calls {
			row, err := oneRow(answers)
			if err != nil {
				_ = answers.Close() // it gives the same error
				return err
			}
			rows = append(rows, row)
		}
		return answers.Close()
	})
	return rows, err
}

func oneRow(answers pgx.BatchResults) (row []any, err error) {
	found, err := answers.Query()
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		if row, err = found.Values(); err != nil {
			return nil, err
		}
	}
	return row, found.Err()
}
