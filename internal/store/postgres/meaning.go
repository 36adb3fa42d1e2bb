package postgres

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sqldoc"
)

// dialect sends parameters as $1, $2 … as they are.
var dialect = sqldoc.Dialect{
	Rewrite:  func(statement string) string { return statement },
	Prepares: true,
	Rewrites: true,
	Together: together,
	Ask:      askTogether,
	Keeps:    func(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") },
	Error:    meaning,
}

// SQLSTATEs, by what they mean to us. See Appendix A of PostgreSQL's manual.
var (
	// collisions undo the whole transaction; the next try may succeed at once.
	collisions = []string{"40001", "40P01"}
	// unkept statements: the session is not the one that prepared them, or they
	// were prepared before a migration ("cached plan must not change result type").
	unkept = []string{"26000", "42P05", "0A000"}
	// elsewhere: this server or session won't do, but another one may in a moment:
	// read-only, cancelled for lying idle, too many connections, shutting down,
	// starting up, pooler without a server, recovery conflict.
	elsewhere = []string{"25006", "25P03", "25P04", "53300", "57P01", "57P02", "57P03", "57P05"}
	// pressed: the statement failed for want of time or space.
	pressed = []string{lockTimeout, canceled}
	// pressedClasses: connection, resources, operator intervention, disk, internal.
	pressedClasses = []string{"08", "53", "57", "58", "XX", "F0"}
)

const (
	diskFull    = "53100"
	lockTimeout = "55P03"
	canceled    = "57014" // by statement_timeout
)

// meaning makes store.ErrUnavailable of every error that speaks of the server or
// the way to it rather than of the statement.
func meaning(err error) error {
	c := code(err)
	switch {
	case err == nil:
		return nil
	case connectionLost(err), passes(err), slices.Contains(pressed, c):
		return unavailable(err)
	case c != "" && slices.Contains(pressedClasses, c[:2]):
		return unavailable(err)
	default:
		return err
	}
}

// passes says whether the same may succeed in a moment, in a new transaction.
func passes(err error) bool {
	c := code(err)
	if c == "" {
		return connectionLost(err)
	}
	return isCollision(c) || slices.Contains(unkept, c) || slices.Contains(elsewhere, c) || strings.HasPrefix(c, "08")
}

func isCollision(code string) bool { return slices.Contains(collisions, code) }

// connectionLost reports an error of the way to the server.
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

// surelyNotCommitted says whether a COMMIT that the server refused with err did
// nothing. Other refusals may come after the fact: an administrator's shutdown
// that arrived too late to stop it, CockroachDB's 40003.
func surelyNotCommitted(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR" && isCollision(e.Code)
}
