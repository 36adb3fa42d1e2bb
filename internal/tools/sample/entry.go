package sample

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
)

// SignatureValid is the verdict on a valid signature; every other verdict says what is wrong.
const SignatureValid = "valid"

// Entry is one request as the shop received it, and what it answered.
type Entry struct {
	At        time.Time       `json:"at"`
	Method    string          `json:"method"`
	Path      string          `json:"path"` // the request target as on the wire, with its query
	Key       string          `json:"key"`
	RunID     string          `json:"runId"`
	StepID    string          `json:"stepId"`
	Signature string          `json:"signature"` // SignatureValid, or what is wrong
	Body      string          `json:"body"`      // the raw bytes
	Status    int             `json:"status"`
	Answer    json.RawMessage `json:"answer"`
	Replayed  bool            `json:"replayed"` // answered with the stored answer; nothing was done
}

// Acted reports whether a request changed something in the shop. Of the requests under one key
// at most one does.
func (e Entry) Acted() bool {
	return e.Method != http.MethodGet && e.Status >= 200 && e.Status < 300 && !e.Replayed
}

// samePayload reports whether another request under the same key has the same payload.
func (e Entry) samePayload(other Entry) bool {
	return e.Method == other.Method && e.Path == other.Path && e.Body == other.Body
}

// receive records a request and verifies its signature over the bytes as received.
func (s *Shop) receive(r *http.Request, body []byte) Entry {
	e := Entry{
		At: s.cfg.Now().UTC(), Method: r.Method, Path: r.RequestURI, Key: r.Header.Get(signature.HeaderIdempotencyKey),
		RunID: r.Header.Get(signature.HeaderRunID), StepID: r.Header.Get(signature.HeaderStepID),
		Signature: SignatureValid, Body: string(body),
	}
	parts := signature.Parts{
		Method: e.Method, PathAndQuery: e.Path, Timestamp: r.Header.Get(signature.HeaderTimestamp),
		IdempotencyKey: e.Key, RunID: e.RunID, StepID: e.StepID, BodySHA256: signature.BodyHash(body),
	}
	if err := signature.Verify(s.cfg.Secret, parts, r.Header.Get(signature.HeaderSignature), s.cfg.Now()); err != nil {
		e.Signature = err.Error()
	}
	return e
}
