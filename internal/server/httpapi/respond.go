package httpapi

import (
	"errors"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/telemetry"
)

// retryAfter is the Retry-After of a 503, in seconds, except where a start got no slot.
const retryAfter = 1

// errorBody is specification 2.1.
type errorBody struct {
	Error     countersign.Code `json:"error" doc:"stable code"`
	Message   string           `json:"message" doc:"what is wrong, where, and what would be right"`
	RequestID string           `json:"requestId"`
}

// fail writes an error. An error without a code is internal: it is logged with the
// request ID and not shown.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *countersign.Error
	if !errors.As(err, &e) || e.Code.Status() == 0 {
		if r.Context().Err() == nil {
			a.cfg.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		e = countersign.Errorf(countersign.CodeInternal, "something broke on our side; the log has it under this request id")
	}
	if proposed := (*control.ProposedError)(nil); errors.As(err, &proposed) {
		w.Header().Set("Location", prefixOf(r.URL.Path)+"/changes/"+proposed.ChangeID)
	}
	status := e.Code.Status()
	switch status {
	case http.StatusUnauthorized:
		if w.Header().Get("WWW-Authenticate") == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		a.control.CountStranger()
	case http.StatusServiceUnavailable:
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
	}
	a.write(w, r, status, errorBody{e.Code, e.Message, requestID(r)})
}

func (a *API) write(w http.ResponseWriter, r *http.Request, status int, body any) {
	pieces, err := a.encode(body)
	if err != nil {
		a.cfg.Log.ErrorContext(r.Context(), "answer not encoded", "error", err)
		status, pieces = 500, written{[]byte(`{"error":"internal","message":"the answer could not be written","requestId":"` + requestID(r) + `"}`)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(pieces.size()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = pieces.writeTo(w) // fails where the client has disconnected
	}
}

var incomingID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// identify uses the client's X-Request-Id if it is well-formed, else a new one.
func (a *API) identify(w http.ResponseWriter, r *http.Request) *http.Request {
	id := r.Header.Get("X-Request-Id")
	if !incomingID.MatchString(id) {
		id = a.cfg.NewID("req")
	}
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	return r.WithContext(telemetry.WithRequestID(r.Context(), id))
}

func requestID(r *http.Request) string { return telemetry.RequestID(r.Context()) }

// recovered turns a panic into a 500; open transactions were rolled back.
func (a *API) recovered(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, compared as it documents
		panic(cause)
	}
	a.cfg.Log.ErrorContext(r.Context(), "panic", "cause", cause, "stack", string(debug.Stack()))
	a.fail(w, r, errors.New("panic"))
}
