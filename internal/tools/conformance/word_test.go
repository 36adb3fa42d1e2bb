package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

// signingBooks is a receiver by the kit, which signs, before which something may stand.
func signingBooks(t *testing.T, wrap func(http.Handler) http.Handler) (p countersign.Project) {
	t.Helper()
	key, err := receiver.ParseAnswerKey("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
	if err != nil {
		t.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(201)
		_, _ = io.WriteString(w, `{"n": 1.50}`)
	})
	kit := receiver.New(receiver.Config{Verifier: receiver.Verifier{Secrets: [][]byte{[]byte(secret)}}, Store: &receiver.MemoryStore{}, AnswerKey: key, Settlement: "/keys"}).Handler(handler)
	s := httptest.NewServer(wrap(kit))
	t.Cleanup(s.Close)
	p = project(s.URL)
	p.AnswerKeys, p.Settlement = []string{receiver.AnswerKeyText(key)}, &countersign.Settlement{Path: "/keys"}
	return p
}

// TestWhatAReceiverSignsAndSaysIsTried: the kit holds, and what stands before it breaks what it
// breaks.
func TestWhatAReceiverSignsAndSaysIsTried(t *testing.T) {
	t.Parallel()
	answers := func(path, text string) func(http.Handler) http.Handler {
		return func(kit http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, path) {
					kit.ServeHTTP(w, r)
					return
				}
				got := httptest.NewRecorder()
				kit.ServeHTTP(got, r)
				if text == "unsigned" {
					got.Header().Del(signature.HeaderAnswer)
				}
				for name, values := range got.Header() {
					w.Header()[name] = values
				}
				w.WriteHeader(got.Code)
				_, _ = w.Write(got.Body.Bytes())
			})
		}
	}
	same := func(kit http.Handler) http.Handler { return kit }
	for name, c := range map[string]struct {
		wrap   func(http.Handler) http.Handler
		broken []string
		seen   string
	}{
		"the kit":             {same, nil, ""},
		"answers unsigned":    {answers("/entries", "unsigned"), []string{countersign.RuleSignsAnswers, countersign.RuleWithdraws}, "the answer has no X-Runtime-Answer"},
		"statements unsigned": {answers("/keys/", "unsigned"), []string{countersign.RuleTellsFate, countersign.RuleWithdraws}, "the answer has no X-Runtime-Answer"},
		"withdrawal unsigned": {answers("/withdraw", "unsigned"), []string{countersign.RuleWithdraws}, "the answer has no X-Runtime-Answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check, err := New(Config{
				Project: signingBooks(t, c.wrap), Capability: "book", Secrets: []string{secret}, Inputs: []map[string]countersign.Value{input("resourceId", `"a-1"`)}, RunID: "check-1", UserAgent: "test", Now: time.Now,
			})
			if err != nil {
				t.Fatal(err)
			}
			report, err := check.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range []string{countersign.RuleSignsAnswers, countersign.RuleTellsFate, countersign.RuleWithdraws} {
				want := countersign.VerdictHolds
				for _, broken := range c.broken {
					if rule == broken {
						want = countersign.VerdictBroken
					}
				}
				if r := report.of(rule); r.Verdict != want || want == countersign.VerdictBroken && !strings.Contains(r.Seen, c.seen) && !strings.Contains(r.Seen, "410") {
					t.Errorf("%s: %s, want %s: %s", rule, r.Verdict, want, r.Seen)
				}
			}
		})
	}
}
