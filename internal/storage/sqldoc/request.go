package sqldoc

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// Request is one Update on its way through a writer's queue. Its function runs in
// the caller's goroutine, as often as the writer lends it a transaction.
type Request struct {
	turn   chan *Tx      // the writer lends the transaction; closed at the end
	left   chan struct{} // closed by a caller who doesn't wait for the first turn
	ended  chan error    // the caller gives it back, with how fn ended
	result chan error    // what became of it
	gone   bool          // the caller has left, or its goroutine has ended
	err    error         // fn's own, of the last run
}

// errExited stands for a function that didn't return, errLeft for a caller who
// isn't there any more. Nobody reads these as a result.
var (
	errExited = errors.New("the function panicked or exited")
	errLeft   = errors.New("the caller has left")
)

// NewRequest makes a request.
func NewRequest() *Request {
	return &Request{
		turn: make(chan *Tx), left: make(chan struct{}),
		ended: make(chan error), result: make(chan error, 1),
	}
}

// Serve is the caller's side, once the writer has the request. ctx bounds the wait
// for the first turn only.
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

// run gives the transaction back whatever fn does. If fn panics, the panic goes
// on in this goroutine and nobody reads the result.
func (r *Request) run(tx *Tx, fn func(store.Tx) error) {
	err := errExited
	defer func() { r.ended <- err }()
	err = fn(tx)
}

// call runs the function in the transaction and keeps how it ended; false if
// the caller has left before.
func (r *Request) call(tx *Tx) bool {
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

// Err is how the function ended when it ran last.
func (r *Request) Err() error { return r.err }

// Answer ends a request, also one that has not had its turn.
func (r *Request) Answer(err error) {
	close(r.turn)
	r.result <- err
}
