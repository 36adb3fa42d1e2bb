package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
)

// answer buffers the library's response until it is complete. So no stream stays open,
// and a plain-text refusal gets the Error body.
type answer struct {
	in     []byte
	header http.Header
	status int
	bytes.Buffer
}

func newAnswer(in []byte) *answer {
	return &answer{in: in, header: http.Header{}, status: http.StatusOK}
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

type serverKey struct{}

func serverOf(r *http.Request) *sdk.Server {
	s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
	return s
}

// request is r with the body that was already read, and the server that handles it.
func (a *answer) request(r *http.Request, s *sdk.Server) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), serverKey{}, s))
	if r.Header.Get(sessionHeader) != "" { // it is no session
		r.Header = r.Header.Clone()
		r.Header.Del(sessionHeader)
	}
	r.Body = io.NopCloser(bytes.NewReader(a.in))
	r.ContentLength = int64(len(a.in))
	return r
}

// send writes the response, or returns the refusal that it contains.
func (a *answer) send(w http.ResponseWriter, m message, v *toolRequest) error {
	if a.failed() {
		return countersign.Errorf(countersign.CodeInvalidRequest, "%s", inPlainText(strings.TrimSpace(a.String())))
	}
	text := amended(reworded(a.Bytes(), m, v.own), m, v.instead)
	if kind := a.header.Get("Content-Type"); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if v.shown != nil && m.revision < revision2026 {
		events, err := eventsOf(*v.shown, text)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text = events
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(text) // the client may have disconnected
	return nil
}
