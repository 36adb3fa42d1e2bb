package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// dialectOf writes parameters as ?1, ?2 …; to SQLite $1 is a name. Errors name the file.
func dialectOf(file string) sqldoc.Dialect {
	return sqldoc.Dialect{
		Rewrite: func(statement string) string { return strings.ReplaceAll(statement, "$", "?") },
		Error:   func(err error) error { return meaning(file, err) },
		Counted: counted,
	}
}

var counted = map[*store.Table]*sqldoc.Counted{
	store.Runs: {Name: "runs_counted", By: "created", Of: "status", Values: []string{"COMPLETED", "FAILED", "CANCELLED"}},
}

// meaning turns each error that is about the disk, memory or the file, not about the
// statement, into store.ErrUnavailable.
func meaning(file string, err error) error {
	if err = inWords(file, err); code(err) == codes.SQLITE_IOERR_DATA {
		err = fmt.Errorf("a page of the store is damaged: restore it from a backup: %w", err)
	}
	switch code(err) & 0xff {
	case codes.SQLITE_FULL, codes.SQLITE_IOERR, codes.SQLITE_NOMEM, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN,
		codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL:
		return unavailable(err)
	default:
		return err
	}
}

func unavailable(cause error) error {
	if errors.Is(cause, store.ErrUnavailable) {
		return cause
	}
	if code(cause)&0xff == codes.SQLITE_FULL {
		return fmt.Errorf("%w: %w", store.ErrFull, cause)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, cause)
}

// code returns SQLite's extended result code, 0 for an error from elsewhere.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// syncFailed says whether err reports a sync that failed.
func syncFailed(err error) bool {
	switch code(err) {
	case codes.SQLITE_IOERR_FSYNC, codes.SQLITE_IOERR_DIR_FSYNC:
		return true
	default:
		return false
	}
}

// surelyNotCommitted reports whether no later recovery can find the transaction committed
// after COMMIT returned err. SQLite writes the frame that marks the commit last, so a
// failed write happened before it; any other error may have happened after it.
func surelyNotCommitted(err error) bool {
	c := code(err)
	return c == codes.SQLITE_FULL || c == codes.SQLITE_IOERR_WRITE || c&0xff == codes.SQLITE_BUSY
}
