package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/semaphore"
)

// Large answers are made in turns: few at once in this process, so that reading and encoding them
// takes neither all memory nor all processors, and none of one tenant holds all of the turns.
// How large an answer will be isn't known before it is made. So one that was small the last time
// takes no turn, nor does one to a change of which nothing is known.
type largeAnswers struct {
	turns *semaphore.Semaphore
	small *cache.Cache[answerKey, bool]
}

type answerKey struct{ tenant, path, of string }

const (
	largeAtOnce  = 2
	largeAnswer  = countersign.MaxBodyBytes // bytes; more than any one document has
	keptAnswered = 4096
)

func newLargeAnswers() largeAnswers {
	return largeAnswers{turns: semaphore.Shared(largeAtOnce), small: cache.New[answerKey, bool](keptAnswered)}
}

// mayBeLarge are the types of answers that have documents of others in them.
var mayBeLarge = map[reflect.Type]bool{typeOf[countersign.Plan](): true, typeOf[countersign.Run](): true, typeOf[countersign.Model](): true, typeOf[countersign.Project](): true}

// answer is the answer of a route with the names of those it speaks of, encoded where it may be
// large.
func (a *API) answer(rt route, c *call) (out any, err error) {
	if !mayBeLarge[rt.answer] && rt.id != "runReceipt" {
		return a.answered(rt, c)
	}
	key := answerKey{tenant: c.actor.Tenant, path: rt.method + " " + c.r.URL.Path}
	if start, is := c.body.(*countersign.RunStart); is {
		key.of = start.PlanID
	}
	busy := a.large.do(c.ctx, key, c.r.Method == http.MethodGet, func() (size int) {
		if out, err = a.answered(rt, c); err != nil {
			return 0
		}
		pieces, err := a.encode(out)
		if err == nil { // else whoever writes it says so
			out = pieces
		}
		return pieces.size()
	})
	return out, cmp.Or(busy, err)
}

func (a *API) answered(rt route, c *call) (any, error) {
	out, err := rt.handle(c)
	if err == nil {
		out, err = a.named(c, out)
	}
	return out, err
}

// do makes an answer, in its turn if it was large the last time, or is a read of which nothing is
// known. answer gives its size, 0 for a refusal.
func (l largeAnswers) do(ctx context.Context, key answerKey, read bool, answer func() (size int)) error {
	made := func() {
		if size := answer(); size > 0 {
			l.small.Put(key, size <= largeAnswer)
		}
	}
	if small, known := l.small.Get(key); small || !known && !read {
		made()
		return nil
	}
	if l.turns.Do(ctx, key.tenant, made) != nil {
		return errNoTurn
	}
	return nil
}

var errNoTurn = countersign.Errorf(countersign.CodeUnavailable, "the request ended before its turn came; nothing was changed")
