package conformance

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/periodic"
)

// repeats tries the rules for repeated requests. first is the answer to the first request
// under the key of step.
func (p *play) repeats(first answer, step string) {
	if !first.accepted() {
		for _, name := range []string{countersign.RuleSameKeySameBody, countersign.RuleSameKeyOtherBody, countersign.RuleSlowAnswer, countersign.RuleTwins, countersign.RuleEffectOnce} {
			p.report.set(name, notTried("the first call was not accepted"))
		}
		return
	}
	p.effect.begin()
	p.report.set(countersign.RuleSameKeySameBody, p.sameBody(first, step))
	p.report.set(countersign.RuleSameKeyOtherBody, p.otherBody(step))
	p.report.set(countersign.RuleEffectOnce, p.effect.finding())
	p.report.set(countersign.RuleSlowAnswer, p.slow())
	p.report.set(countersign.RuleTwins, p.twins())
}

func (p *play) sameBody(first answer, step string) finding {
	again := p.right(p.requests[0], step)
	if again.same(first) {
		return holds(first.words() + ", twice")
	}
	return broken(first.words() + ", then " + again.words())
}

func (p *play) otherBody(step string) finding {
	if p.otherless != "" {
		return notTried(p.otherless)
	}
	a := p.right(p.other, step)
	if a.status == http.StatusConflict {
		return holds(a.words())
	}
	return broken(a.words() + "; 409 would say that the key has another body")
}

// onceOnly is the advice if a request under a new key was refused.
const onceOnly = "; if an effect can happen only once, give --input three times"

// slow closes the connection when the request is sent, and repeats the request until the
// receiver answers. A further repetition must get the same answer.
func (p *play) slow() finding {
	r, step := p.effectful(1), p.step()
	if !p.hangUp(r, step) {
		return broken("the connection failed before the request was out")
	}
	a := p.insist(r, step)
	switch {
	case a.accepted():
		again := p.right(r, step)
		if again.same(a) {
			return holds("hung up, then " + a.words() + ", twice")
		}
		return broken("hung up, then " + a.words() + ", then " + again.words())
	case a.refused() && !undecided(a), p.spent(r, a):
		return notTried("hung up, then " + a.words() + onceOnly)
	default:
		return broken("hung up, then no answer but " + a.words() + " for " + p.patience().String())
	}
}

// spent reports whether the receiver refuses a request that had its effect before: a new key,
// whose caller doesn't hang up, gets the same refusal. 409 says as well that a key is taken.
func (p *play) spent(r countersign.Request, a answer) bool {
	first := p.requests[0]
	if !a.refused() || r.URL != first.URL || !r.Body.Equal(first.Body) {
		return false
	}
	return p.right(r, p.step()).status == a.status
}

// effectful is the request of the effect with this index.
func (p *play) effectful(i int) countersign.Request { return p.requests[min(i, len(p.requests)-1)] }

// hangUp sends a complete request and closes the connection at once. It reports whether the
// request was sent.
func (p *play) hangUp(r countersign.Request, step string) bool {
	if p.err != nil {
		return false
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	var out atomic.Bool // net/http calls written in another goroutine
	a := p.wire.exchange(ctx, p.message(r, step, forgery{}), p.capability.Timeout(), moments{written: func() {
		out.Store(true)
		cancel()
	}})
	p.note(a)
	return out.Load()
}

const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// patience bounds the repetition: the first call may take the whole timeout, and a call that
// waits for it too.
func (p *play) patience() time.Duration { return 2 * p.capability.Timeout() }

// insist repeats a request under one key until the receiver has decided.
func (p *play) insist(r countersign.Request, step string) answer {
	ctx, cancel := context.WithTimeout(p.ctx, p.patience())
	defer cancel()
	wait := firstPause
	for {
		a := p.right(r, step)
		if p.err != nil || !undecided(a) || !periodic.Pause(ctx, wait) {
			return a
		}
		wait = min(2*wait, lastPause)
	}
}

// undecided reports whether the answer means that the first call is still in progress, or
// that the receiver could not find out.
func undecided(a answer) bool {
	switch a.status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return a.status >= 500
}

// twins sends one request twice concurrently. Both wait until both are connected, so that
// they arrive together.
func (p *play) twins() finding {
	if p.err != nil {
		return notTried("nothing more was sent")
	}
	m := p.message(p.effectful(2), p.step(), forgery{})
	twin := make(chan answer, 1)
	meet := moments{connected: meeting(2)}
	go func() { twin <- p.wire.exchange(p.ctx, m, p.capability.Timeout(), meet) }()
	a := p.wire.exchange(p.ctx, m, p.capability.Timeout(), meet)
	b := <-twin
	p.note(a)
	p.note(b)
	return judgeTwins(a, b)
}

func judgeTwins(a, b answer) finding {
	if !a.accepted() {
		a, b = b, a
	}
	seen := a.words() + " and " + b.words()
	switch {
	case a.accepted() && (a.same(b) || b.status == http.StatusConflict):
		return holds(seen)
	case a.refused() && b.refused():
		return notTried(seen + onceOnly)
	default:
		return broken(seen)
	}
}
