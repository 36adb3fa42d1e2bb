// Package calls is the adapter's memory, in one directory: which keys it has seen, what was begun
// under them, and what was answered (contract 12.4). A key is never forgotten, and what is
// begun is on the disk before it is.
package calls

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver
)

// State is what is known of a key.
type State string

// The states. A key that was never seen has none.
const (
	Begun     State = "BEGUN"   // a call was begun, and its end isn't known yet
	Done      State = "DONE"    // it was answered
	Unknown   State = "UNKNOWN" // it was begun, and ended without an answer that is kept
	Withdrawn State = "WITHDRAWN"
)

// Answer is what was answered, or, of an UNKNOWN key, what is answered instead.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
}

// Entry is what is kept of a key.
type Entry struct {
	Key      string
	Upstream string
	Call     string // identifies the operation, its query and its body
	State    State
	At       time.Time // of the beginning, the end or the withdrawal, whichever is the latest
	Began    time.Time
	Answer   Answer
	Job      string // where a BEGUN call is followed
}

// Errors of a Store.
var (
	ErrKnown    = errors.New("the key is known")
	ErrNotBegun = errors.New("no call under the key waits for its end")
	ErrInUse    = errors.New("another process uses the directory: stop the adapter first")
)

const schema = `
CREATE TABLE IF NOT EXISTS keys (
  key TEXT PRIMARY KEY, upstream TEXT NOT NULL, call TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('BEGUN', 'DONE', 'UNKNOWN', 'WITHDRAWN')),
  began INTEGER NOT NULL, at INTEGER NOT NULL,
  status INTEGER NOT NULL DEFAULT 0, content_type TEXT NOT NULL DEFAULT '', body BLOB,
  job TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS kept ON keys (at) WHERE state = 'DONE';
CREATE INDEX IF NOT EXISTS open ON keys (key) WHERE state = 'BEGUN';
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);`

// Store is the memory. One process has it.
type Store struct {
	db   *sql.DB
	lock *flock.Flock
}

// Open opens the memory in a directory, or makes it. What a process that died had begun, and no
// job tells the end of, is UNKNOWN from now on.
func Open(ctx context.Context, dir string, now time.Time) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if got, err := lock.TryLock(); err != nil || !got {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, ErrInUse), err)
	}
	path := (&url.URL{Path: filepath.ToSlash(filepath.Join(dir, "keys.db"))}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	db.SetMaxOpenConns(1)
	s := &Store{db, lock}
	if err := s.start(ctx, dir, now); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, dir string, now time.Time) error {
	for _, statement := range []string{schema, `UPDATE keys SET state = 'UNKNOWN' WHERE state = 'BEGUN' AND job = ''`} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := s.db.ExecContext(ctx, `INSERT INTO facts VALUES ('made', ?) ON CONFLICT DO NOTHING`, now.UTC().Format(time.RFC3339Nano)); err != nil {
		return err
	}
	d, err := os.Open(dir) // the names of new files are to outlive a power cut, too
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close closes the memory and lets another process have it.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.lock.Unlock()) }

// Look returns what is kept of a key, and false where that is nothing.
func (s *Store) Look(ctx context.Context, key string) (Entry, bool, error) {
	found, err := s.entries(ctx, `key = ?`, key)
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	return found[0], true, nil
}

// Jobs are the calls that go on at the upstream.
func (s *Store) Jobs(ctx context.Context) ([]Entry, error) {
	return s.entries(ctx, `state = 'BEGUN' AND job <> ''`)
}

func (s *Store) entries(ctx context.Context, where string, args ...any) (found []Entry, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT key, upstream, call, state, began, at, status, content_type, body, job FROM keys WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Entry
		var began, at int64
		if err := rows.Scan(&e.Key, &e.Upstream, &e.Call, &e.State, &began, &at, &e.Answer.Status, &e.Answer.ContentType, &e.Answer.Body, &e.Job); err != nil {
			return nil, err
		}
		e.Began, e.At = time.UnixMilli(began), time.UnixMilli(at)
		found = append(found, e)
	}
	return found, rows.Err()
}

// Begin keeps that a call is about to be made. Once it has returned nil the call may be made.
func (s *Store) Begin(ctx context.Context, key, upstream, call string, at time.Time) error {
	return s.insert(ctx, Entry{Key: key, Upstream: upstream, Call: call, State: Begun, At: at})
}

// Refuse keeps an answer under a key that nothing was called under.
func (s *Store) Refuse(ctx context.Context, key, upstream, call string, a Answer, at time.Time) error {
	return s.insert(ctx, Entry{Key: key, Upstream: upstream, Call: call, State: Done, At: at, Answer: a})
}

