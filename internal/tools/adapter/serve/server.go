// Package serve is the adapter as the runtime reaches it: it verifies calls, lets each be made at
// most once, and answers for its upstreams (contract 12.4). It knows nothing of the service but
// its signature.
package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/receiver"

	"github.com/countersign/countersign/internal/tools/adapter/calls"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// Config is what a Server is made of.
type Config struct {
	File      *file.File
	Store     *calls.Store
	Upstreams map[string]up.Upstream // by name, those of the file
	Secrets   up.Secrets
	Now       func() time.Time
	Log       *slog.Logger
	Patience  time.Duration // how long a caller waits for a call; 0: upstream.Wait
}

// Server is the adapter.
type Server struct {
	cfg     Config
	named   map[string]*file.Upstream
	ctx     context.Context // ends what goes on without a caller
	stop    context.CancelFunc
	mu      sync.Mutex
	running map[string]*running // by key
	going   sync.WaitGroup      // calls and jobs
	unkept  atomic.Int64        // answers that the memory doesn't take: no other call is begun before it does
}

// New makes a Server, and follows the jobs that the last one has left.
func New(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, named: map[string]*file.Upstream{}, running: map[string]*running{}}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	for i := range cfg.File.Upstreams {
		s.named[cfg.File.Upstreams[i].Name] = &cfg.File.Upstreams[i]
	}
	jobs, err := cfg.Store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range jobs {
		if s.cfg.Upstreams[e.Upstream] != nil {
			s.resume(e)
		}
	}
	return s, s.forget(ctx)
}

// keepAnswers is how long an answer is kept where FILE doesn't say.
const keepAnswers = 90 * 24 * time.Hour

// forget drops the answers that are older than FILE says, now and then.
func (s *Server) forget(ctx context.Context) error {
	return s.cfg.Store.Forget(ctx, s.cfg.Now().Add(-s.cfg.File.KeepAnswers.Or(keepAnswers)))
}

// Tidy drops old answers every hour until ctx ends.
func (s *Server) Tidy(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
			if err := s.forget(ctx); err != nil {
				s.cfg.Log.Error("old answers could not be dropped", "error", err)
			}
		}
	}
}

// Close ends the jobs' following, which goes on at the next start, and waits for calls that are
// under way until ctx ends.
func (s *Server) Close(ctx context.Context) {
	s.stop()
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.going.Wait()
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// ServeHTTP answers a request by its path as it was sent.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, countersign.MaxBodyBytes))
	if err != nil {
		write(w, unreadable(err).Answer())
		return
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	a := &asked{Server: s, w: w, r: r, body: body, path: path, query: query}
	kind, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case path == "/health" && r.Method == http.MethodGet:
		_, _ = a.verified(a.everybody()...) // to sign the answer, if by anybody
		a.answer(&up.Answer{Status: http.StatusOK, ContentType: "application/json", Body: []byte(`{"status":"ok"}`)})
	case path == "/openapi.json" && r.Method == http.MethodGet:
		a.document()
	case kind == "mcp" || kind == "http":
		a.call(kind, rest)
	case kind == "calls" && rest != "":
		a.statement(rest)
	default:
		write(w, up.NotFound(r.Method+" "+path).Answer())
	}
}

func unreadable(err error) *up.Problem {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &up.Problem{Status: http.StatusRequestEntityTooLarge, Code: "payload_too_large", Message: "a body has at most 1 MiB"}
	}
	return up.Invalid("the body could not be read to its end")
}

// asked is one request.
type asked struct {
	*Server
	w     http.ResponseWriter
	r     *http.Request
	body  []byte
	path  string
	query string
	by    receiver.Call // once it is verified
	as    *file.Upstream
}

func (a *asked) everybody() (all []string) {
	for _, u := range a.cfg.File.Upstreams {
		all = append(all, u.Name)
	}
	return all
}

// verified checks the signature with the secrets of these upstreams, and returns those by whose
// secret it holds.
func (a *asked) verified(names ...string) (by []string, err error) {
	for _, name := range names {
		secret, failed := a.cfg.Secrets.Of(a.named[name].SecretEnv)
		if failed != nil {
			err = &receiver.RefusedError{Reason: receiver.NoSecret}
			continue
		}
		c, refused := receiver.Verifier{Secrets: [][]byte{[]byte(secret)}, Now: a.cfg.Now}.Verify(a.r, a.body)
		if refused != nil {
			err = refused
			continue
		}
		if by = append(by, name); len(by) == 1 {
			a.by, a.as = c, a.named[name]
		}
	}
	if len(by) > 0 {
		err = nil
	}
	return by, err
}

func (a *asked) unauthenticated(err error) {
	refused := &receiver.RefusedError{Reason: receiver.Signature}
	_ = errors.As(err, &refused) // else it is that
	a.problem(&up.Problem{Status: http.StatusUnauthorized, Code: string(refused.Reason), Message: refused.Error()})
}

func (a *asked) problem(p *up.Problem) { a.answer(p.Answer()) }

// answer writes an answer, signed where the upstream has a key for that.
func (a *asked) answer(out *up.Answer) {
	if a.as != nil && a.as.AnswerKeyEnv != "" && signs(out) {
		if err := a.sign(out); err != nil {
			a.cfg.Log.Error("an answer could not be signed", "upstream", a.as.Name, "error", err)
		}
	}
	write(a.w, out)
}

func write(w http.ResponseWriter, a *up.Answer) {
	w.Header().Set("Cache-Control", "no-store")
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if a.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a caller that has gone asks again
}
