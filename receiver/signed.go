package receiver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
)

// signedWriter is the way to the caller of a request that was verified, for a Receiver with an
// answer key: what an Answer writes to it is signed, unless its status says that nothing is
// known of what was done.
type signedWriter struct {
	http.ResponseWriter
	rc   *Receiver
	call Call
	body string // SHA-256 of the request's body
	mute bool   // what is written now is not signed
}

// sign signs the answer to a request that is about to be written to w.
func (a Answer) sign(w http.ResponseWriter) {
	to, signs := w.(*signedWriter)
	if !signs {
		return
	}
	to.Header().Del(signature.HeaderAnswer) // a handler signs nothing
	if to.mute || neverSigned(a.Status) {
		return
	}
	body := a.Body
	if a.Status == http.StatusNoContent || a.Status == http.StatusNotModified {
		body = nil // nor is it sent
	}
	value, err := signature.SignAnswer(to.rc.cfg.AnswerKey, signature.Answer{
		IdempotencyKey: to.call.IdempotencyKey, Timestamp: strconv.FormatInt(to.call.SentAt.Unix(), 10),
		Method: to.call.Method, PathAndQuery: to.call.Target, BodySHA256: to.body,
		Status: a.Status, AnswerSHA256: signature.BodyHash(body),
	}, to.rc.cfg.Verifier.now())
	if err == nil { // a verified request has no line break
		to.Header().Set(signature.HeaderAnswer, value)
	}
}

// neverSigned are the answers that anybody could draw from the receiver beside the true one, by
// a spoiled or a repeated request, and those that say that nothing is known. Two signed answers
// that contradict each other would be worse than none.
func neverSigned(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		return true
	}
	return status >= http.StatusInternalServerError
}

// unsigned is w without a signature.
func unsigned(w http.ResponseWriter) http.ResponseWriter {
	if to, signs := w.(*signedWriter); signs {
		mute := *to
		mute.mute = true
		return &mute
	}
	return w
}

// signing returns the way on which answers to a call are signed, w itself without an answer key.
func (rc *Receiver) signing(w http.ResponseWriter, call Call, body []byte) http.ResponseWriter {
	if rc.cfg.AnswerKey == nil {
		return w
	}
	return &signedWriter{ResponseWriter: w, rc: rc, call: call, body: signature.BodyHash(body)}
}

// read answers a GET or HEAD. With an answer key the answer of a GET is held back until it is
// whole, for its signature stands before it; it isn't remembered.
func (rc *Receiver) read(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if rc.cfg.AnswerKey == nil || r.Method == http.MethodHead {
		if to, signs := w.(*signedWriter); signs {
			w = to.ResponseWriter
		}
		next.ServeHTTP(w, r)
		return
	}
	rec := newRecorder()
	next.ServeHTTP(rec, r)
	if rec.tooLarge {
		problem{http.StatusInternalServerError, "too_large", "an answer of more than 1 MiB can't be signed, so it is not given"}.write(w)
		return
	}
	rec.write(w)
}

// restoredPause is how long a memory that was restored takes no calls: a call that was made
// before, and that it doesn't remember any more, is then too old to be verified, also where the
// clocks differ by as much as they may.
func (rc *Receiver) restoredPause() time.Duration { return 2 * rc.cfg.Verifier.window() }
