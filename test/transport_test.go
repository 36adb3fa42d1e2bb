package test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

func TestBothPrefixesAnswerAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("note", "note", nil)))
	for _, path := range []string{
		"/health", "/models", "/models/refund", "/models/none", "/projects/" + shop, "/plans/" + plan, "/plans/" + plan + "/drift",
		"/runs?limit=0", "/approvals?status=PENDING", "/tenants", "/audit/verify", "/integrations/contract", "/nothing", "/models/a%2Fb",
	} {
		here, there, again := w.tenantAdmin.Get(path), w.tenantAdmin.Aliased().Get(path), w.tenantAdmin.Get(path)
		diff := cmp.Diff(here.Without("requestId"), there.Without("requestId"))
		if diff != "" && cmp.Equal(again.Without("requestId"), there.Without("requestId")) { // a tenant beside this one made the realm's receipt key
			diff = ""
		}
		if diff != "" || here.Status != there.Status {
			t.Errorf("GET %s: %d and %d\n%s", path, here.Status, there.Status, diff)
		}
	}
	made := w.operator.Aliased().Post("/plans", planOf(step("note", "note", nil))).OK(t).At("id").Text()
	w.operator.Get("/plans/" + made).OK(t)
	w.operator.Aliased().Put("/plans/"+made, doc{}).Refused(t, "method_not_allowed")
	w.As("").Aliased().Get("/models").Refused(t, "unauthenticated")
}

func TestHealthAndTheDocumentNeedNoToken(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	s.As("").Get("/health").OK(t).Is(t, "status", "ok")
	s.As("").Get("/openapi.json").OK(t).Is(t, "info.version", "0.1.0").Is(t, "openapi", "3.1.0").
		Is(t, "servers.0.url", s.URL+"/v1").Is(t, "servers.1.url", s.URL+"/api/runtime/v1")
	s.As("no token at all").Get("/health").OK(t)
}

func TestHEADAnswersLikeGETWithHeadersOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := w.ready(t, planOf(step("note", "note", nil)))
	for _, path := range []string{"/health", "/models", "/models/refund", "/models/none", "/projects/" + shop, "/plans/" + plan, "/runs", "/tokens", "/audit", "/metrics"} {
		get, head := w.Admin.Get(path), w.Admin.Do("HEAD", path, nil)
		if get.Status != head.Status || get.Header.Get("Content-Type") != head.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %s; GET: %d %s", path, head.Status, head.Header.Get("Content-Type"), get.Status, get.Header.Get("Content-Type"))
		}
	}
}

func TestAKnownPathWithAnotherMethodIs405WithAllow(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	methods := map[string][]string{}
	for _, o := range s.Document().Operations {
		methods[o.Path] = append(methods[o.Path], o.Method)
	}
	for template, allowed := range methods {
		if slices.Contains(allowed, "GET") {
			allowed = append(allowed, "HEAD")
		}
		slices.Sort(allowed)
		path := harness.Operation{Path: template}.About("default-x")
		for _, method := range []string{"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"} {
			if slices.Contains(allowed, method) {
				continue
			}
			a := s.Admin.Do(method, path, nil)
			a.Refused(t, "method_not_allowed", method)
			got := strings.Split(a.Header.Get("Allow"), ", ")
			slices.Sort(got)
			if diff := cmp.Diff(allowed, got); diff != "" {
				t.Errorf("%s %s: Allow (-want +got):\n%s", method, path, diff)
			}
		}
	}
}

func TestOddPathsAreRefusedAndNeverRedirected(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	for path, code := range map[string]string{
		"/models/a%2Fb": "invalid_request", "/models/%00": "invalid_request", "/models/a%00": "invalid_request", "/models/%ff": "invalid_request",
		"/models/.hidden": "invalid_request", "/models/-a": "invalid_request", "/models/a%20b": "invalid_request", "/models/a%0Ab": "invalid_request",
		"/models/" + strings.Repeat("a", 129): "invalid_request", "/models/a@b": "invalid_request", "/models/%C3%A4": "invalid_request",
		"/models/" + strings.Repeat("a", 128): "not_found", "/models/a.b_c-D9": "not_found", "/models/%61": "not_found",
		"/models/..": "not_found", "/models/.": "not_found", "/models/%2e%2e": "not_found", "/models/..%2Fmodels": "not_found",
		"/models//a": "not_found", "//models": "not_found", "/models/": "not_found", "/": "not_found", "": "not_found",
		"/Models": "not_found", "/models/a/b": "not_found", "/runs/a/events/": "not_found", "/../v1/models": "not_found",
	} {
		s.Admin.Get(path).Refused(t, code)
	}
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		if a := s.Admin.Do(method, "/models/../models/x", doc{}); a.Status != http.StatusNotFound {
			t.Error(a)
		}
	}
}

func TestAnythingOutsideThePrefixesIsNotFound(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	for _, path := range []string{"/", "/v2/models", "/models", "/api/runtime/v1", "/api/runtime/v1x/models", "/v1models"} {
		answer := s.Wire(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 404 ") || !strings.Contains(answer, `"error":"not_found"`) {
			t.Errorf("GET %s: %s", path, answer)
		}
	}
}

