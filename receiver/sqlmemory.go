package receiver

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"
)

// A mark of a withdrawn key, and what a SQLStore knows of itself, are rows of the table of keys,
// told by their payload, which is no SHA-256: so a table of an earlier release needs no
// migration, a mark and a claim meet on one primary key, and an earlier release that still runs
// beside this one takes a mark for a key of another call, and does nothing.
const (
	withdrawnPayload = "withdrawn"
	memoryPayload    = "memory"
)

// The keys of the rows about the store itself. No call has such a key: a key of Countersign
// begins with the id of a run.
const (
	ownKeys     = "~"
	sinceKey    = ownKeys + "since"
	restoredKey = ownKeys + "restored"
)

// Look implements Memory.
func (s *SQLStore) Look(ctx context.Context, key string) (Entry, bool, error) {
	e, err := s.entry(ctx, key)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, false, nil
	}
	return e, err == nil, err
}

// Withdraw implements Memory. It is a statement of its own, never part of a transaction of
// others, so it is committed when it returns.
func (s *SQLStore) Withdraw(ctx context.Context, key string, at time.Time) (Entry, bool, error) {
	for range claimTries {
		made, err := s.insert(ctx, key, withdrawnPayload, at, http.StatusGone)
		if err != nil {
			return Entry{}, false, err
		}
		if e, err := s.entry(ctx, key); !errors.Is(err, sql.ErrNoRows) {
			return e, made, err
		}
	}
	return Entry{}, false, errUnsteady
}

// Since implements Memory.
func (s *SQLStore) Since(ctx context.Context, now time.Time) (time.Time, error) {
	e, known, err := s.Look(ctx, sinceKey)
	if err != nil || known {
		return e.At, err
	}
	if _, err := s.insert(ctx, sinceKey, memoryPayload, now, 0); err != nil {
		return time.Time{}, err
	}
	e, err = s.entry(ctx, sinceKey) // another process may have been first
	return e.At, err
}

// RestoredAt implements Memory. It asks the database once: a restore that another process
// declares is declared before this one is started.
func (s *SQLStore) RestoredAt(ctx context.Context) (time.Time, error) {
	if at := s.restored.Load(); at != nil {
		return *at, nil
	}
	e, _, err := s.Look(ctx, restoredKey)
	if err == nil {
		s.restored.CompareAndSwap(nil, &e.At)
	}
	return e.At, err
}

// Restored implements Memory.
func (s *SQLStore) Restored(ctx context.Context, at time.Time) error {
	for _, key := range []string{sinceKey, restoredKey} {
		if _, err := s.insert(ctx, key, memoryPayload, at, 0); err != nil {
			return err
		}
		if err := s.later(ctx, key, at); err != nil {
			return err
		}
	}
	s.restored.Store(&at)
	return nil
}

// insert inserts a row that is no call's, or nothing if the key is there.
func (s *SQLStore) insert(ctx context.Context, key, payload string, at time.Time, status int) (bool, error) {
	done, err := s.exec(ctx, `INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at, status)
		VALUES (?, ?, 'FINISHED', '', ?, ?) ON CONFLICT (idempotency_key) DO NOTHING`, key, payload, at.UnixMilli(), status)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// later moves the time of a row about the store forward.
func (s *SQLStore) later(ctx context.Context, key string, at time.Time) error {
	_, err := s.exec(ctx, `UPDATE countersign_keys SET claimed_at = ? WHERE idempotency_key = ? AND claimed_at < ?`, at.UnixMilli(), key, at.UnixMilli())
	return err
}

// Forget deletes the FINISHED keys that were claimed before a time, and returns how many. That
// time must be at least 90 days ago: see Store. Marks of withdrawn keys stay.
func (s *SQLStore) Forget(ctx context.Context, before time.Time) (int64, error) {
	const dropped = `state = 'FINISHED' AND payload <> '` + withdrawnPayload + `' AND payload <> '` + memoryPayload + `'`
	var newest sql.NullInt64
	err := s.on.QueryRowContext(ctx, s.mark(`SELECT MAX(claimed_at) FROM countersign_keys WHERE `+dropped+` AND claimed_at < ?`), before.UnixMilli()).Scan(&newest)
	if err != nil || !newest.Valid {
		return 0, err
	}
	// First it is known that they may be gone, then they are: a crash between leaves nothing untrue.
	if _, err := s.Since(ctx, time.Now()); err != nil {
		return 0, err
	}
	if err := s.later(ctx, sinceKey, time.UnixMilli(newest.Int64)); err != nil {
		return 0, err
	}
	done, err := s.exec(ctx, `DELETE FROM countersign_keys WHERE `+dropped+` AND claimed_at <= ?`, newest.Int64)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}
