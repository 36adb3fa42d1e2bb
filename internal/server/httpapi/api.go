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

// Config is what the API is told by the settings.
type Config struct {
	BaseURL   string // the public address, without prefix
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
	document func() ([]byte, error) // written once, when somebody asks: it takes a fifth of a start
	origins  *http.CrossOriginProtection
	stop     chan struct{} // closed when streams must end

	snapshots *cache.Cache[*countersign.Plan, []byte]    // in JSON
	steps     *cache.Cache[*countersign.StepRun, []byte] // of a run, by its first
}

// New makes the API.
func New(cfg Config, c *control.Service) (*API, error) {
	a := &API{cfg: cfg, control: c, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), stop: make(chan struct{})}
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
	methods := map[string][]string{}
	for _, r := range routes {
		a.mux.Handle(r.method+" "+Prefix+r.path, a.endpoint(r))
		methods[r.path] = append(methods[r.path], r.method)
	}
	for p, allowed := range methods {
		a.mux.Handle(Prefix+p, a.notAllowed(allowed))
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there is nothing at %s; the API is below %s", r.URL.Path, Prefix))
	})
	return a, nil
}

// Document is the OpenAPI document as it is served.
func (a *API) Document() ([]byte, error) { return a.document() }

// Stop ends the event streams, so that a graceful stop needn't wait for viewers.
func (a *API) Stop() { close(a.stop) }

// ServeHTTP gives each request its id, serves the alias as the prefix itself, and
// refuses paths that a router would rewrite.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = a.identify(w, r)
	defer drain(r)
	defer a.recovered(w, r)
	r = withoutAlias(r)
	if p := r.URL.Path; path.Clean(p) != p && path.Clean(p)+"/" != p {
		a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there is nothing at this path; write it without //, . and .."))
		return
	}
	a.mux.ServeHTTP(w, r)
}

// withoutAlias gives a request below the alias the prefix instead. It goes by the
// segments as they were sent, so that an escaped slash stays one.
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
	u.Path, _ = url.PathUnescape(u.RawPath) // it is part of what was parsed before
	next := r.WithContext(r.Context())
	next.URL = &u
	return next
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
