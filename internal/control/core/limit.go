package core

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
	"github.com/countersign/countersign/internal/storage/store"
)

// limitKeysInMemory bounds what a process keeps in memory of each limit.
const limitKeysInMemory = 50_000

// Limit bounds how often the same key may try. An error says that the attempt could not be
// counted; it must then be refused.
type Limit interface {
	Allow(ctx context.Context, key string, now time.Time) (bool, error)
	// Return takes back a counted attempt.
	Return(ctx context.Context, key string, now time.Time) error
}

// NewLimit makes a limit that all processes on the store share.
func NewLimit(cfg Config, st store.Store, name string, rate throttle.Rate) Limit {
	own := throttle.New(rate, limitKeysInMemory)
	if !cfg.Shared {
		return ownLimit{own}
	}
	return &sharedLimit{own: own, store: st, name: name, rate: rate}
}

// ownLimit is the limit of a store with a single process.
type ownLimit struct{ *throttle.Throttle }

// Allow implements limit.
func (l ownLimit) Allow(_ context.Context, key string, now time.Time) (bool, error) {
	return l.Throttle.Allow(key, now), nil
}

// Return implements limit.
func (l ownLimit) Return(_ context.Context, key string, now time.Time) error {
	l.Throttle.Return(key, now)
	return nil
}

// Count counts an attempt, and returns ErrTooMany beyond the limit. If the attempt can't be
// counted, it is refused as unavailable: otherwise somebody who disturbs the store could
// try without limit. That shuts nobody out, since a session needs the same store.
func Count(ctx context.Context, l Limit, key string, now time.Time) error {
	switch allowed, err := l.Allow(ctx, key, now); {
	case err != nil:
		return Public(err)
	case !allowed:
		return ErrTooMany
	}
	return nil
}

// ErrTooMany refuses an attempt beyond a limit on signing in.
var ErrTooMany = errors.New("too many attempts")

// NewOwnLimit makes a limit of this process alone.
func NewOwnLimit(rate throttle.Rate) Limit { return ownLimit{throttle.New(rate, limitKeysInMemory)} }
