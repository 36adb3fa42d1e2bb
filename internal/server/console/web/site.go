package web

import (
	"context"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// Prefix is the console's base path.
const Prefix = "/console"

// Config is the console's configuration.
type Config struct {
	BaseURL        string   // the public address, without prefix
	HasMail        bool     // sign-in codes are mailed; else logged
	ProviderAlone  bool     // sessions begin there, and in no other way
	Verifier       Verifier // external identity provider; nil: none
	TrustedProxies []netip.Prefix
	MaxActive      int
	ExampleModel   countersign.AgentModel // the template of a new model
	Log            *slog.Logger
	NewID          func(prefix string) string
	Now            func() time.Time
}

// Site serves pages. What they show is that of the routes.
type Site struct {
	Config   Config
	Control  *control.Service
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	Pages    Pages
	Stopping chan struct{} // closed when live pages must end
}

// Route is one page or one action.
type Route struct {
	Method, Path string
	Open         bool                           // needs no session
	Upload       access.Operation               // its form may have a file, from who may do this: nobody else's is read
	Largest      int64                          // how large such a form may be
	Page         func(*Request) (*Page, error)  // a GET: a page
	Act          func(*Request) (string, error) // a POST: the redirect's target, or a *page as error to show instead
	Stream       func(*Request) error           // a GET that writes the response itself
}

// New makes a site of routes. The templates lie in a folder templates.
func New(cfg Config, s *control.Service, templates fs.FS, functions template.FuncMap, routes []Route) (*Site, error) {
	c := &Site{Config: cfg, Control: s, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), Stopping: make(chan struct{})}
	if err := c.origins.AddTrustedOrigin(cfg.BaseURL); err != nil {
		return nil, fmt.Errorf("the public address %s: %w", cfg.BaseURL, err)
	}
	var err error
	if c.Pages, err = ParsePages(templates, functions); err != nil {
		return nil, err
	}
	for _, r := range routes {
		c.mux.HandleFunc(r.Method+" "+Prefix+r.Path, c.serve(r))
	}
	c.mux.Handle("GET "+Prefix+"/assets/", assets())
	c.mux.HandleFunc("GET "+Prefix, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, Prefix+"/", http.StatusSeeOther)
	})
	c.mux.HandleFunc(Prefix+"/", c.serve(Route{Page: nothingHere}))
	return c, nil
}

// Stop ends the live pages, so that a graceful shutdown needn't wait for viewers, and
// refuses forms from now on.
func (s *Site) Stop() { close(s.Stopping) }

func (s *Site) stopping() bool {
	select {
	case <-s.Stopping:
		return true
	default:
		return false
	}
}

// policy lets a page load only the binary's own assets, and run no inline script or
// style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP sets the headers of every response and serves the page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if s.Secure() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if s.stopping() && r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "The service is stopping. Nothing was changed; try again when it is up.", http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Secure reports whether browsers reach the console by HTTPS.
func (s *Site) Secure() bool { return strings.HasPrefix(s.Config.BaseURL, "https://") }

// Verifier is an external identity provider, which returns a verified e-mail address.
// The browser keeps the flow that Begin returns.
type Verifier interface {
	Host() string
	Begin(ctx context.Context) (address, flow string, err error)
	Finish(ctx context.Context, flow, state, code string) (email string, claims map[string][]string, err error)
}
