package receiver

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// MaxBytes bounds the body of a call and of an answer that is remembered: 1 MiB.
const MaxBytes = countersign.MaxBodyBytes

// maxKey bounds an idempotency key, in bytes; those of Countersign are shorter.
const maxKey = 512

// Config is what a Receiver is made of.
type Config struct {
	Verifier Verifier
	Store    Store // where keys are remembered; see Transactor too
	// InProgress is how long another process may be at a call: a claim of another
	// process counts as in progress so long, and as in doubt afterwards. Default
	// 2 min, twice a capability's longest timeout.
	InProgress time.Duration
	// Log takes what goes wrong with the store; default slog.Default(). It gets
	// keys, and neither bodies nor secrets.
	Log *slog.Logger
}

// Receiver lets only genuine calls through to a handler, and each side effect once.
type Receiver struct {
	cfg      Config
	instance string // of this process
	claims   atomic.Int64
	running  sync.Map // the claims that this process is at, by Claim.By
}

// New makes a Receiver. It panics without a Store and without a secret: an API that
// forgets its keys, or that everybody may call, must not come up.
func New(cfg Config) *Receiver {
	if signature.CheckSecrets(cfg.Verifier.Secrets) != nil {
		panic("receiver: Config.Verifier has no secret, or an empty one; is the environment variable set?")
	}
	if cfg.Store == nil {
		panic("receiver: Config.Store is nil; give it a SQLStore, or a MemoryStore to try")
	}
	cfg.InProgress = cmp.Or(cfg.InProgress, 2*time.Minute)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	return &Receiver{cfg: cfg, instance: rand.Text()}
}

// Handler stands before a project API's own handlers. It
//   - reads the raw body, at most 1 MiB (413 payload_too_large);
//   - verifies the call (401 with the Reason), hands it on with CallFrom, and gives
//     the body back;
//   - passes GET and HEAD on, and lets everything else happen once for each key.
//
// A repeat with the same method, target and body gets the first answer: status,
// Content-Type and body, with the header Idempotency-Replayed: true. Otherwise it
// is 409: idempotency_conflict for another payload, in_progress (with Retry-After)
// while the first one is at work, in_doubt where nobody knows whether the effect
// happened. A key in doubt never runs again by itself: look up what happened, then
// Release it, or Finish it with the right answer.
//
// What becomes of the key depends on next's answer:
//   - below 400 it is remembered. Answer so only with the final state.
//   - 4xx frees the key. Answer so only where nothing has happened.
//   - 408, 5xx, or a panic, leaves the key in doubt: the handler failed somewhere, and
//     nobody knows whether before or after the effect. Call Release where it is
//     known that nothing happened.
//   - more than 1 MiB can't be remembered, so it isn't given either: 500
//     not_remembered, and the key is in doubt. The same where the store fails.
//
// next goes on when the caller hangs up: the context of a side effect is never
// cancelled. Its answer is held back until it is remembered, so streaming and Flush
// aren't supported there. Anything that changes answers, such as compression, goes
// around this handler.
func (rc *Receiver) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBytes))
		if err != nil {
			unreadable(err).write(w)
			return
		}
		call, err := rc.cfg.Verifier.Verify(r, body)
		if err != nil {
			unverified(err).write(w)
			return
		}
		r = r.WithContext(withCall(r.Context(), call))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		switch {
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			next.ServeHTTP(w, r)
		case len(call.IdempotencyKey) > maxKey:
			problem{http.StatusBadRequest, "invalid_request", "an idempotency key has at most 512 bytes"}.write(w)
		default:
			rc.once(w, r, next, rc.claim(call, body))
		}
	})
}

// claim is the request's wish for its key, under a name that no other request has.
func (rc *Receiver) claim(call Call, body []byte) Claim {
	return Claim{
		Key:     call.IdempotencyKey,
		Payload: signature.BodyHash([]byte(call.Method + "\n" + call.Target + "\n" + signature.BodyHash(body))),
		By:      rc.instance + "." + strconv.FormatInt(rc.claims.Add(1), 10),
		At:      rc.cfg.Verifier.now().Truncate(time.Millisecond),
	}
}

func unreadable(err error) problem {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return problem{http.StatusRequestEntityTooLarge, "payload_too_large", "a body has at most 1 MiB"}
	}
	return problem{http.StatusBadRequest, "invalid_request", "the body could not be read to its end"}
}

func unverified(err error) problem {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		refused = &RefusedError{Reason: Signature}
	}
	return problem{http.StatusUnauthorized, string(refused.Reason), refused.Error()}
}
