package telemetry

import (
	"fmt"
	"net/http"
	"time"
)

// Handler measures and traces the requests that next serves. route is the label of requests
// for which Route was not called.
func Handler(next http.Handler, route string, f *Metrics, t *Traces) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := &answer{ResponseWriter: w, route: route, began: time.Now()}
		ctx, span := t.Request(r)
		defer func() {
			o.end()
			span.Answered(o.route, o.status)
			span.End()
			f.request(o.route, o.status, o.took)
		}()
		if span != nil {
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(o, r)
	})
}

// Route sets the route of a request, if the request is measured.
func Route(w http.ResponseWriter, route string) {
	if o, is := w.(*answer); is {
		o.route = route
	}
}

// answer measures a response. Its duration is the time to the first byte: an event stream
// ends when its viewer leaves, which says nothing about the service.
type answer struct {
	http.ResponseWriter
	route  string
	status int
	began  time.Time
	took   time.Duration
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.took = status, time.Since(a.began)
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status, a.took = http.StatusOK, time.Since(a.began)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the underlying writer.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// end completes a request to which the handler wrote nothing: net/http then answers 200, or
// closes the connection after a panic.
func (a *answer) end() {
	if a.status == 0 {
		a.status, a.took = http.StatusOK, time.Since(a.began)
	}
}

// class is the first digit of a status, as 2xx.
func class(status int) string { return fmt.Sprintf("%dxx", status/100) }
