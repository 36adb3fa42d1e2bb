package conformance

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

const secret = "sandbox-secret"

// books is a small receiver that books entries, with faults that tests turn on.
type books struct {
	unchecked bool // signatures are not verified
	forgetful bool // keys are ignored
	oncePer   bool // each account can be booked once
	spent     int  // the status of a second booking there; 0: 422
	restless  bool // the probe's answer changes by itself
	blurred   bool // all answers are equal

	mu      sync.Mutex
	entries []string // what was booked
	first   map[string]kept
	seen    []*http.Request
	bodies  []string
}

type kept struct {
	payload, answer string
	status          int
}

func (b *books) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen, b.bodies = append(b.seen, r), append(b.bodies, string(body))
	status, answer := b.answer(r, string(body))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

func (b *books) answer(r *http.Request, body string) (int, string) {
	key := r.Header.Get(signature.HeaderIdempotencyKey)
	payload := r.Method + r.RequestURI + body
	first, known := b.first[key]
	switch {
	case !b.unchecked && !authentic(r, body):
		return 401, `{"error":"signature"}`
	case r.Method == "GET":
		return 200, b.list()
	case known && !b.forgetful && first.payload != payload:
		return 409, `{"error":"another payload"}`
	case known && !b.forgetful:
		return first.status, first.answer
	}
	status, answer := b.book(r.URL.Path)
	b.first[key] = kept{payload, answer, status}
	return status, answer
}

func (b *books) book(account string) (int, string) {
	for _, e := range b.entries {
		if b.oncePer && e == account {
			return cmp.Or(b.spent, 422), `{"error":"booked already"}`
		}
	}
	b.entries = append(b.entries, account)
	if b.blurred {
		return 201, `{"ok": true}`
	}
	return 201, fmt.Sprintf(`{"n": %d, "ok": true}`, len(b.entries))
}

func (b *books) list() string {
	if b.restless {
		return fmt.Sprintf(`{"asked":%d}`, len(b.seen))
	}
	return fmt.Sprintf(`{"entries":%d}`, len(b.entries))
}

// authentic verifies the credential that the call carries, of any of the three kinds.
func authentic(r *http.Request, body string) bool {
	h := r.Header
	switch {
	case h.Get("Authorization") != "":
		return h.Get("Authorization") == "Bearer "+secret
	case h.Get("X-Books-Key") != "":
		return h.Get("X-Books-Key") == secret
	}
	p := signature.Parts{
		Method: r.Method, PathAndQuery: r.RequestURI, Timestamp: h.Get(signature.HeaderTimestamp), IdempotencyKey: h.Get(signature.HeaderIdempotencyKey),
		RunID: h.Get(signature.HeaderRunID), StepID: h.Get(signature.HeaderStepID), BodySHA256: signature.BodyHash([]byte(body)),
	}
	return signature.Verify([]byte(secret), p, h.Get(signature.HeaderSignature), time.Now()) == nil
}

func hmac() *countersign.Auths {
	return countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "BOOKS_SECRET"})
}

// project is the project of a receiver at an origin.
func project(origin string) countersign.Project {
	return countersign.Project{
		Name: "Books", Adapter: countersign.AdapterHTTPJSON, BaseURL: origin, Auth: hmac(),
		Capabilities: []countersign.Capability{
			{Name: "book", Method: "POST", Path: "/accounts/{resourceId}/entries", TimeoutMs: 5000, Idempotent: true, Probe: "entries",
				Request: &countersign.RequestMapping{Query: []string{"note"}}},
			{Name: "entries", Method: "GET", Path: "/accounts/{resourceId}/entries", Request: &countersign.RequestMapping{Query: []string{}}},
			{Name: "blind", Method: "POST", Path: "/blind", TimeoutMs: 200},
			{Name: "close", Method: "DELETE", Path: "/accounts/{resourceId}"},
		},
	}
}

func input(pairs ...string) map[string]countersign.Value {
	out := map[string]countersign.Value{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = countersign.RawValue(pairs[i+1])
	}
	return out
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	b, ok := h.(*books)
	if ok && b.first == nil {
		b.first = map[string]kept{}
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// against is the Config of a check of `book` at an origin.
func against(origin string) Config {
	return Config{
		Project: project(origin), Capability: "book", Secrets: []string{secret}, RunID: "check-test", UserAgent: "countersign/test", Now: time.Now,
		Inputs: []map[string]countersign.Value{input("resourceId", `"a-1"`, "note", `"a b"`, "amount", "12.50")},
	}
}

func played(t *testing.T, cfg Config) *Report {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range r.Rules {
		if rule.Sentence == "" || rule.Seen == "" || len(rule.Seen) > 500 || strings.Contains(rule.Seen, secret) {
			t.Errorf("%+v", rule)
		}
	}
	return r
}

// table prints a report's verdicts, one line for each rule.
func table(r *Report) string {
	var b strings.Builder
	for _, rule := range r.Rules {
		fmt.Fprintf(&b, "%s %s\n", rule.Name, rule.Verdict)
	}
	return b.String()
}
