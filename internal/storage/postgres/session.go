package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// session is a connection taken from the pool until it is released. It must not be used by
// two goroutines at once.
type session struct {
	pinned *sql.Conn
	raw    *pgx.Conn
	conn   *sqldoc.Conn   // documents, on it
	wire   *pgconn.PgConn // what is below SQL, for several statements in a message
	locals locals         // of each transaction that writes
}

// connect takes a connection from the pool, which opens one if none is free.
func connect(ctx context.Context, db *sql.DB) (*session, error) {
	pinned, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", meaning(err))
	}
	s := &session{pinned: pinned, conn: sqldoc.NewConn(pinned, dialect)}
	err = pinned.Raw(func(c any) error {
		s.raw = c.(*stdlib.Conn).Conn()
		s.wire = s.raw.PgConn()
		return nil
	})
	return s, err
}

// run sends statements in one message, unprepared, and returns the fields of the last row
// that any of them returned. The statements must contain no text from outside. None runs
// after one that fails.
func (s *session) run(statements string) (row []string, err error) {
	return s.runIn(context.Background(), statements)
}

// runIn is run with a context; the session is lost if ctx ends during the call.
func (s *session) runIn(ctx context.Context, statements string) (row []string, err error) {
	answers := s.wire.Exec(ctx, statements)
	for answers.NextResult() {
		for reader := answers.ResultReader(); reader.NextRow(); {
			row = texts(reader.Values())
		}
	}
	if err := answers.Close(); err != nil {
		return nil, s.mean(err)
	}
	return row, nil
}

func texts(values [][]byte) []string {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = string(v)
	}
	return row
}

// outcome is what became of a transaction.
type outcome int

const (
	unknown   outcome = iota
	notBegun          // it may have to be rolled back
	failed            // by a write; it must be rolled back
	undone            // it is over
	committed         // it is over
)

// commit makes the writes and ends the transaction, in one message: the server skips the
// COMMIT if a write fails, and then answers that the transaction has failed but is not
// over. Without that answer an error proves nothing, since a pooler may report one of its
// own in place of answers that it has lost. prelude begins the transaction, unless it has
// begun; noted are statements besides.
func (s *session) commit(prelude []call, writes []sqldoc.Write, noted ...call) (outcome, error) {
	b, err := message(s.raw, slices.Concat(prelude, calls(writes), noted))
	if err != nil {
		return failed, err
	}
	b.ExecParams("COMMIT", nil, nil, nil, nil)
	answers := s.wire.ExecBatch(context.Background(), b)
	crashpoint.At("postgres.sent", nil)
	tag, done := "", 0
	for answers.NextResult() {
		result, err := answers.ResultReader().Close() // Close of all gives its error again
		if tag = result.String(); err == nil {
			done++
		}
	}
	err = answers.Close()
	o := outcomeOf(tag, err, s.wire.TxStatus(), s.lost())
	if err != nil && !s.lost() && done < len(prelude) {
		o = notBegun
	}
	switch {
	case o == notBegun:
		err = s.mean(err)
	case o == failed:
		err = refused(err)
	case o == unknown && err == nil:
		err = fmt.Errorf("COMMIT was answered with %q", tag)
	case o == unknown:
		err = s.mean(err)
	default:
		err = nil
	}
	return o, err
}

// outcomeOf decides by the tag of the last answer, the first error, and what the server has
// said last of the session's transaction, which is nothing new if the connection is lost.
func outcomeOf(tag string, err error, status byte, lost bool) outcome {
	switch {
	case err == nil && tag == "COMMIT":
		return committed
	case err == nil && tag == "ROLLBACK":
		return undone
	case err != nil && !lost && status == 'E':
		return failed
	case err != nil && surelyNotCommitted(err):
		return undone
	}
	return unknown
}

// mean returns an error's meaning, which may depend on whether the connection is lost.
func (s *session) mean(err error) error {
	if err != nil && s.lost() && !connectionLost(err) && code(err) == "" {
		err = errors.Join(err, errLost)
	}
	return meaning(err)
}

// mayWrite reports that the session may write every table of the schema, but for the one
// in which migrations are counted.
func (s *session) mayWrite() bool {
	row, err := s.run("SELECT COALESCE(bool_and(has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')), true)::text" +
		" FROM pg_class WHERE relkind = 'r' AND relname <> 'goose_db_version' AND relnamespace = current_schema()::regnamespace")
	return err == nil && len(row) == 1 && row[0] == "true"
}

func (s *session) lost() bool { return s.wire.IsClosed() }

// release returns the connection to the pool, and closes it if it is lost or may be in a
// transaction.
func (s *session) release(keep bool) {
	if keep && !s.lost() && s.wire.TxStatus() == 'I' {
		_ = s.pinned.Close()
		return
	}
	_ = s.pinned.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.pinned.Close()
}

// cut closes the connection without telling the server, which could take time.
func (s *session) cut() {
	_ = s.wire.Conn().Close()
	s.release(false)
}
