package receivertest

import (
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

// Sign sets on r the runtime headers that Countersign sends to a project with HMAC, signed
// with the secret. Method and target are those of r, the other parts come from c. rawBody
// must equal the body of r.
func Sign(r *http.Request, rawBody, secret []byte, c receiver.Call) error {
	target := r.RequestURI // set for an incoming request
	if target == "" {
		target = r.URL.RequestURI() // for an outgoing request
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
