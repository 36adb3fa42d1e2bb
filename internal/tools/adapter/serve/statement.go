package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/tools/adapter/calls"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
	"github.com/countersign/countersign/receiver"
)

// questionTime bounds how long a question waits for the memory.
const questionTime = 5 * time.Second

// statement tells what became of a key, or withdraws one that was never seen (contract 12.6), for
// whoever has the secret of the upstream whose key it is.
func (a *asked) statement(rest string) {
	raw, more, deeper := strings.Cut(rest, "/")
	key, err := url.PathUnescape(raw)
	if err != nil || key == "" || deeper && more != "withdraw" {
		write(a.w, up.NotFound(a.r.Method+" "+a.path).Answer())
		return
	}
	by, err := a.verified(a.everybody()...)
	if err != nil {
		a.unauthenticated(err)
		return
	}
	ctx, cancel := context.WithTimeout(a.r.Context(), questionTime)
	defer cancel()
	e, known, err := a.cfg.Store.Look(ctx, key)
	if owner := a.owner(key, e.Upstream); err == nil && owner != "" {
		if !slices.Contains(by, owner) {
			a.as = nil // nothing is signed for it
			a.unauthenticated(&receiver.RefusedError{Reason: receiver.Signature})
			return
		}
		a.as = a.named[owner]
	}
	switch {
	case err != nil:
		a.problem(&up.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the adapter's memory can't be read; nothing was changed"})
	case a.r.Method != map[bool]string{false: http.MethodGet, true: http.MethodPost}[deeper]:
		a.problem(&up.Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "a question is a GET, a withdrawal a POST"})
	case len(key) > maxKey || !a.asksWell():
		a.problem(up.Invalid("a question has a key of at most 512 bytes, and sent, the time of the first sending in Unix seconds"))
	default:
		a.tell(ctx, key, e, known, deeper)
	}
}

// owner is the upstream whose key it is, also before a call under it is kept.
func (a *asked) owner(key, kept string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.running[key]; kept == "" && r != nil {
		return r.upstream
	}
	return kept
}

// asksWell reports a question whose sent is none, or a time.
func (a *asked) asksWell() bool {
	sent := a.r.URL.Query()["sent"]
	if len(sent) == 0 {
		return true
	}
	n, err := strconv.ParseInt(sent[0], 10, 64)
	return len(sent) == 1 && err == nil && n >= 0 && strconv.FormatInt(n, 10) == sent[0]
}

func (a *asked) tell(ctx context.Context, key string, e calls.Entry, known, withdraw bool) {
	store, now := a.cfg.Store, a.cfg.Now()
	var err error
	if withdraw && !known {
		if err = store.Withdraw(ctx, key, a.as.Name, now); errors.Is(err, calls.ErrKnown) {
			err = nil // a call came first
		}
		if err == nil {
			e, known, err = store.Look(ctx, key)
		}
	}
	since, failed := store.Since(ctx)
	if err != nil || failed != nil || known && e.Upstream != a.as.Name {
		a.problem(&up.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the adapter's memory can't be read; ask again"})
		return
	}
	s := receiver.Statement{Key: key, State: a.known(key, e, known), At: now, Since: since}
	if s.State == receiver.KnownDone {
		s.Answer = receiver.Answer{Status: e.Answer.Status, ContentType: e.Answer.ContentType, Body: e.Answer.Body}
	}
	a.answer(&up.Answer{Status: http.StatusOK, ContentType: "application/json", Body: s.JSON()})
}

// known is what is known of a key.
func (a *asked) known(key string, e calls.Entry, known bool) receiver.Known {
	a.mu.Lock()
	running := a.running[key] != nil
	a.mu.Unlock()
	switch {
	case known && e.State == calls.Done:
		return receiver.KnownDone
	case known && e.State == calls.Withdrawn:
		return receiver.KnownWithdrawn
	case running || known && e.Job != "":
		return receiver.KnownInProgress
	case known:
		return receiver.KnownUnknown
	}
	return receiver.KnownUnseen
}
