// Package turns hands Updates to the one goroutine that writes: each waits in a queue, and its function runs in its caller's
// goroutine when the writer passes it a transaction. Every engine's writer takes its Updates from here.
package turns

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// Request is an Update in a writer's queue. Its function runs in the caller's goroutine,
// as often as the writer passes it a transaction.
type Request struct {
	turn   chan store.Tx // transactions from the writer; closed at the end
	left   chan struct{} // closed by a caller that stopped waiting for its first turn
	ended  chan error    // the function's error, once it has returned the transaction
	result chan error    // the result of the Update
	gone   bool          // the caller has stopped waiting, or its goroutine has ended
	err    error         // the function's error in its last run

	PutOff int // how often its batch put it off; the writer's own
}

// errExited stands for a function that didn't return, errLeft for a caller that stopped
// waiting. Nobody reads them as a result.
var (
	errExited = errors.New("the function panicked or exited")
	errLeft   = errors.New("the caller has left")
)

// NewRequest makes a request.
func NewRequest() *Request {
	return &Request{
		turn: make(chan store.Tx), left: make(chan struct{}),
		ended: make(chan error), result: make(chan error, 1),
	}
}

// Serve runs the caller's side after the writer got the request. ctx bounds the wait for
// the first turn only.
func (r *Request) Serve(ctx context.Context, fn func(store.Tx) error) error {
	done := ctx.Done()
	for {
		select {
		case tx, begun := <-r.turn:
			if !begun {
				return <-r.result
			}
			done = nil
			r.run(tx, fn)
		case <-done:
			close(r.left)
			return ctx.Err()
		}
	}
}

// run returns the transaction whatever fn does. If fn panics, the panic continues in this
// goroutine and nobody reads the result.
func (r *Request) run(tx store.Tx, fn func(store.Tx) error) {
	err := errExited
	defer func() { r.ended <- err }()
	err = fn(tx)
}

// Call runs the function in the transaction and stores its error; false if the caller has
// stopped waiting.
func (r *Request) Call(tx store.Tx) bool {
	if r.gone {
		return false
	}
	select {
	case r.turn <- tx:
		r.err = <-r.ended
	case <-r.left:
		r.err = errLeft
	}
	r.gone = errors.Is(r.err, errExited) || errors.Is(r.err, errLeft)
	return !errors.Is(r.err, errLeft)
}

// Err is the function's error in its last run.
func (r *Request) Err() error { return r.err }

// Fail makes the last run of the function end with an error that it has ignored.
func (r *Request) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Answer ends a request, even one whose function never ran.
func (r *Request) Answer(err error) {
	close(r.turn)
	r.result <- err
}
