package receiver

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// questionTime bounds how long a withdrawal waits for a transaction that has claimed the key.
const questionTime = 5 * time.Second

func (c *Config) checkSettlement() error {
	if n := len(c.AnswerKey); n != 0 && n != 64 {
		return errors.New("receiver: Config.AnswerKey is no Ed25519 key; see ParseAnswerKey")
	}
	if c.Settlement == "" {
		return nil
	}
	if _, is := c.Store.(Memory); !is {
		return errors.New("receiver: Config.Settlement needs a Store that is a Memory")
	}
	if len(c.AnswerKey) == 0 {
		return errors.New("receiver: Config.Settlement needs an AnswerKey")
	}
	if !strings.HasPrefix(c.Settlement, "/") || strings.HasSuffix(c.Settlement, "/") {
		return errors.New("receiver: Config.Settlement is a path, such as /settlement")
	}
	return nil
}

// answer answers a question about a key. A GET tells, and changes nothing; only POST withdraws.
func (rc *Receiver) answer(w http.ResponseWriter, r *http.Request, q question) {
	w.Header().Set("Cache-Control", "no-store")
	if q.problem != nil {
		if q.problem.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", q.allow)
		}
		q.problem.write(w)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), questionTime)
	defer cancel()
	s, err := rc.state(ctx, q)
	if err != nil {
		rc.unavailable(w, Claim{Key: q.key}, err)
		return
	}
	s.write(w)
}

// state finds out what is known of a key, and withdraws it if the question says so.
func (rc *Receiver) state(ctx context.Context, q question) (Statement, error) {
	memory := rc.cfg.Store.(Memory) // New has checked it
	now := rc.cfg.Verifier.now()
	since, err := memory.Since(ctx, now)
	if err != nil {
		return Statement{}, err
	}
	s := Statement{Key: q.key, State: KnownUnseen, At: now, Since: since}
	if rc.atWork(q.key) { // asked first: it may end, and be kept, meanwhile
		s.State = KnownInProgress
	}
	e, known, err := memory.Look(ctx, q.key)
	if err == nil && !known && q.withdraw {
		e, _, err = memory.Withdraw(ctx, q.key, now)
		known = true
	}
	if err != nil {
		return Statement{}, err
	}
	if known {
		s.State, s.Answer = rc.known(e, now), e.Answer
	}
	return s, nil
}

// pauses answers a call that comes too early after a declared restore, or whose store can't say
// that there was none. It returns false if the call may go on.
func (rc *Receiver) pauses(w http.ResponseWriter, r *http.Request) bool {
	memory, is := rc.cfg.Store.(Memory)
	if !is {
		return false
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	now := rc.cfg.Verifier.now()
	restored, err := memory.RestoredAt(r.Context())
	if err == nil && !reads {
		err = rc.remember(r.Context(), memory, now)
	}
	wait := restored.Add(rc.restoredPause()).Sub(now)
	switch {
	case err != nil && !reads:
		rc.unavailable(w, Claim{}, err)
	case err == nil && !restored.IsZero() && wait > 0:
		w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
		problem{http.StatusServiceUnavailable, "unavailable", "what this API remembers was restored: it takes calls again when each call of before is too old; nothing was done"}.write(w)
	default:
		return false
	}
	return true
}

// remember has the store keep since when it forgets nothing: from the first call on, not from the
// first question.
func (rc *Receiver) remember(ctx context.Context, memory Memory, now time.Time) error {
	if rc.cfg.AnswerKey == nil || rc.remembers.Load() {
		return nil
	}
	_, err := memory.Since(ctx, now)
	rc.remembers.Store(err == nil)
	return err
}