// Withdraw makes a key that was never seen WITHDRAWN, for ever. ErrKnown: it was seen.
func (s *Store) Withdraw(ctx context.Context, key, upstream string, at time.Time) error {
	return s.insert(ctx, Entry{Key: key, Upstream: upstream, State: Withdrawn, At: at})
}

// insert is one insert-or-nothing: of a call and a withdrawal at the same time one wins.
func (s *Store) insert(ctx context.Context, e Entry) error {
	at := e.At.UnixMilli()
	return one(s.db.ExecContext(ctx, `INSERT INTO keys (key, upstream, call, state, began, at, status, content_type, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
		e.Key, e.Upstream, e.Call, e.State, at, at, e.Answer.Status, e.Answer.ContentType, e.Answer.Body))(ErrKnown)
}

// Finish keeps the answer of a call that was begun.
func (s *Store) Finish(ctx context.Context, key string, a Answer, at time.Time) error {
	return s.end(ctx, key, Done, a, at)
}

// Lose keeps that a call ended and nobody knows how, and what is answered instead.
func (s *Store) Lose(ctx context.Context, key string, instead Answer, at time.Time) error {
	return s.end(ctx, key, Unknown, instead, at)
}

func (s *Store) end(ctx context.Context, key string, to State, a Answer, at time.Time) error {
	return one(s.db.ExecContext(ctx, `UPDATE keys SET state = ?, status = ?, content_type = ?, body = ?, at = ?, job = '' WHERE key = ? AND state = 'BEGUN'`,
		to, a.Status, a.ContentType, a.Body, at.UnixMilli(), key))(ErrNotBegun)
}

// Follow keeps where a call that was begun goes on.
func (s *Store) Follow(ctx context.Context, key, job string) error {
	return one(s.db.ExecContext(ctx, `UPDATE keys SET job = ? WHERE key = ? AND state = 'BEGUN'`, job, key))(ErrNotBegun)
}

// Drop leaves nothing of a call that was begun: it is known that nothing was called.
func (s *Store) Drop(ctx context.Context, key string) error {
	return one(s.db.ExecContext(ctx, `DELETE FROM keys WHERE key = ? AND state = 'BEGUN'`, key))(ErrNotBegun)
}

// Resolve keeps the answer of a call whose end somebody has found out, and why he says so.
func (s *Store) Resolve(ctx context.Context, key string, a Answer, reason string, at time.Time) error {
	return one(s.db.ExecContext(ctx, `UPDATE keys SET state = 'DONE', status = ?, content_type = ?, body = ?, at = ?, job = '', reason = ? WHERE key = ? AND state IN ('BEGUN', 'UNKNOWN')`,
		a.Status, a.ContentType, a.Body, at.UnixMilli(), reason, key))(ErrNotBegun)
}

// Forget drops the answers of before a time. Their keys stay: what ended without a kept answer
// is UNKNOWN.
func (s *Store) Forget(ctx context.Context, before time.Time) error {
	_, err := s.db.ExecContext(ctx, `UPDATE keys SET state = 'UNKNOWN', status = 0, content_type = '', body = NULL WHERE state = 'DONE' AND at < ?`, before.UnixMilli())
	return err
}

// Since is the time from which on the memory has forgotten nothing: its making, or the latest
// restore.
func (s *Store) Since(ctx context.Context) (time.Time, error) {
	if at, err := s.RestoredAt(ctx); err != nil || !at.IsZero() {
		return at, err
	}
	return s.time(ctx, "made")
}

// Restored declares that the directory is a restored copy: what was kept before may be gone.
func (s *Store) Restored(ctx context.Context, at time.Time) error {
	return s.Remember(ctx, "restored", at.UTC().Format(time.RFC3339Nano))
}

// RestoredAt is the latest of these times, the zero time where there is none.
func (s *Store) RestoredAt(ctx context.Context) (time.Time, error) { return s.time(ctx, "restored") }

func (s *Store) time(ctx context.Context, name string) (time.Time, error) {
	text, err := s.Recall(ctx, name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, text)
}

// Remember keeps a text under a name, such as the refresh token that took another one's place.
func (s *Store) Remember(ctx context.Context, name, value string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// Recall returns what is kept under a name, "" where that is nothing.
func (s *Store) Recall(ctx context.Context, name string) (value string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT value FROM facts WHERE name = ?`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

// one turns a change of no row into an error.
func one(result sql.Result, err error) func(none error) error {
	return func(none error) error {
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return none
	}
}

// Full reports whether an error says that there is no room.
func Full(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "full") || strings.Contains(err.Error(), "no space"))
}
