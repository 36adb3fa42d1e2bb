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
func (o *answer) WriteHeader(status int) {
	if o.status == 0 {
		o.status, o.took = status, time.Since(o.began)
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *answer) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.status, o.took = http.StatusOK, time.Since(o.began)
	}
	return o.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the underlying writer.
func (o *answer) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// end completes a request to which the handler wrote nothing: net/http then answers 200, or
// closes the connection after a panic.
func (o *answer) end() {
	if o.status == 0 {
		o.status, o.took = http.StatusOK, time.Since(o.began)
	}
}

// class is the first digit of a status, as 2xx.
func class(status int) string { return fmt.Sprintf("%dxx", status/100) }
