package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// The rows of countersign_writer. Each is a lock shared by all processes: the first for
// writing, the second for migrations.
const (
	writerRow    = "1"
	migrationRow = "2"
)

// bootstrap creates what must exist before the lock for migrations can be taken. It deletes
// rows of batches that are too old for any writer to ask for.
var bootstrap = []string{
	`CREATE TABLE IF NOT EXISTS countersign_writer (id BIGINT PRIMARY KEY, turn BIGINT NOT NULL, level BIGINT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS countersign_batches (writer TEXT PRIMARY KEY, batch BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL)`,
	`INSERT INTO countersign_writer (id, turn, level) VALUES (` + writerRow + `, 0, 1), (` + migrationRow + `, 0, 1) ON CONFLICT DO NOTHING`,
}

const sweep = `DELETE FROM countersign_batches WHERE at < now() - INTERVAL '1 day'`

// errMigrating says that another process holds the lock for migrations.
var errMigrating = errors.New("another process is changing the store's tables")

// prepare brings the database up to date. It waits for settings.patience for a server that
// is starting, and without a bound for another process that migrates.
func (d *database) prepare(ctx context.Context) error {
	until := time.Now().Add(d.settings.patience)
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		err := d.migrate(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		d.learn(err)
		again := (passes(err) || madeTwice(err)) && time.Now().Before(until)
		if !again && !errors.Is(err, errMigrating) {
			return meaning(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// migrate creates and changes the tables, one process at a time.
func (d *database) migrate(ctx context.Context) (err error) {
	db := d.patientPool()
	defer func() { err = errors.Join(err, db.Close()) }()
	bytewise, err := examine(ctx, db)
	if err != nil {
		return err
	}
	if err := makeLocks(ctx, db); err != nil {
		return err
	}
	lock, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Rollback() }()
	if err := hold(ctx, lock); err != nil {
		return err
	}
	provider, err := migrations(db, bytewise)
	if err != nil {
		return err
	}
	if d.newer, d.raised, err = checkRelease(ctx, db, provider); err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	crashpoint.At("postgres.migrated", nil)
	if _, err = db.ExecContext(ctx, sweep); err != nil {
		return err
	}
	d.roundTrip, err = roundTrip(ctx, db)
	return err
}

// roundTrip is the shortest of some.
func roundTrip(ctx context.Context, db *sql.DB) (least time.Duration, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	for i := range 3 {
		began := time.Now()
		if err := conn.PingContext(ctx); err != nil {
			return 0, err
		}
		if took := time.Since(began); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// hold takes the lock for migrations without waiting: behind a pooler, waiting processes
// could take the connection that the migrating one needs. A migration may take long; a
// process that stalls in one loses the lock eventually.
func hold(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = '10min'"); err != nil {
		return err
	}
	var id int64
	err := tx.QueryRowContext(ctx, "SELECT id FROM countersign_writer WHERE id = "+migrationRow+" FOR UPDATE NOWAIT").Scan(&id)
	if code(err) == lockTimeout {
		return errMigrating
	}
	return err
}

// examine refuses a database whose encoding can't store every text, and reports whether it
// always compares text by bytes.
func examine(ctx context.Context, db *sql.DB) (bytewise bool, err error) {
	var version, encoding string
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return false, err
	}
	if err := db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return false, err
	}
	if !strings.EqualFold(encoding, "UTF8") {
		return false, fmt.Errorf("the database's encoding is %s: make one with ENCODING 'UTF8'", encoding)
	}
	return strings.HasPrefix(version, "CockroachDB"), nil
}

// makeLocks creates the lock tables if they are missing: a role without the right to create
// tables must not try.
func makeLocks(ctx context.Context, db *sql.DB) error {
	var rows int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM countersign_writer").Scan(&rows)
	if err == nil && rows > 0 {
		return nil
	}
	if err != nil && code(err) != "42P01" {
		return err
	}
	for _, statement := range bootstrap {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// madeTwice reports that another process created the same table at the same moment, which
// IF NOT EXISTS doesn't catch.
func madeTwice(err error) bool {
	return slices.Contains([]string{"23505", "42P07", "42710"}, code(err))
}

// learn notices a server that doesn't keep prepared statements.
func (d *database) learn(err error) {
	if c := code(err); (c == "26000" || c == "42P05") && d.config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		d.unprepared.Store(true)
	}
}

// name is the database's address without its password, for messages.
func (d *database) name() string {
	return fmt.Sprintf("%s at %s:%d", d.config.Database, d.config.Host, d.config.Port)
}
