package receivertest

import (
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

// Sign sets the runtime headers of a call on r, signed with the secret: what
// Countersign sends to a project with HMAC. Method and target are those of r, the
// rest comes from c; rawBody must be what r's body holds.
func Sign(r *http.Request, rawBody, secret []byte, c receiver.Call) error {
	target := r.RequestURI // of a request that came in
	if target == "" {
		target = r.URL.RequestURI() // of one that goes out
	}
	p := signature.Parts{
		Method: r.Method, PathAndQuery: target, Timestamp: strconv.FormatInt(c.SentAt.Unix(), 10),
		IdempotencyKey: c.IdempotencyKey, RunID: c.RunID, StepID: c.StepID, BodySHA256: signature.BodyHash(rawBody),
	}
	signed, err := signature.Sign(secret, p)
	if err != nil {
		return err
	}
	r.Header.Set(signature.HeaderIdempotencyKey, p.IdempotencyKey)
	r.Header.Set(signature.HeaderRunID, p.RunID)
	r.Header.Set(signature.HeaderStepID, p.StepID)
	r.Header.Set(signature.HeaderTimestamp, p.Timestamp)
	r.Header.Set(signature.HeaderSignature, signed)
	return nil
}
