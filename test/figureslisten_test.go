package test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var figuresAt = regexp.MustCompile(`figures without a token at (http://\S+)/metrics\n`)

// TestTheOperatorsListenerServesTheInstallationsFigures: without a token, none of a tenant's, and
// nothing else.
func TestTheOperatorsListenerServesTheInstallationsFigures(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("METRICS_LISTEN", "127.0.0.1:0"))
	w.run(t, step("n", "note", nil))
	found := figuresAt.FindStringSubmatch(w.Log())
	if found == nil {
		t.Fatalf("no address:\n%s", w.Log())
	}
	ask := func(method, path, accept string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, found[1]+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(body)
	}
	for _, accept := range []string{"", "*/*", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"} {
		res, text := ask("GET", "/metrics", accept)
		if res.StatusCode != 200 || !strings.Contains(text, "\ncountersign_slots 4") || !strings.Contains(text, `countersign_unfinished_runs{state="recovery"} 0`) || !strings.Contains(text, "\nprocess_") {
			t.Errorf("Accept %q: %s\n%.400s", accept, res.Status, text)
		}
		for _, tenants := range []string{"countersign_runs{", "countersign_capability_", "countersign_audit_records", shop} {
			if strings.Contains(text, tenants) {
				t.Errorf("a figure of a tenant: %s", tenants)
			}
		}
	}
	if _, text := ask("GET", "/metrics", "application/json"); !strings.Contains(text, `"countersign_slots":4`) {
		t.Errorf("%.400s", text)
	}
	if res, text := ask("HEAD", "/metrics", ""); res.StatusCode != 200 || text != "" {
		t.Errorf("HEAD: %s, %.100s", res.Status, text)
	}
	for _, path := range []string{"/", "/v1/metrics", "/v1/health", "/console", "/metrics/", "//metrics"} {
		if res, text := ask("GET", path, ""); res.StatusCode != 404 || !strings.Contains(text, "there are figures at /metrics here, and nothing else") {
			t.Errorf("%s: %s, %.200s", path, res.Status, text)
		}
	}
	if res, text := ask("POST", "/metrics", ""); res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD" || !strings.Contains(text, "POST is not allowed here; use GET") {
		t.Errorf("POST: %s, %.200s", res.Status, text)
	}
	w.Stop()
	w.Restart(harness.Set("METRICS_LISTEN", "0.0.0.0:0"))
	if !strings.Contains(w.Log(), "WARNING: SVC_PLATFORM_METRICS_LISTEN is reachable beyond this machine") {
		t.Errorf("no warning:\n%s", w.Log())
	}
	w.Stop()
	w.Restart(harness.Set("METRICS_LISTEN", ""))
}
