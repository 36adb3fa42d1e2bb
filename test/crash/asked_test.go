package crash

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/test/harness"
)

// payee is a receiver that signs: the kit for Go, on a line that never brings the answer to a payment.
type payee struct {
	*httptest.Server
	answerKey string
	kit       http.Handler
	delivers  bool // payments; else they are lost on their way

	mu      sync.Mutex
	effects int
	sent    map[string]int // requests by key
}

func newPayee(t *testing.T, delivers bool) *payee {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "keys.db")+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)")
	if err == nil {
		_, err = db.Exec(receiver.Schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := receiver.NewSQLStore(db, receiver.QuestionMarks)
	if _, err := store.Since(context.Background(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	key, err := receiver.ParseAnswerKey(strings.Repeat("5e", 32))
	if err != nil {
		t.Fatal(err)
	}
	p := &payee{answerKey: receiver.AnswerKeyText(key), delivers: delivers, sent: map[string]int{}}
	p.kit = receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{[]byte(harness.Secret)}}, Store: store, AnswerKey: key, Settlement: "/settlement",
	}).Handler(http.HandlerFunc(p.pays))
	p.Server = httptest.NewServer(http.HandlerFunc(p.carry))
	t.Cleanup(p.Close)
	return p
}

func (p *payee) pays(w http.ResponseWriter, r *http.Request) {
	if r.Method == "POST" {
		p.mu.Lock()
		p.effects++
		p.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"paid"}`)
}

func (p *payee) carry(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.sent[r.Header.Get("Idempotency-Key")]++
	p.mu.Unlock()
	if r.URL.Path != "/pay" {
		p.kit.ServeHTTP(w, r)
		return
	}
	if p.delivers {
		p.kit.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler) // the connection closes without an answer
}

// askedDeaths are the cases of TestKilledWhileAReceiverIsAsked, which plays its points itself: the
// receivers of the stages don't say what became of a key.
var askedDeaths = []struct {
	point    string
	delivers bool
	ends     string
	code     string
	effects  int
}{
	{"engine.asking.GET", true, "COMPLETED", "", 1},
	{"engine.asked.GET", true, "COMPLETED", "", 1},
	{"engine.asking.GET", false, "FAILED", "withdrawn", 0},
	{"engine.asked.GET", false, "FAILED", "withdrawn", 0},
	{"engine.asking.POST", false, "FAILED", "withdrawn", 0},
	{"engine.asked.POST", false, "FAILED", "withdrawn", 0},
}

// TestKilledWhileAReceiverIsAsked kills the service before a question about a key leaves, and after its answer, before
// that is committed. Nothing is sent a second time, no number of a question is used twice, and the run ends by the
// receiver's word.
func TestKilledWhileAReceiverIsAsked(t *testing.T) {
	for _, c := range askedDeaths {
		t.Run(c.point+" "+c.ends, func(t *testing.T) {
			p := newPayee(t, c.delivers)
			s := harness.Prepare(t, harness.Set("CONNECTION_ORIGINS", p.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
			s.Keep(harness.Secret)
			s.Use(tagged(t))
			if !s.Begin(harness.Env("COUNTERSIGN_CRASH_AT", c.point+":1")) {
				t.Fatalf("the service ended at its start:\n%s", s.Log())
			}
			s.Admin.Put("/projects/"+project, doc{
				"name": "Payee", "adapter": "HTTP_JSON", "baseUrl": p.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
				"answerKeys": []any{p.answerKey}, "settlement": doc{"path": "/settlement", "mode": "AUTOMATIC"},
				"capabilities": []any{harness.Capability("pay", "POST", "/pay", doc{"approval": "NONE"})},
			}).OK(t)
			s.Admin.Post("/projects/"+project+"/health-check", nil).OK(t).Is(t, "healthy", true)
			s.Admin.Post("/projects/"+project+"/enable", doc{"expectedRevision": 1}).OK(t)
			operator := s.As(s.Admin.Post("/tokens", doc{"name": "operator", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
			id := operator.Post("/projects/"+project+"/runs", doc{"capability": "pay", "mode": "LIVE"}, harness.Header("Idempotency-Key: k")).OK(t).At("id").Text()
			if s.Wait(); !s.Killed() {
				t.Fatalf("the point was never reached; the service ended by itself:\n%s", s.Log())
			}
			if !s.Begin(func(settings map[string]string) { delete(settings, "COUNTERSIGN_CRASH_AT") }) {
				t.Fatalf("the service ended at its start:\n%s", s.Log())
			}
			var run json
			harness.Until(t, "run "+id+" to end", func() bool {
				run = s.Admin.Get("/runs/" + id).OK(t)
				return ended(run.At("status").Text())
			})
			run.Is(t, "status", c.ends).Is(t, "steps.0.error.code", map[bool]any{true: harness.Absent, false: c.code}[c.code == ""])
			if !run.At("steps.0.settledBy.keyId").Exists() {
				t.Errorf("it ended without the receiver's word: %s", run)
			}
			p.check(t, c.effects)
		})
	}
}

// check: so many effects, and each key was sent once, but a withdrawal, which may be repeated.
func (p *payee) check(t *testing.T, effects int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.effects != effects {
		t.Errorf("%d effects; want %d", p.effects, effects)
	}
	for key, n := range p.sent {
		if n > 1 && !strings.HasSuffix(key, "~withdraw") {
			t.Errorf("%s was sent %d times", key, n)
		}
	}
}
