package receiver

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// State is the state of a key in a Store.
type State string

// The states. A key that no request has claimed has no state.
const (
	Claimed  State = "CLAIMED"  // a request has the key and was not answered yet
	Finished State = "FINISHED" // the request was answered; each repeated call gets the same answer
)

// ErrNotClaimed is the error of Finish and Release for a key that isn't CLAIMED.
var ErrNotClaimed = errors.New("the key is not claimed")

// Claim asks for a key in the name of one request.
type Claim struct {
	Key     string    // the idempotency key, compared byte by byte
	Payload string    // lowercase hex SHA-256 over method, target and body hash
	By      string    // identifies the process and its request
	At      time.Time // to the millisecond
}

// Answer is the part of an answer that is remembered. Other header fields are not.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte // at most 1 MiB
}

// Entry is what a store has recorded for a key.
type Entry struct {
	Claim         // the claim that got the key
	State  State  // CLAIMED or FINISHED
	Answer Answer // of a FINISHED key
}

// Store remembers the request and the answer of each key. It is used by many requests
// concurrently and, if it outlives the process, by several processes. These rules apply to
// every implementation; package receivertest checks them:
//
// After a change has returned nil, it is as durable as the store's medium and visible to
// every later operation. If a change returned an error other than ErrNotClaimed, it may or
// may not have been made; a later Entry shows which.
//
// A CLAIMED key is never forgotten. FINISHED keys are kept for 90 days or more: a key that is
// forgotten can be claimed again, and then the effect happens twice.
type Store interface {
	// Claim makes an unknown key CLAIMED and returns true. Of any number of concurrent
	// claims of a key exactly one returns true. The others, and all later ones, return the
	// entry as it is and change nothing.
	Claim(ctx context.Context, c Claim) (Entry, bool, error)
	// Finish makes a CLAIMED key FINISHED with this answer. Later Claims return the answer
	// byte for byte.
	Finish(ctx context.Context, key string, a Answer) error
	// Release deletes a CLAIMED key, as if it had never been claimed. Call it only if the
	// effect is known not to have happened.
	Release(ctx context.Context, key string) error
}

// Transactor is a Store that can record a key in the same transaction as the effect. If
// Config.Store is a Transactor, the Receiver begins a transaction for each call with a side
// effect.
type Transactor interface {
	Store
	Begin(ctx context.Context) (Transaction, error)
}

// Transaction is the Store of one call. After its Claim, other claims of the key wait until
// the transaction ends; Finish commits it, Release rolls it back.
type Transaction interface {
	Store
	// Tx returns the transaction in which the handler performs its effect; see TxFrom.
	Tx() *sql.Tx
	// Rollback rolls the transaction back unless Finish or Release has ended it.
	Rollback()
}
