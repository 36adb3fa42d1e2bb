package receiver

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// Call has the signed parts of a verified request. None of them can be forged without the
// secret.
type Call struct {
	Method         string
	Target         string    // request target as it was received: path and query
	RunID          string    // X-Runtime-Run-Id
	StepID         string    // X-Runtime-Step-Id
	IdempotencyKey string    // <runId>.<stepId>, the same in each call of the step
	SentAt         time.Time // X-Runtime-Timestamp, to the second
}

// Verifier verifies the signature of calls (specification 5.2, HMAC). The zero value has no
// secret and refuses every call.
type Verifier struct {
	// Secrets are the accepted secrets, the newest first: one, or two while the secret is
	// being changed. None may be empty.
	Secrets [][]byte
	// Window is how far the timestamp may be before or after Now; default 5 min.
	Window time.Duration
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Verify checks that r was signed with one of the secrets, within Window of the current
// time. rawBody has the bytes of the body as they were received: a body that was decoded and
// encoded again may differ in a byte. Errors are *RefusedError.
//
// The rules are checked in this order, and the error names the first that is broken:
// no_secret, missing_header, line_break, signature, timestamp.
//
// The signed target is r.RequestURI, which net/http sets on a server. Configure a reverse
// proxy so that it doesn't rewrite the target.
func (v Verifier) Verify(r *http.Request, rawBody []byte) (Call, error) {
	if err := signature.CheckSecrets(v.Secrets); err != nil {
		return Call{}, refused(err)
	}
	p, signed, err := read(r, rawBody)
	if err != nil {
		return Call{}, err
	}
	if err := signature.VerifyAny(v.Secrets, p, signed, v.now(), v.window()); err != nil {
		return Call{}, refused(err)
	}
	sent, err := signature.SentAt(p.Timestamp)
	if err != nil {
		return Call{}, refused(err)
	}
	return Call{p.Method, p.PathAndQuery, p.RunID, p.StepID, p.IdempotencyKey, sent}, nil
}

func (v Verifier) window() time.Duration { return cmp.Or(v.Window, countersign.SignatureWindow) }

func (v Verifier) now() time.Time {
	if v.Now == nil {
		return time.Now()
	}
	return v.Now()
}

// read takes the signed parts and the signature from a request. A repeated header is
// refused: one program could use its first value and another one its last, and so they would
// read different requests.
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

// refused converts an error of package signature to a *RefusedError with its stable code.
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
