package turns

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Served is an Update in a queue: a Request, or what an engine makes of one.
type Served interface {
	Serve(ctx context.Context, fn func(store.Tx) error) error
}

// Queue hands Updates to a writer, one by one: who has sent one has the turn. Outcomes of calls
// (store.Urgent) and all other Updates take turns in a batch. So a step whose call was answered
// doesn't wait behind every start that will be refused because no slot is free, or steps would
// hold their slots the longer the more starts are refused.
type Queue[R Served] struct {
	Outcomes, Others chan R // unbuffered
	others           bool   // the next place of a batch is for one of them; the writer's own
}

// BatchTime is how long the functions of a batch take before it takes no further one: those that
// cost little come next, whoever they are of, and not after all that cost much.
const BatchTime = 50 * time.Millisecond

// NewQueue makes a Queue.
func NewQueue[R Served]() *Queue[R] {
	return &Queue[R]{Outcomes: make(chan R), Others: make(chan R)}
}

// For is where an Update with this context waits.
func (q *Queue[R]) For(ctx context.Context) chan<- R {
	if store.IsUrgent(ctx) {
		return q.Outcomes
	}
	return q.Others
}

// Update hands an Update to the writer and runs its function whenever the writer passes it a transaction. Once the writer
// has stopped, it answers with the reason.
func (q *Queue[R]) Update(ctx context.Context, r R, fn func(store.Tx) error, stopped <-chan struct{}, reason func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q.For(ctx) <- r:
		return r.Serve(ctx, fn)
	case <-stopped:
		return reason()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await waits for an Update until something ends the wait; false then.
func Await[R Served, E any](q *Queue[R], end <-chan E) (r R, ok bool) {
	select {
	case r = <-q.Outcomes:
		return r, true
	case r = <-q.Others:
		return r, true
	case <-end:
		return r, false
	}
}

// Next takes an Update that waits; false if there is none.
func (q *Queue[R]) Next() (r R, ok bool) {
	first, second := q.Outcomes, q.Others
	if q.others {
		first, second = second, first
	}
	if r, ok = waiting(first); ok {
		q.others = !q.others
		return r, true
	}
	return waiting(second)
}

func waiting[R any](queue chan R) (r R, ok bool) {
	select {
	case r = <-queue:
		return r, true
	default:
		return r, false
	}
}
