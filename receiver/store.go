package receiver

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// State says what is known of a key.
type State string

// The states. A key that nobody claimed has none.
const (
	Claimed  State = "CLAIMED"  // a request took it and has not been answered
	Finished State = "FINISHED" // it was answered, and is answered so for ever
)

// ErrNotClaimed is Finish and Release of a key that isn't CLAIMED.
var ErrNotClaimed = errors.New("the key is not claimed")

// Claim is a request that wants a key.
type Claim struct {
	Key     string    // the idempotency key; no two that differ in a byte are the same
	Payload string    // lowercase hex SHA-256 over method, target and body hash
	By      string    // which request of which process claims
	At      time.Time // to the millisecond
}

// Answer is what is remembered of an answer: nothing else of its header is.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte // at most 1 MiB
}

// Entry is what a store knows of a key.
type Entry struct {
	Claim         // the one that got the key
	State  State  // CLAIMED or FINISHED
	Answer Answer // of a FINISHED key
}

// Store remembers what was asked and answered under each key. It is used by many
// requests at once and, where it outlives the process, by several processes. Its
// law, which package receivertest checks:
//
// A change that returned nil is durable to the store's degree, and seen by whoever
// asks after it. A change that returned another error than ErrNotClaimed has been
// made or not; Entry tells later.
//
// No key is forgotten while it is CLAIMED. FINISHED keys are kept 90 days or more:
// a key that is forgotten can be claimed again, and the effect happens twice.
type Store interface {
	// Claim makes a key that is not known CLAIMED, and is true then. Of any number
	// of claims at once one is true. The others, and all later ones, give the entry
	// as it is and change nothing.
	Claim(ctx context.Context, c Claim) (Entry, bool, error)
	// Finish makes a CLAIMED key FINISHED with this answer, which a later Claim
	// gives back byte for byte.
	Finish(ctx context.Context, key string, a Answer) error
	// Release forgets a CLAIMED key, as if it had never been claimed. It is for
	// whoever knows that the effect did not happen.
	Release(ctx context.Context, key string) error
}

// Transactor is a Store that can remember a key in the transaction of its effect.
// Where Config.Store is one, the Receiver begins a transaction for each call with a
// side effect.
type Transactor interface {
	Store
	Begin(ctx context.Context) (Transaction, error)
}

// Transaction is the Store of one call. Its Claim holds back other claims of the
// key until the end; Finish commits, Release rolls back.
type Transaction interface {
	Store
	// Tx is what the handler makes its effect with; see TxFrom.
	Tx() *sql.Tx
	// Rollback ends what has neither been finished nor released; else it does
	// nothing.
	Rollback()
}
