// Package httpapi serves the use cases over HTTP: one table of routes gives the
// handlers, the access rules and the OpenAPI document, under both prefixes.
// Decoding is exact, and every answer that is no success has the Error body
// (specification 2.1, contract 1 and 2).
package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/cache"
)

// Prefix is the version prefix; AliasPrefix serves the same API for older SDKs
// (specification 9).
const (
	Prefix      = "/v1"
	AliasPrefix = "/api/runtime/v1"
)

// Config is the API's configuration.
type Config struct {
	BaseURL   string   // the public address, without prefix
	Issuers   []string // whose tokens agents may sign in with; none: no token of an issuer is taken
	KeepAlive time.Duration
	Log       *slog.Logger
	NewID     func(prefix string) string
	Now       func() time.Time
}

// API serves the routes.
type API struct {
	cfg      Config
	control  *control.Service
	mux      *http.ServeMux
	document func() ([]byte, error) // built on first use, since it would take a fifth of the startup time
	origins  *http.CrossOriginProtection
	stop     chan struct{} // closed when streams must end

	large     largeAnswers
	bodies    largeBodies
	comebacks sync.Map                                   // *comebacks of each tenant
	snapshots *cache.Cache[*countersign.Plan, []byte]    // in JSON
	steps     *cache.Cache[*countersign.StepRun, []byte] // encoded steps of a run, by its first step
}

// New makes the API.
func New(cfg Config, c *control.Service) (*API, error) {
	a := &API{cfg: cfg, control: c, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), stop: make(chan struct{}), large: newLargeAnswers(), bodies: newLargeBodies()}
	a.snapshots = cache.New[*countersign.Plan, []byte](keptSnapshots)
	a.steps = cache.New[*countersign.StepRun, []byte](keptSteps)
	if err := a.origins.AddTrustedOrigin(cfg.BaseURL); err != nil {
		return nil, fmt.Errorf("the public address %s: %w", cfg.BaseURL, err)
	}
	if a.cfg.KeepAlive == 0 {
		a.cfg.KeepAlive = 15 * time.Second
	}
	routes := a.routes()
	a.document = sync.OnceValues(func() ([]byte, error) { return document(cfg.BaseURL, routes) })
	at := map[string]*resource{}
	for _, r := range routes {
		if at[r.path] == nil {
			at[r.path] = &resource{byMethod: map[string]http.Handler{}}
			a.mux.Handle(Prefix+r.path, at[r.path])
		}
		at[r.path].byMethod[r.method] = a.endpoint(r)
		at[r.path].methods = append(at[r.path].methods, r.method)
	}
	for _, one := range at {
		one.other = a.notAllowed(one.methods)
	}
	a.describeDoors()
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there is nothing at %s; the API is below %s", r.URL.Path, Prefix))
	})
	return a, nil
}

// Document is the OpenAPI document.
func (a *API) Document() ([]byte, error) { return a.document() }

// Stop ends the event streams, so that a graceful shutdown needn't wait for viewers, and
// refuses what changes something from now on: 503, while calls in flight end.
func (a *API) Stop() { close(a.stop) }

func (a *API) stopping() bool {
	select {
	case <-a.stop:
		return true
	default:
		return false
	}
}

// ServeHTTP assigns the request ID, maps the alias prefix to [Prefix], and refuses
// paths that the router would rewrite.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = a.identify(w, r)
	defer drain(r)
	defer a.recovered(w, r)
	r = withoutAlias(r)
	if p := r.URL.Path; path.Clean(p) != p && path.Clean(p)+"/" != p {
		a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there is nothing at this path; write it without //, . and .."))
		return
	}
	if a.stopping() && !safe(r.Method) {
		a.fail(w, r, countersign.Errorf(countersign.CodeUnavailable, "the service is stopping; nothing was changed, try again when it is up"))
		return
	}
	a.mux.ServeHTTP(w, r)
}

// withoutAlias replaces the alias prefix by [Prefix]. It compares the escaped segments,
// so that an escaped slash stays escaped.
func withoutAlias(r *http.Request) *http.Request {
	rest := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	for want := range strings.SplitSeq(strings.TrimPrefix(AliasPrefix, "/"), "/") {
		segment, after, more := strings.Cut(rest, "/")
		if got, err := url.PathUnescape(segment); err != nil || got != want || !more {
			return r
		}
		rest = after
	}
	u := *r.URL
	u.RawPath = Prefix + "/" + rest
	u.Path, _ = url.PathUnescape(u.RawPath) // can't fail: it was parsed before
	next := r.WithContext(r.Context())
	next.URL = &u
	return next
}

// resource is what stands at a path. The router knows paths alone: it takes a method's pattern and a
// path that is one of its cases, such as DELETE /tokens/{id} and /tokens/renew, for a conflict.
type resource struct {
	methods  []string
	byMethod map[string]http.Handler
	other    http.Handler
}

func (s *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h := s.byMethod[method]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	s.other.ServeHTTP(w, r)
}

func (a *API) notAllowed(methods []string) http.Handler {
	allow := strings.Join(withHead(methods), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		a.fail(w, r, countersign.Errorf(countersign.CodeMethodNotAllowed, "%s is not allowed here; use %s", r.Method, allow))
	})
}

func withHead(methods []string) []string {
	var out []string
	for _, m := range methods {
		out = append(out, m)
		if m == http.MethodGet {
			out = append(out, http.MethodHead)
		}
	}
	return out
}
