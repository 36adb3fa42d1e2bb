package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"runtime"
	"time"

	"modernc.org/sqlite"

	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// settings are the parameters that tests change.
type settings struct {
	vfs string // SQLite's way to the disk; "" is the system's
	// checkpointPages is how far the write-ahead log grows before its pages are
	// copied into the database. A checkpoint costs two syncs; this many pages
	// (16 MB) make it rare. At twice as many the log is made to start over, for which
	// writing pauses until the Views of that moment have ended.
	checkpointPages int
	startOverPause  time.Duration // how long writing pauses at most for the log to start over
	readers         int
	wholeAtStart    int64         // bytes of the largest database of which a start reads every page; 0: of any
	scrubPause      time.Duration // between two reads of a scrub
	// Rows are written to their tables when so many bytes of them are committed, or after
	// that time. Beyond mostPending, commits wait for that.
	flushBytes, mostPending int
	flushAge                time.Duration
}

func defaults() settings {
	return settings{
		checkpointPages: 4000, startOverPause: 2 * time.Second, readers: min(max(4, 2*runtime.GOMAXPROCS(0)), 16),
		wholeAtStart: wholeAtStart, scrubPause: scrubPause,
		flushBytes: 4 << 20, mostPending: 16 << 20, flushAge: 200 * time.Millisecond,
	}
}

const busyTimeout = 5 * time.Second

// Both kinds of connection keep temporary data in memory, don't accept a double-quoted
// string as a column name, and don't run functions that a damaged schema names.
var commonPragmas = []string{"temp_store(MEMORY)", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "trusted_schema(OFF)", "cell_size_check(ON)"}

// The writer syncs at each commit (FULL; with F_FULLFSYNC on macOS). Automatic checkpoints
// are off, since they would hide a failed sync.
var writerPragmas = []string{"synchronous(FULL)", "fullfsync(ON)", "checkpoint_fullfsync(ON)", "wal_autocheckpoint(0)", "cache_size(-8192)", "secure_delete(ON)"}

// The readers are refused every write.
var readerPragmas = []string{"query_only(ON)", "cache_size(-2048)"}

// dataSource is the address of a database file for the driver.
func dataSource(vfs, path, mode string, pragmas ...[]string) string {
	q := url.Values{"vfs": {vfs}, "mode": {mode}, "_dqs": {"0"}, "_defensive": {"1"}}
	for _, list := range pragmas {
		for _, pragma := range list {
			q.Add("_pragma", pragma)
		}
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// writerPool opens the database for writing, on one connection.
func (s settings) writerPool(path string) (*sql.DB, error) {
	// A log that grew because of a long View is truncated when it restarts.
	limit := fmt.Sprintf("journal_size_limit(%d)", 2*int64(s.checkpointPages)*(frameHeadSize+pageSize))
	return s.pool(path, "rw", append([]string{limit}, writerPragmas...), 1)
}

// readerPool opens it for reading. A read-only connection also never
// checkpoints when it is closed.
func (s settings) readerPool(path string) (*sql.DB, error) {
	return s.pool(path, "ro", readerPragmas, s.readers+1) // and the writer's
}

func (s settings) pool(path, mode string, pragmas []string, connections int) (*sql.DB, error) {
	vfs, err := checkedVFS(s.vfs)
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(dataSource(vfs, path, mode, pragmas, commonPragmas))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// pin takes a connection to a file.
func pin(ctx context.Context, db *sql.DB, file string) (*sqldoc.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", inWords(file, err))
	}
	return sqldoc.NewConn(conn, dialectOf(file)), nil
}
