package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/adapter/calls"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// running is a call that this process makes, or a job that it follows.
type running struct {
	call     string // identifies operation, query and body
	upstream string
	done     chan struct{} // closed when answer is final
	answer   *up.Answer
	replayed bool
	followed chan struct{} // closed when it is a job, whose callers wait until then
	until    time.Time
	once     sync.Once
	leave    func() // lets the next request under the key read the memory
}

func newRunning(call, upstream string, leave func()) *running {
	return &running{call: call, upstream: upstream, done: make(chan struct{}), followed: make(chan struct{}), leave: leave}
}

// begin makes a call or follows a job as the one of its key. The caller has
// the lock.
func (s *Server) begin(key, call, upstream string, work func(r *running)) *running {
	r := newRunning(call, upstream, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, key)
	})
	s.running[key] = r
	s.going.Add(1)
	go func() {
		defer s.going.Done()
		defer r.end(unknown("the adapter stops", "").Answer())
		work(r)
	}()
	return r
}

const maxKey = 512

// call lets a call through to its upstream, once, or answers what is known of it.
func (a *asked) call(kind, rest string) {
	name, below, _ := strings.Cut(rest, "/")
	u := a.named[name]
	if u == nil || (kind == "mcp") != (u.MCP != nil) {
		write(a.w, up.NotFound(a.r.Method+" "+a.path).Answer())
		return
	}
	if _, err := a.verified(name); err != nil {
		a.unauthenticated(err)
		return
	}
	restored, err := a.cfg.Store.RestoredAt(a.r.Context())
	switch {
	case err != nil:
		a.problem(noMemory(err))
	case a.cfg.Now().Before(restored.Add(RestoredPause)):
		a.problem(&up.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the adapter's memory was restored: until no call of before can arrive any more, 10 minutes after, none is taken"})
	case len(a.by.IdempotencyKey) > maxKey:
		a.problem(up.Invalid("an idempotency key has at most 512 bytes"))
	default:
		a.wait(a.run(up.Call{Key: a.by.IdempotencyKey, Method: a.r.Method, Path: "/" + below, Query: a.query, Body: a.body}))
	}
}

// RestoredPause is how long a restored memory takes no calls: twice the time within which a signature is good.
const RestoredPause = 2 * countersign.SignatureWindow

// run is the call under a key: the one that is under way, or a new one.
func (a *asked) run(c up.Call) *running {
	s := a.Server
	call := countersign.SHA256Hex([]byte(c.Method + "\n" + a.r.RequestURI + "\n" + countersign.SHA256Hex(c.Body)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.running[c.Key]; r != nil {
		if r.call != call {
			return ended(conflict().Answer())
		}
		return r
	}
	return s.begin(c.Key, call, a.as.Name, func(r *running) { s.make(context.WithoutCancel(s.ctx), c, r) })
}

func ended(answer *up.Answer) *running {
	r := newRunning("", "", func() {})
	r.end(answer)
	return r
}

func (r *running) end(answer *up.Answer) {
	r.once.Do(func() {
		r.answer = answer
		r.leave()
		close(r.done)
	})
}

// wait answers when the call ends, or when its caller has waited long enough.
func (a *asked) wait(r *running) {
	patience := time.After(cmp.Or(a.cfg.Patience, up.Wait))
	followed := r.followed
	late := &up.Problem{Status: http.StatusServiceUnavailable, Code: "in_progress", Message: "the call goes on; ask again for its answer"}
	for {
		select {
		case <-r.done:
			if r.replayed {
				a.w.Header().Set("Idempotency-Replayed", "true")
			}
			a.answer(r.answer)
			return
		case <-followed:
			followed, patience = nil, time.After(r.until.Sub(a.cfg.Now()))
			late = unknown("the upstream works at it still, and is asked until its job ends", "")
		case <-patience:
			a.problem(late)
			return
		case <-a.r.Context().Done():
			return
		}
	}
}

// make makes a call unless its key is known. It is kept as begun before the upstream is reached.
func (s *Server) make(ctx context.Context, c up.Call, r *running) {
	e, known, err := s.cfg.Store.Look(ctx, c.Key)
	switch {
	case err != nil:
		r.end(noMemory(err).Answer())
		return
	case known:
		r.again(e)
		return
	}
	if s.unkept.Load() > 0 {
		r.end(noMemory(errFull).Answer())
		return
	}
	preparing, cancel := context.WithTimeout(ctx, up.Wait)
	defer cancel()
	perform, problem := s.cfg.Upstreams[r.upstream].Prepare(preparing, c)
	if problem != nil {
		r.end(s.refuse(ctx, c.Key, r, problem))
		return
	}
	err = s.cfg.Store.Begin(ctx, c.Key, r.upstream, r.call, s.cfg.Now())
	if errors.Is(err, calls.ErrKnown) { // withdrawn meanwhile
		if e, known, err = s.cfg.Store.Look(ctx, c.Key); err == nil && known {
			r.again(e)
			return
		}
	}
	if err != nil {
		s.cfg.Log.Error("a call could not be kept, and was not made", "key", c.Key, "error", err)
		r.end(noMemory(err).Answer())
		return
	}
	o := perform(ctx)
	s.cfg.Log.Info("called", "key", c.Key, "upstream", r.upstream, "operation", c.Method+" "+c.Path, "outcome", inWords(o))
	s.settle(ctx, c.Key, r, o)
}

// refuse answers that nothing was called. With an answer key the answer is kept before it is
// signed; a request that is wrong by itself leaves nothing behind in any case.
func (s *Server) refuse(ctx context.Context, key string, r *running, p *up.Problem) *up.Answer {
	a := p.Answer()
	if s.named[r.upstream].AnswerKeyEnv == "" || p.Status == http.StatusBadRequest {
		return a
	}
	if err := s.cfg.Store.Refuse(ctx, key, r.upstream, r.call, kept(a), s.cfg.Now()); err != nil {
		return noMemory(err).Answer()
	}
	return a
}

// settle keeps what is known of a call, and only then answers it.
func (s *Server) settle(ctx context.Context, key string, r *running, o up.Outcome) {
	store, at := s.cfg.Store, s.cfg.Now()
	if o.Job != "" {
		if s.insist(key, func() error { return store.Follow(ctx, key, o.Job) }) {
			s.follow(key, o.Job, at, r)
		}
		return
	}
	a, keep := o.Answer, store.Finish
	switch {
	case a != nil:
	case o.NotCalled != nil:
		if a = o.NotCalled.Answer(); s.named[r.upstream].AnswerKeyEnv == "" {
			keep = func(ctx context.Context, key string, _ calls.Answer, _ time.Time) error { return store.Drop(ctx, key) }
		}
	default:
		a, keep = unknown(o.Unknown, o.Said).Answer(), store.Lose
	}
	if s.insist(key, func() error { return keep(ctx, key, kept(a), at) }) {
		r.end(a)
	}
}

// firstWait is how long after a failure it is tried again for the first time.
const firstWait = 100 * time.Millisecond

// insist tries until something is kept: an answer that isn't is given to nobody. Where the
// adapter stops before, the key is unknown.
func (s *Server) insist(key string, keep func() error) bool {
	for wait := firstWait; ; wait = min(2*wait, time.Minute) {
		err := keep()
		if err == nil {
			return true
		}
		if wait == firstWait {
			s.unkept.Add(1)
			defer s.unkept.Add(-1)
		}
		s.cfg.Log.Error("what became of a call could not be kept; it is tried again", "key", key, "error", err)
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return false
		}
	}
}

func kept(a *up.Answer) calls.Answer {
	return calls.Answer{Status: a.Status, ContentType: a.ContentType, Body: a.Body}
}

// again answers from what is kept.
func (r *running) again(e calls.Entry) {
	a := up.Answer{Status: e.Answer.Status, ContentType: e.Answer.ContentType, Body: e.Answer.Body}
	switch {
	case e.State == calls.Withdrawn && e.Upstream == r.upstream:
		r.end(withdrawn().Answer())
		return
	case e.Call != r.call:
		r.end(conflict().Answer())
		return
	case e.State == calls.Done:
		r.replayed = true
	case a.Status == 0:
		a = *unknown("a call was begun under this key, and no answer of it is kept", "").Answer()
	}
	r.end(&a)
}

// longestJob is how long a job is followed.
const longestJob = 24 * time.Hour

// resume follows a job that an earlier process has left.
func (s *Server) resume(e calls.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(e.Key, e.Call, e.Upstream, func(r *running) { s.follow(e.Key, e.Job, e.Began, r) })
}

// follow asks for a job until it ends or nobody can say any more how.
func (s *Server) follow(key, job string, began time.Time, r *running) {
	u := s.cfg.Upstreams[r.upstream]
	every, timeout := u.Pace()
	r.until = began.Add(timeout)
	close(r.followed)
	ctx := context.WithoutCancel(s.ctx)
	for n := 1; ; n++ {
		select {
		case <-time.After(every):
		case <-s.ctx.Done():
			return // the next process goes on
		}
		a, err := u.Follow(ctx, job)
		switch {
		case a != nil:
			s.settle(ctx, key, r, up.Outcome{Answer: a})
			return
		case s.cfg.Now().After(began.Add(longestJob)):
			s.settle(ctx, key, r, up.Outcome{Unknown: "the upstream's job did not end within 24 hours"})
			return
		case err != nil:
			s.cfg.Log.Warn("a job could not be asked for; it is tried again", "key", key, "upstream", r.upstream, "error", err)
		case n&(n-1) == 0: // 1, 2, 4, 8 …
			s.cfg.Log.Info("a job goes on", "key", key, "upstream", r.upstream, "asked", n)
		}
	}
}

func conflict() *up.Problem {
	return &up.Problem{Status: http.StatusConflict, Code: "idempotency_conflict", Message: "this idempotency key came with another operation, query or body"}
}

func withdrawn() *up.Problem {
	return &up.Problem{Status: http.StatusGone, Code: "key_withdrawn", Message: "this idempotency key was withdrawn before a call came under it; nothing was called, and nothing will be"}
}

// errFull is a memory that takes no answer of a call.
var errFull = errors.New("full")

func noMemory(err error) *up.Problem {
	why := "can't be read or written"
	if calls.Full(err) {
		why = "is full"
	}
	p := up.NotCalled("the adapter's memory %s", why)
	p.Unkept = true
	return p
}

// unknown says that nobody knows what happened, with what the upstream said.
func unknown(why, said string) *up.Problem {
	words := why
	if said != "" {
		quoted, err := json.Marshal(said)
		if err != nil {
			quoted = nil // texts can always be written
		}
		words = fmt.Sprintf("%s; it said %s", why, quoted)
	}
	return &up.Problem{Status: http.StatusGatewayTimeout, Code: "outcome_unknown", Message: words + ". Nobody knows whether it took effect. Find out, then stop the adapter and say it with: countersign adapter resolve"}
}

func inWords(o up.Outcome) string {
	switch {
	case o.Answer != nil:
		return fmt.Sprintf("answered %d", o.Answer.Status)
	case o.NotCalled != nil:
		return "nothing was called"
	case o.Job != "":
		return "a job was accepted"
	}
	return "unknown: " + o.Unknown
}
