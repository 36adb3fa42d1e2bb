package serve_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/adapter/calls"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/httpup"
	"github.com/countersign/countersign/internal/tools/adapter/serve"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

// adapter is one that tests ask. Its secrets are named after what they are for.
type adapter struct {
	t       *testing.T
	dir     string
	secrets map[string]string
	now     time.Time
	text    string
	file    *file.File
	store   *calls.Store
	server  *serve.Server

	patience time.Duration
}

const secret = "adapter-secret-0123456789-0123456789"

// start makes an adapter of a FILE whose listen and store stand there already.
func start(t *testing.T, upstreams string, secrets map[string]string) *adapter {
	t.Helper()
	a := &adapter{t: t, dir: filepath.Join(t.TempDir(), "store"), now: time.Now(), secrets: map[string]string{"SIGN": secret, "OTHER": "another-" + secret}}
	for name, value := range secrets {
		a.secrets[name] = value
	}
	a.text = "listen: 127.0.0.1:0\nstore: " + a.dir + "\nupstreams:\n" + upstreams
	a.open()
	t.Cleanup(a.close)
	return a
}

func (a *adapter) look(name string) (string, error) { return a.secrets[name], nil }

func (a *adapter) open() {
	a.t.Helper()
	f, problems := file.Read([]byte(a.text))
	if problems != nil {
		a.t.Fatal(strings.Join(problems, "\n"))
	}
	var err error
	if a.store, err = calls.Open(a.t.Context(), a.dir, a.now); err != nil {
		a.t.Fatal(err)
	}
	ups := map[string]up.Upstream{}
	for i := range f.Upstreams {
		u := &f.Upstreams[i]
		if ups[u.Name], err = httpup.New(u, a.look, a.store); err != nil {
			a.t.Fatal(err)
		}
	}
	a.file = f
	a.server, err = serve.New(a.t.Context(), serve.Config{File: f, Store: a.store, Upstreams: ups, Secrets: a.look, Now: func() time.Time { return a.now }, Patience: a.patience, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *adapter) close() {
	a.server.Close(a.t.Context())
	if err := a.store.Close(); err != nil {
		a.t.Error(err)
	}
}

// restart is what a new process finds.
func (a *adapter) restart() {
	a.t.Helper()
	a.close()
	a.open()
}

type answer struct {
	status int
	body   string
	header http.Header
}

// send makes a signed request under a key.
func (a *adapter) send(key, method, target, body string) answer {
	a.t.Helper()
	return a.signed("SIGN", key, method, target, body)
}

func (a *adapter) signed(as, key, method, target, body string) answer {
	a.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if err := receivertest.Sign(r, []byte(body), []byte(a.secrets[as]), receiver.Call{RunID: "run-1", StepID: "step", IdempotencyKey: key, SentAt: a.now}); err != nil {
		a.t.Fatal(err)
	}
	return a.do(r)
}

// signedAs signs a request whose target is its RequestURI.
func (a *adapter) signedAs(r *http.Request) answer {
	a.t.Helper()
	if err := receivertest.Sign(r, nil, []byte(secret), receiver.Call{RunID: "run-1", StepID: "step", IdempotencyKey: "x", SentAt: a.now}); err != nil {
		a.t.Fatal(err)
	}
	return a.do(r)
}

// callOf identifies a call as the adapter keeps it.
func callOf(method, target, body string) string {
	return countersign.SHA256Hex([]byte(method + "\n" + target + "\n" + countersign.SHA256Hex([]byte(body))))
}

func (a *adapter) do(r *http.Request) answer {
	w := httptest.NewRecorder()
	a.server.ServeHTTP(w, r)
	return answer{w.Code, w.Body.String(), w.Header()}
}

func (a answer) is(t *testing.T, status int, body string) {
	t.Helper()
	if a.status != status || !strings.Contains(a.body, body) {
		t.Errorf("answered %d %s\nnot %d with %s", a.status, a.body, status, body)
	}
}

// api is an upstream that keeps what it was asked.
type api struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method, target and body
	heads []http.Header
	reply func(w http.ResponseWriter, r *http.Request)
}

func newAPI(t *testing.T, reply func(w http.ResponseWriter, r *http.Request)) *api {
	t.Helper()
	a := &api{reply: reply}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.asked = append(a.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		a.heads = append(a.heads, r.Header)
		a.mu.Unlock()
		a.reply(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// sent is what it was asked, and headers with which headers.
func (a *api) sent() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *api) headers() []http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.heads)
}

func says(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the test sees what came
	}
}

// http is an upstream called shop at this address, with more lines.
func shop(base string, more ...string) string {
	text := "- name: shop\n  secretEnv: SIGN\n  http:\n    baseUrl: " + base + "\n    operations:\n    - {method: POST, path: /orders}\n    - {method: GET, path: '/orders/{id}'}\n    - {method: PUT, path: '/files/{name}', pathText: true}\n"
	for _, line := range more {
		text += "    " + line + "\n"
	}
	return text
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