func TestARequestIDIsKeptIfItFitsElseMade(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	for _, id := range []string{"abcdefgh", "A-b_9-xyz", strings.Repeat("x", 64)} {
		a := s.As("").Get("/models", harness.Header("X-Request-Id: "+id))
		if a.Header.Get("X-Request-Id") != id {
			t.Errorf("%q was not kept: %s", id, a)
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{"", "short", strings.Repeat("x", 65), "has space", "a.dotted.id", "umlaut-\xc3\xa4-id"} {
		a := s.As("").Get("/models", harness.Header("X-Request-Id: "+id))
		made := a.Header.Get("X-Request-Id")
		if made == id || seen[made] {
			t.Errorf("for %q the id %q was made", id, made)
		}
		seen[made] = true
	}
}

func TestMetricsComeAsJSONAndAsExpositionOfTheSameFigures(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.reaches(t, w.run(t, step("note", "note", nil)), "COMPLETED")
	w.Admin.Get("/metrics").OK(t).Is(t, "countersign_runs.COMPLETED", 1).Is(t, "countersign_models", 1).Is(t, "countersign_tenants", 1)
	for _, accept := range []string{"text/plain", "application/openmetrics-text; version=1.0.0, */*;q=0.1", "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"} {
		a := w.Admin.Get("/metrics", harness.Header("Accept: "+accept))
		if a.Status != 200 || !strings.Contains(a.Raw, `countersign_runs{status="COMPLETED"} 1`) {
			t.Errorf("Accept %s: %s", accept, a)
		}
	}
	for _, accept := range []string{"*/*", "application/json", "application/json, text/plain, */*"} {
		w.Admin.Get("/metrics", harness.Header("Accept: "+accept)).OK(t).Is(t, "countersign_models", 1)
	}
}

func TestMetricsOfTheInstallationAreTheRealmAdministrators(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	own := w.tenantAdmin.Get("/metrics").OK(t)
	for _, figure := range []string{"countersign_tenants", "countersign_slots", "countersign_goroutines", "countersign_heap_bytes", "countersign_unfinished_runs"} {
		own.Is(t, figure, harness.Absent)
		if !w.Admin.Get("/metrics").OK(t).At(figure).Exists() {
			t.Errorf("the realm administrator sees no %s", figure)
		}
	}
}

func TestTheIntegrationContractHoldsATestVectorThatVerifies(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	c := s.Admin.Get("/integrations/contract").OK(t)
	c.Is(t, "limits.budgets", 20).Is(t, "limits.budgetSecondsMin", 1).Is(t, "limits.budgetSecondsMax", 720*3600).Is(t, "apiVersion", "0.3.0").Is(t, "prefixes", []string{"/v1", "/api/runtime/v1"}).Is(t, "limits.bodyBytes", 1<<20).Is(t, "limits.agentInstances", 1000).Is(t, "limits.pendingApprovals", 10_000).Is(t, "limits.webhooks", 100).Is(t, "limits.modelBytes", 1<<30).Is(t, "limits.runProbes", 1000).Is(t, "limits.openRequestBytes", 8<<10)
	c.Is(t, "sdkOperations", []string{
		"syncAgents", "heartbeat", "agents", "teams", "saveTeam", "startAgentRun", "startTeamRun",
		"integrationContract", "projects", "createPlan", "startRun", "run",
	})
	for code, status := range harness.Codes {
		c.Is(t, "errorCodes."+code, status)
	}
	v := c.At("signing.vector")
	part := func(name string) string { return v.At("parts." + name).Text() }
	q := harness.Request{Raw: []byte(part("method") + " " + part("pathAndQuery") + " HTTP/1.1\r\nX-Runtime-Timestamp: " + part("timestamp") +
		"\r\nIdempotency-Key: " + part("idempotencyKey") + "\r\nX-Runtime-Run-Id: " + part("runId") + "\r\nX-Runtime-Step-Id: " + part("stepId") +
		"\r\nX-Runtime-Signature: " + v.At("signature").Text() + "\r\n\r\n" + v.At("body").Text())}
	if got, want := harness.Sign(q, v.At("secret").Text()), v.At("signature").Text(); got != want {
		t.Errorf("the vector's signature is %s; recomputed: %s", want, got)
	}
}

// TestAnEscapedSlashSeparatesNothing: a path means the same under both prefixes.
func TestAnEscapedSlashSeparatesNothing(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	s.Admin.Put("/models/a", doc{"document": harness.Model("a")})
	for _, path := range []string{"/models/a%2Fb", "/models%2Fa", "/models/%61"} {
		plain, aliased := s.Admin.Get(path), s.Admin.Aliased().Get(path)
		if plain.Status != aliased.Status || plain.At("error").Text() != aliased.At("error").Text() {
			t.Errorf("%s: %s\nbelow the alias: %s", path, plain, aliased)
		}
	}
	for _, path := range []string{"/api/runtime%2Fv1/health", "/api%2Fruntime/v1/health", "/api/%72untime%2Fv1/models/a"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound || answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
	}
}
