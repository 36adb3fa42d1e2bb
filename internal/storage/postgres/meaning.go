package postgres

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// dialect sends parameters as $1, $2 … as they are.
var dialect = sqldoc.Dialect{
	Rewrite:  func(statement string) string { return statement },
	Prepares: true,
	Rewrites: true,
	Together: together,
	Ask:      askTogether,
	Arrays:   true,
	Keeps:    func(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") },
	Error:    meaning,
}

// sense is what an SQLSTATE means to the store.
type sense int

const (
	ofStatement sense = iota // the error is about the statement
	pressing                 // the server lacks time, space or health: unavailable
	passing                  // another try, session or server may succeed in a moment
	colliding                // passing; the transaction is undone, the session usable
	full                     // pressing; writes fail until there is space
	denied                   // pressing; writes fail until the right is granted
)

// senses has the SQLSTATEs, and by their first two letters the classes, that are not about
// the statement. A code takes precedence over its class. See Appendix A of PostgreSQL's
// manual.
var senses = map[string]sense{
	"40001": colliding, "40P01": colliding, // serialization failure, deadlock
	// The session is not the one that prepared a statement, or it was prepared before a
	// migration ("cached plan must not change result type").
	"26000": passing, "42P05": passing, "0A000": passing,
	// Read-only, canceled because it was idle, too many connections, shutting down,
	// starting up, pooler without a server.
	"25006": passing, "25P03": passing, "25P04": passing, "53300": passing,
	"57P01": passing, "57P02": passing, "57P03": passing, "57P05": passing,
	lockTimeout: pressing,
	"55006":     pressing, "55000": pressing,
	"42501":  denied, // insufficient privilege
	diskFull: full,
	"08":     passing,  // connection
	"53":     pressing, // resources
	"57":     pressing, // operator intervention, a statement that took too long
	"58":     pressing, // input and output
	"XX":     pressing, // internal; XX001 and XX002 are damage
	"F0":     pressing, // configuration file
}

const (
	diskFull    = "53100"
	lockTimeout = "55P03"
	canceled    = "57014" // by statement_timeout
)

// senseOf returns the sense of an error's SQLSTATE.
func senseOf(err error) sense {
	c := code(err)
	if s, known := senses[c]; known || c == "" {
		return s
	}
	return senses[c[:min(2, len(c))]]
}

// meaning turns each error that is about the server or the connection, not about the
// statement, into store.ErrUnavailable.
func meaning(err error) error {
	if err == nil || !connectionLost(err) && senseOf(err) == ofStatement {
		return err
	}
	return unavailable(err)
}

// passes reports whether a new transaction may succeed in a moment.
func passes(err error) bool {
	if code(err) == "" {
		return connectionLost(err)
	}
	s := senseOf(err)
	return s == passing || s == colliding
}

func isCollision(code string) bool { return senses[code] == colliding }

// connectionLost reports an error of the connection.
func connectionLost(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, errStalled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, errLost)
}

// errLost stands for a connection that the driver has closed.
var errLost = errors.New("the connection is lost")

func unavailable(cause error) error {
	if errors.Is(cause, store.ErrUnavailable) {
		return cause
	}
	if code(cause) == diskFull {
		return fmt.Errorf("%w: free space for PostgreSQL, where its data directory, its write-ahead log or the tablespace is: %w", store.ErrFull, cause)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, cause)
}

// code returns the SQLSTATE, "" for an error from elsewhere.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// surelyNotCommitted reports whether a COMMIT that the server refused with err had no
// effect. Other errors may follow a commit that took effect: an administrator's shutdown
// that came too late to stop it, CockroachDB's 40003.
func surelyNotCommitted(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR" && isCollision(e.Code)
}
