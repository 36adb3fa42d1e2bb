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
	Replayed  bool            `json:"replayed"`       // answered with the stored answer; nothing was done
	Mark      *Mark           `json:"mark,omitempty"` // what became of a key
}

// Acted reports whether a request of the service changed something in the shop. Of the requests
// under one key at most one does.
func (e Entry) Acted() bool {
	return e.Mark != nil && !e.Mark.Withdrawn && e.Status >= 200 && e.Status < 300
}

// receive records a request and verifies its signature over the bytes as received.
func (s *Shop) receive(r *http.Request, body []byte) Entry {
	e := Entry{
		At: s.cfg.Now().UTC(), Method: r.Method, Path: r.RequestURI, Key: r.Header.Get(signature.HeaderIdempotencyKey),
		RunID: r.Header.Get(signature.HeaderRunID), StepID: r.Header.Get(signature.HeaderStepID),
		Signature: SignatureValid, Body: string(body),
	}
	if _, err := s.verifier().Verify(r, body); err != nil {
		e.Signature = err.Error()
	}
	return e
}
