package receiver

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
)

var errTooLarge = errors.New("receiver: an answer has at most 1 MiB")

// recorder is an http.ResponseWriter that holds an answer back until it is remembered.
type recorder struct {
	header    http.Header
	status    int  // 200 until the handler sets one
	statusSet bool // the handler has set the status
	body      bytes.Buffer
	tooLarge  bool
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

func (rec *recorder) Header() http.Header { return rec.header }

// WriteHeader panics on an invalid status, as net/http does: an answer that was remembered
// with it could never be sent.
func (rec *recorder) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("receiver: %d is not a valid HTTP status", status))
	}
	if rec.statusSet || status < 200 { // 1xx is informational: the final status follows
		return
	}
	rec.status, rec.statusSet = status, true
}

func (rec *recorder) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	switch {
	case rec.status == http.StatusNoContent || rec.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case rec.tooLarge || rec.body.Len()+len(p) > MaxBytes:
		rec.tooLarge = true
		return 0, errTooLarge
	}
	return rec.body.Write(p)
}

// contentType is the Content-Type that net/http would send, so that a replay has the same.
func (rec *recorder) contentType() string {
	if _, set := rec.header["Content-Type"]; set || rec.body.Len() == 0 {
		return rec.header.Get("Content-Type")
	}
	return http.DetectContentType(rec.body.Bytes())
}

func (rec *recorder) answer() Answer { return Answer{rec.status, rec.contentType(), rec.body.Bytes()} }

// write sends the answer with all header fields that the handler set. Only the Content-Type
// is remembered for a replay.
func (rec *recorder) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), rec.header)
	w.Header().Del("Content-Length") // net/http sets it
	rec.answer().write(w)
}

func (a Answer) replay(w http.ResponseWriter) {
	w.Header().Set("Idempotency-Replayed", "true")
	a.write(w)
}

func (a Answer) write(w http.ResponseWriter) {
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	a.sign(w)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a caller that has disconnected repeats its call
}
