package receiver

import (
	"context"
	"errors"
	"time"
)

// Withdrawn is the state of a key that was withdrawn before any call under it was seen: a call
// under it gets 410 key_withdrawn, and has no effect. It is kept for ever.
const Withdrawn State = "WITHDRAWN"

// Memory is a Store that can say what became of a key. A Receiver with Config.Settlement needs
// one. These rules apply to every implementation; receivertest.TestMemory checks them.
type Memory interface {
	Store
	// Look returns the entry of a key, and false if there is none. It changes nothing.
	Look(ctx context.Context, key string) (Entry, bool, error)
	// Withdraw makes an unknown key WITHDRAWN and returns true once that is as durable as any
	// change; of any other key it returns the entry as it is, and false. It is one
	// insert-or-nothing on what decides a Claim, too, never a look and then an insert: of a
	// Claim and a Withdraw at the same time one wins. While a transaction has claimed the key it
	// waits for the end of that transaction, or fails.
	Withdraw(ctx context.Context, key string, at time.Time) (Entry, bool, error)
	// Since returns the time from which on the store has forgotten no key: its making, the claim
	// of the newest key that was dropped, a declared restore. A store that has no such time yet
	// takes now for it, and keeps that.
	Since(ctx context.Context, now time.Time) (time.Time, error)
	// RestoredAt returns the time of the latest declared restore, the zero time if there was none.
	RestoredAt(ctx context.Context) (time.Time, error)
	// Restored declares that the store was set back at this time: what was kept before may be
	// gone.
	Restored(ctx context.Context, at time.Time) error
}

// Restored declares that the memory of a receiver is a restored copy, or that the database failed
// over to a replica that may lack commits. Call it before the API comes up again. From this time
// on questions about calls that may have been forgotten are answered so that nobody concludes
// from them that a call never came, and a Receiver takes calls only after 10 minutes (twice
// Verifier.Window), when any call of before is too old to be verified.
//
// Nobody can find out by himself that a store was restored. Without this declaration a call
// whose key was lost may be done twice, and be taken for one that never came.
func Restored(ctx context.Context, s Store) error {
	m, is := s.(Memory)
	if !is {
		return errors.New("receiver: this store keeps no record of restores: it is no Memory")
	}
	return m.Restored(ctx, time.Now())
}
