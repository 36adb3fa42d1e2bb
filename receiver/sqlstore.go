package receiver

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Schema creates the table of a SQLStore unless it exists. It is the same for PostgreSQL and
// SQLite; add it to your migrations. claimed_at has Unix milliseconds, payload a lowercase
// hex SHA-256.
const Schema = `CREATE TABLE IF NOT EXISTS countersign_keys (
  idempotency_key TEXT    PRIMARY KEY,
  payload         TEXT    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('CLAIMED', 'FINISHED')),
  claimed_by      TEXT    NOT NULL,
  claimed_at      BIGINT  NOT NULL,
  status          INTEGER NOT NULL DEFAULT 0,
  content_type    TEXT    NOT NULL DEFAULT '',
  body            BYTEA
)`

// Placeholders is the syntax in which a driver expects the placeholders of a statement.
type Placeholders int

// The placeholders.
const (
	QuestionMarks Placeholders = iota // ?, ?, ?: SQLite
	Dollars                           // $1, $2, $3: PostgreSQL
)

// SQLStore keeps keys in a table of PostgreSQL or SQLite, created by Schema. A key becomes
// CLAIMED in one transaction before the effect begins, and FINISHED in another one after it:
// a crash between the two leaves the key in doubt. If the effect is in the same database, use
// SQLTransactions.
//
// SQLite needs a busy_timeout: without it, of two requests at the same time one fails.
type SQLStore struct {
	sqlKeys
	db       *sql.DB
	restored atomic.Pointer[time.Time] // what RestoredAt has found; nil before
}

// NewSQLStore makes a SQLStore that keeps keys in db.
func NewSQLStore(db *sql.DB, p Placeholders) *SQLStore {
	return &SQLStore{sqlKeys: sqlKeys{db, p}, db: db}
}

// In returns a Store whose changes belong to your transaction: they are committed or rolled
// back with your other changes. Make the Claim the first statement of the transaction.
func (s *SQLStore) In(tx *sql.Tx) Store { return sqlKeys{tx, s.placeholders} }

// executor is *sql.DB or *sql.Tx.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// sqlKeys has the three operations of a Store. Those of two statements are correct also if
// these are not in one transaction.
type sqlKeys struct {
	on           executor
	placeholders Placeholders
}

// claimTries bounds how often Claim is repeated because another request has released the key
// between the insert, which found it, and the select, which didn't.
const claimTries = 5

func (k sqlKeys) Claim(ctx context.Context, c Claim) (Entry, bool, error) {
	for range claimTries {
		done, err := k.exec(ctx, `INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at)
			VALUES (?, ?, 'CLAIMED', ?, ?) ON CONFLICT (idempotency_key) DO NOTHING`, c.Key, c.Payload, c.By, c.At.UnixMilli())
		if err != nil {
			return Entry{}, false, err
		}
		if n, err := done.RowsAffected(); err != nil || n == 1 {
			return Entry{Claim: c, State: Claimed}, n == 1, err
		}
		if e, err := k.entry(ctx, c.Key); !errors.Is(err, sql.ErrNoRows) {
			return e, false, err
		}
	}
	return Entry{}, false, errUnsteady
}

var errUnsteady = errors.New("the key is claimed and released again and again")

func (k sqlKeys) entry(ctx context.Context, key string) (e Entry, err error) {
	var at int64
	e.Key = key
	err = k.on.QueryRowContext(ctx, k.mark(`SELECT payload, state, claimed_by, claimed_at, status, content_type, body
		FROM countersign_keys WHERE idempotency_key = ?`), key).
		Scan(&e.Payload, &e.State, &e.By, &at, &e.Answer.Status, &e.Answer.ContentType, &e.Answer.Body)
	e.At = time.UnixMilli(at)
	if e.Payload == withdrawnPayload {
		e.State = Withdrawn
	}
	return e, err
}

func (k sqlKeys) Finish(ctx context.Context, key string, a Answer) error {
	return k.change(ctx, `UPDATE countersign_keys SET state = 'FINISHED', status = ?, content_type = ?, body = ?
		WHERE idempotency_key = ? AND state = 'CLAIMED'`, a.Status, a.ContentType, a.Body, key)
}

func (k sqlKeys) Release(ctx context.Context, key string) error {
	return k.change(ctx, `DELETE FROM countersign_keys WHERE idempotency_key = ? AND state = 'CLAIMED'`, key)
}

// change changes the row of one claimed key.
func (k sqlKeys) change(ctx context.Context, statement string, args ...any) error {
	done, err := k.exec(ctx, statement, args...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrNotClaimed
}

func (k sqlKeys) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return k.on.ExecContext(ctx, k.mark(statement), args...)
}

// mark writes the placeholders in the driver's syntax. Each question mark in the statements
// above is a placeholder.
func (k sqlKeys) mark(statement string) string {
	if k.placeholders != Dollars {
		return statement
	}
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
