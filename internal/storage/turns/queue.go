package turns

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Queue hands Updates to a writer, one by one: who has sent one has the turn. Outcomes of calls
// (store.Urgent) and all other Updates take turns in a batch. So a step whose call was answered
// doesn't wait behind every start that will be refused because no slot is free, or steps would
// hold their slots the longer the more starts are refused.
type Queue[R any] struct {
	Outcomes, Others chan R // unbuffered
	others           bool   // the next place of a batch is for one of them; the writer's own
}

// BatchTime is how long the functions of a batch take before it takes no further one: those that
// cost little come next, whoever they are of, and not after all that cost much.
const BatchTime = 50 * time.Millisecond

// NewQueue makes a Queue.
func NewQueue[R any]() *Queue[R] {
	return &Queue[R]{Outcomes: make(chan R), Others: make(chan R)}
}

// For is where an Update with this context waits.
func (q *Queue[R]) For(ctx context.Context) chan<- R {
	if store.IsUrgent(ctx) {
		return q.Outcomes
	}
	return q.Others
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
