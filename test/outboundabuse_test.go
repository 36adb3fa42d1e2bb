package test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestARedirectLeadsNowhere: no redirect is followed, to another origin or to another path of the same one, with any status and scheme; and
// the credential is sent nowhere else.
func TestARedirectLeadsNowhere(t *testing.T) {
	t.Parallel()
	elsewhere := harness.NewReceiver(t)
	w := newWorld(t)
	w.register(t, "default-bearer", harness.With(harness.Project(w.shop.Origin()), "auth", doc{"type": "BEARER", "credentialEnv": harness.SecretEnv}))
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{elsewhere.Origin() + "/x", "/moved", "//" + strings.TrimPrefix(elsewhere.Origin(), "http://") + "/x", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd"} {
			w.shop.On("POST", "/notes", harness.Redirecting(status, to))
			w.shop.On("GET", "/search", harness.Redirecting(status, to))
			id := w.run(t, on("default-bearer", step("n", "note", nil)))
			w.reaches(t, id, "RECOVERY_REQUIRED")
			w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "r"}).Refused(t, "state_conflict")
			w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": "e"}).OK(t)
			w.reaches(t, w.run(t, on("default-bearer", step("s", "search", nil))), "FAILED")
		}
	}
	if n := elsewhere.Connections(); n > 0 {
		t.Errorf("%d connections to where the redirects led", n)
	}
	if n := len(w.shop.Seen("GET", "/moved")) + len(w.shop.Seen("POST", "/moved")); n > 0 {
		t.Errorf("%d requests followed on the same origin", n)
	}
}

// echoes are ways in which a receiver may return a credential.
func echoes(secret string) map[string]string {
	raw := []byte(secret)
	escaped := ""
	for _, c := range secret {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	out := map[string]string{"escaped": `{"ok":true,"you":"` + escaped + `"}`, "as a key": `{"ok":true,"` + secret + `":1}`, "deep": `{"ok":true,"a":[[{"b":"x` + secret + `y"}]]}`}
	for name, form := range map[string]string{
		"as it is": secret, "base64": base64.StdEncoding.EncodeToString(raw), "base64 for URLs": base64.URLEncoding.EncodeToString(raw),
		"base64 of more": base64.StdEncoding.EncodeToString([]byte("user:" + secret + ";")), "base64 of much more": base64.URLEncoding.EncodeToString([]byte("k=" + secret + "?q=1")),
		"hex": hex.EncodeToString(raw), "HEX": strings.ToUpper(hex.EncodeToString(raw)), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
	} {
		out[name] = `{"ok":true,"you":"Bearer ` + form + `"}`
	}
	return out
}

// TestAnEchoedCredentialShowsNowhere: not in the output, in a later step's request, in the audit log, or in the error of an unusable answer.
// The harness searches every answer, log line, file and row for each of its encodings.
func TestAnEchoedCredentialShowsNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bearer := harness.With(harness.Project(w.shop.Origin()), "auth", doc{"type": "BEARER", "credentialEnv": harness.SecretEnv})
	w.register(t, "default-echoing", bearer)
	first := on("default-echoing", step("n", "note", nil))
	second := on("default-echoing", doc{"id": "m", "name": "m", "capability": "effect", "dependsOn": []string{"n"}, "inputBindings": doc{"text": doc{"stepId": "n", "field": "$"}}})
	for name, body := range echoes(harness.Secret) {
		w.shop.On("POST", "/notes", harness.Answering(200, body))
		run := w.reaches(t, w.run(t, first, harness.Without(second, "inputBindings")), "COMPLETED")
		if !strings.Contains(run.At("steps.0.output").String(), "[credential]") {
			t.Errorf("%s: the output is %s", name, run.At("steps.0.output"))
		}
		w.approver.Get("/runs/" + run.At("id").Text()).OK(t)
	}
	for _, reply := range []harness.Reply{
		harness.Answering(200, harness.Secret), harness.Answering(200, `{"`+harness.Secret+`":`), harness.Answering(500, harness.Secret),
		harness.Raw("HTTP/1.1 200 " + harness.Secret + "\r\nContent-Length: x\r\n\r\n"), harness.Raw("HTTP/1.1 " + harness.Secret + "\r\n\r\n"),
		harness.Raw("HTTP/1.1 302 Found\r\nLocation: http://" + harness.Secret + "/\r\nContent-Length: 0\r\n\r\n"),
		harness.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + harness.Secret + "\r\n\r\n{}"),
	} {
		w.shop.On("POST", "/notes", reply)
		id := w.run(t, first)
		w.reaches(t, id, "RECOVERY_REQUIRED")
		w.approver.Post("/runs/"+id+"/reconcile", doc{"resolution": "ABANDON", "evidence": "e"}).OK(t)
	}
	for _, reply := range []harness.Reply{harness.Typed(200, harness.Secret, `{"ok":true}`), harness.Raw("HTTP/1.1 200 OK\r\nContent-Encoding: " + harness.Secret + "\r\nContent-Length: 2\r\n\r\n{}")} {
		w.shop.On("POST", "/notes", reply) // the Content-Type doesn't matter
		w.reaches(t, w.run(t, first), "COMPLETED")
	}
	w.shop.On("GET", "/health", harness.Raw("HTTP/1.1 "+harness.Secret+"\r\n\r\n"))
	w.Admin.Post("/projects/default-echoing/health-check", nil).OK(t).Is(t, "healthy", false)
	w.Admin.Get("/audit?limit=200").OK(t)
	w.Admin.Get("/metrics").OK(t)
}

