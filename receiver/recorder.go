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

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader panics on an invalid status, as net/http does: an answer that was remembered
// with it could never be sent.
func (r *recorder) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("receiver: %d is not a valid HTTP status", status))
	}
	if r.statusSet || status < 200 { // 1xx is informational: the final status follows
		return
	}
	r.status, r.statusSet = status, true
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	switch {
	case r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case r.tooLarge || r.body.Len()+len(p) > MaxBytes:
		r.tooLarge = true
		return 0, errTooLarge
	}
	return r.body.Write(p)
}

// contentType is the Content-Type that net/http would send, so that a replay has the same.
func (r *recorder) contentType() string {
	if _, set := r.header["Content-Type"]; set || r.body.Len() == 0 {
		return r.header.Get("Content-Type")
	}
	return http.DetectContentType(r.body.Bytes())
}

func (r *recorder) answer() Answer { return Answer{r.status, r.contentType(), r.body.Bytes()} }

// write sends the answer with all header fields that the handler set. Only the Content-Type
// is remembered for a replay.
func (r *recorder) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header)
	w.Header().Del("Content-Length") // net/http sets it
	r.answer().write(w)
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
