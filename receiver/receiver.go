package receiver

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// MaxBytes bounds the body of a call and the body of an answer that is remembered: 1 MiB.
const MaxBytes = countersign.MaxBodyBytes

// maxKey bounds an idempotency key, in bytes; those of Countersign are shorter.
const maxKey = 512

// Config has the settings of a Receiver.
type Config struct {
	Verifier Verifier
	Store    Store // keeps the keys; see also Transactor
	// InProgress is how long a call may be in progress in another process: a claim by
	// another process counts as in progress for this time, and as in doubt afterwards.
	// Default 2 min, twice the longest timeout of a capability.
	InProgress time.Duration
	// AnswerKey signs the answers (header X-Runtime-Answer), so that Countersign and whoever
	// verifies a receipt know that they are this API's own; see ParseAnswerKey. The project has
	// its public half in answerKeys. One answer key belongs to one Store, and to no other
	// installation of this API. With it each answer of the handler is remembered before it is
	// signed, 4xx too. Default: nothing is signed.
	AnswerKey ed25519.PrivateKey
	// Settlement is the path below which questions about keys are answered, such as
	// "/settlement"; the project has it as settlement.path. It needs an AnswerKey, and a Store
	// that is a Memory. Default: there is none.
	Settlement string
	// Log is where errors of the store are logged; default slog.Default(). The log
	// contains keys, but no bodies or secrets.
	Log *slog.Logger
}

// Receiver passes only genuine calls to a handler, and runs the handler of each side effect
// once.
type Receiver struct {
	cfg      Config
	instance string       // random; Claim.By begins with it in claims by this Receiver
	claims   atomic.Int64 // number of claims made
	running  sync.Map     // Claim.By to Claim.Key: requests in progress in this process

	remembers atomic.Bool // the store knows since when
}

// New makes a Receiver. It panics if there is no Store or no secret: an API that forgets its
// keys, or that anybody may call, must not start. So it does for an answer key or a settlement
// that can't work.
func New(cfg Config) *Receiver {
	if signature.CheckSecrets(cfg.Verifier.Secrets) != nil {
		panic("receiver: Config.Verifier has no secret, or an empty one; is the environment variable set?")
	}
	if cfg.Store == nil {
		panic("receiver: Config.Store is nil; give it a SQLStore, or a MemoryStore to try")
	}
	if err := cfg.checkSettlement(); err != nil {
		panic(err.Error())
	}
	cfg.InProgress = cmp.Or(cfg.InProgress, 2*time.Minute)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	return &Receiver{cfg: cfg, instance: rand.Text()}
}

// Handler wraps the handlers of a project API. It
//   - reads the raw body, at most 1 MiB (413 payload_too_large);
//   - verifies the call (401 with the Reason), and passes it to next, which gets it with
//     CallFrom and can read the body again;
//   - answers questions about keys, if there is a Config.Settlement;
//   - runs next for each GET and HEAD, and for all other methods once for each key.
//
// A repeated call with the same method, target and body gets the first answer: status,
// Content-Type and body, with the header Idempotency-Replayed: true. Otherwise the answer is
// 409: idempotency_conflict if the payload differs, in_progress (with Retry-After) while the
// first call is in progress, and in_doubt if nobody knows whether the effect happened. The
// handler never runs again for a key in doubt: find out what happened, then call Release or
// Finish of the Store, the latter with the right answer.
//
// What happens to the key depends on the answer of next:
//   - An answer below 400 is remembered. Give it only for the final state.
//   - 4xx frees the key. Answer so only if nothing has happened. With an AnswerKey it is
//     remembered like any other answer, and what the handler did in the transaction (TxFrom) is
//     undone.
//   - 408, 5xx or a panic leaves the key in doubt: the handler failed, and nobody knows
//     whether before or after the effect. Call the function Release before if it is known
//     that nothing happened.
//   - An answer of more than 1 MiB can't be remembered, so the caller doesn't get it: it
//     gets 500 not_remembered, and the key is in doubt. The same happens if the store fails.
//
// next continues when the caller disconnects: the context of a side effect is never
// cancelled. Its answer is held back until it is remembered, so streaming and Flush aren't
// supported for side effects. Middleware that changes answers, such as compression, must
// wrap this handler, not next. With an AnswerKey the same holds for GET.
//
// With an AnswerKey answers are signed, but 400, 401, 408, 413, 5xx, a 409 in_progress or
// in_doubt, and what wasn't remembered.
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
		w = rc.signing(w, call, body)
		question, asks := rc.question(r)
		switch {
		case asks:
			rc.answer(w, r, question)
		case rc.pauses(w, r):
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			rc.read(w, r, next)
		case !isKey(call.IdempotencyKey):
			badKey.write(w)
		default:
			rc.once(w, r, next, rc.claim(call, body))
		}
	})
}

// isKey reports a key that a call may have; those that begin with ~ are the stores' own.
func isKey(key string) bool { return len(key) <= maxKey && !strings.HasPrefix(key, ownKeys) }

var badKey = problem{http.StatusBadRequest, "invalid_request", "an idempotency key has at most 512 bytes, and doesn't begin with ~"}

// claim is the claim of a request for its key. No other request has the same By.
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
