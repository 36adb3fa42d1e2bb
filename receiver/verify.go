package receiver

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// Call is what a verified request says of itself. Nothing in it can be forged
// without the secret.
type Call struct {
	Method         string
	Target         string    // the request target as on the wire: path and query
	RunID          string    // X-Runtime-Run-Id
	StepID         string    // X-Runtime-Step-Id
	IdempotencyKey string    // <runId>.<stepId>, the same for the life of the step
	SentAt         time.Time // X-Runtime-Timestamp, to the second
}

// Verifier verifies the signature of calls (specification 5.2, HMAC). Its zero
// value refuses every call: it has no secret.
type Verifier struct {
	// Secrets are those that are accepted, the newest first: one, or two while the
	// secret is changed. None may be empty.
	Secrets [][]byte
	// Window is how far the timestamp may be from Now, both ways; default 5 min.
	Window time.Duration
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Verify checks that r was signed with one of the secrets, just now. rawBody are
// the bytes of the body as they arrived: a body that was decoded and encoded again
// is another one. Errors are *RefusedError.
//
// The rules are tried in this order, and the first that is broken is named:
// no_secret, missing_header, line_break, signature, timestamp.
//
// What is signed is r.RequestURI, which net/http sets on a server. A proxy in
// front that rewrites paths must be told to leave the target as it is.
func (v Verifier) Verify(r *http.Request, rawBody []byte) (Call, error) {
	if err := signature.CheckSecrets(v.Secrets); err != nil {
		return Call{}, refused(err)
	}
	p, signed, err := read(r, rawBody)
	if err != nil {
		return Call{}, err
	}
	if err := signature.VerifyAny(v.Secrets, p, signed, v.now(), cmp.Or(v.Window, countersign.SignatureWindow)); err != nil {
		return Call{}, refused(err)
	}
	sent, err := signature.SentAt(p.Timestamp)
	if err != nil {
		return Call{}, refused(err)
	}
	return Call{p.Method, p.PathAndQuery, p.RunID, p.StepID, p.IdempotencyKey, sent}, nil
}

func (v Verifier) now() time.Time {
	if v.Now == nil {
		return time.Now()
	}
	return v.Now()
}

// read takes the signed parts and the signature from a request. A header that
// comes twice is refused: who reads the first and who reads the last would take
// the request for two different ones.
func read(r *http.Request, rawBody []byte) (p signature.Parts, signed string, err error) {
	p = signature.Parts{Method: r.Method, PathAndQuery: r.RequestURI, BodySHA256: signature.BodyHash(rawBody)}
	for _, h := range []struct {
		name string
		into *string
	}{
		{signature.HeaderIdempotencyKey, &p.IdempotencyKey},
		{signature.HeaderRunID, &p.RunID},
		{signature.HeaderStepID, &p.StepID},
		{signature.HeaderTimestamp, &p.Timestamp},
		{signature.HeaderSignature, &signed},
	} {
		values := r.Header.Values(h.name)
		if len(values) != 1 || values[0] == "" {
			return p, "", &RefusedError{Reason: MissingHeader, Header: h.name}
		}
		*h.into = values[0]
	}
	return p, signed, nil
}

// refused gives a signature's error its stable word.
func refused(err error) error {
	for _, reason := range []struct {
		of   error
		word Reason
	}{
		{signature.ErrNoSecret, NoSecret},
		{signature.ErrLineBreak, LineBreak},
		{signature.ErrTimestamp, Timestamp},
	} {
		if errors.Is(err, reason.of) {
			return &RefusedError{Reason: reason.word}
		}
	}
	return &RefusedError{Reason: Signature}
}