// TestNothingOfAnInputBecomesAHeader: line breaks are refused where they could make a header, and encoded elsewhere.
func TestNothingOfAnInputBecomesAHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const evil = "x\r\nX-Evil: 1\r\n\r\nGET /notes HTTP/1.1"
	w.reaches(t, w.run(t, step("s", "search", doc{"q": evil, evil: "v"}), step("n", "note", doc{"text": evil, evil: 1})), "COMPLETED")
	w.operator.Post("/plans", planOf(step("l", "lookup", doc{"resourceId": evil}))).OK(t).Is(t, "status", "INVALID")
	w.operator.Post("/plans", planOf(doc{"id": evil, "name": "n", "projectId": shop, "capability": "note"})).Refused(t, "invalid_request")
	for field, value := range map[string]any{
		"auth":       doc{"type": "API_KEY", "credentialEnv": harness.SecretEnv, "headerName": "X-Key: 1\r\nX-Evil"},
		"healthPath": "/health HTTP/1.1\r\nX-Evil: 1", "baseUrl": w.shop.Origin() + "\r\nX-Evil: 1",
		"capabilities": []any{harness.Capability("c", "GET", "/a\r\nX-Evil: 1", nil)},
	} {
		w.Admin.Put("/projects/default-evil", harness.With(harness.Project(w.shop.Origin()), field, value)).Refused(t, "invalid_request")
	}
	w.operator.Post("/runs", doc{"planId": "p"}, "Idempotency-Key: a b").Refused(t, "invalid_request")
	for _, q := range append(w.shop.Seen("GET", "/search"), w.shop.Seen("POST", "/notes")...) {
		if q.Header.Get("X-Evil") != "" || strings.Contains(string(q.Raw), "\nX-Evil") && q.Method == "GET" {
			t.Errorf("sent was %q", q.Raw)
		}
		if err := harness.CheckSignature(q, harness.Secret); err != nil {
			t.Error(err)
		}
	}
	if n := len(w.shop.Seen("GET", "/notes")); n > 0 {
		t.Errorf("%d requests were smuggled", n)
	}
}

// TestACertificateThatNobodyVouchesForIsNotCalled: nothing is sent, and the run names what is wrong with the certificate.
func TestACertificateThatNobodyVouchesForIsNotCalled(t *testing.T) {
	t.Parallel()
	called := make(chan string, 1)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.URL.Path }))
	defer secure.Close()
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", secure.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	s.Keep(harness.Secret)
	s.Admin.Put("/projects/default-secure", harness.Project(secure.URL)).OK(t)
	s.Admin.Post("/projects/default-secure/health-check", nil).OK(t).Is(t, "healthy", false).Has(t, "error", "certificate is not trusted")
	s.Admin.Post("/projects/default-secure/enable", doc{"expectedRevision": 1}).Refused(t, "health_check_required")
	select {
	case path := <-called:
		t.Errorf("%s was called", path)
	default:
	}
}
