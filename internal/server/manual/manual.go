package manual

import (
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
)

// Prefix is where the manual lives; Programs is its index for programs.
const (
	Prefix   = "/docs"
	Programs = "/llms.txt"
)

// Config is the manual's configuration.
type Config struct {
	BaseURL  string                       // the public address, for the index for programs
	Files    fs.FS                        // the pages
	Index    string                       // the page that leads to all others
	Document func() ([]byte, error)       // the OpenAPI document that the service serves
	Asset    func(name string) string     // address of a file of the console: its style sheet and mark
	Theme    func(r *http.Request) string // light or dark where the visitor chose, "" as the system
	Log      *slog.Logger
}

// Manual serves the pages.
type Manual struct {
	cfg   Config
	build func() (*built, error)
}

// New makes the manual. Pages are rendered at the first request.
func New(cfg Config) *Manual {
	m := &Manual{cfg: cfg}
	m.build = sync.OnceValues(func() (*built, error) { return build(cfg) })
	return m
}

// policy lets a page load the binary's style sheets and images, ask for a search, and run
// no scripts. The page of the search may run ours.
const (
	policy       = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	searchPolicy = policy + "; script-src 'self'"
)

// Serves reports whether a path belongs to the manual.
func Serves(path string) bool {
	return path == Prefix || path == Programs || strings.HasPrefix(path, Prefix+"/")
}

// ServeHTTP serves a page, a file, or the not-found page.
func (m *Manual) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	if strings.HasPrefix(m.cfg.BaseURL, "https://") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are allowed here", http.StatusMethodNotAllowed)
		return
	}
	s, err := m.build()
	if err != nil {
		m.cfg.Log.Error("manual not rendered", "error", err)
		http.Error(w, "the manual can't be shown; the reason is in the log", http.StatusInternalServerError)
		return
	}
	if to := s.moved(r.URL.Path); to != "" {
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	if r.URL.Path == searchAt {
		h.Set("Content-Security-Policy", searchPolicy)
		if r.URL.Query().Has("q") {
			m.search(w, r, s)
			return
		}
	}
	m.answer(w, r, s.site)
}

// moved is the redirect for other spellings of a page's address, "" for none.
func (s site) moved(path string) string {
	switch trimmed := strings.TrimSuffix(path, "/"); {
	case path == Prefix || path == Prefix+"/README":
		return Prefix + "/"
	case trimmed != path && trimmed != Prefix && s[trimmed] != nil:
		return trimmed
	}
	return ""
}
