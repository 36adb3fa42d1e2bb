package test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAProjectsHeadersAndUserAreSentShownAndInTheDigest: an approver sees everything that isn't secret, and the receipt verifies.
func TestAProjectsHeadersAndUserAreSentShownAndInTheDigest(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("CREDENTIAL_ENV_ALLOWLIST", harness.SecretEnv))
	p := harness.Project(w.shop.Origin())
	p["auth"] = doc{"type": "BASIC", "user": "desk", "credentialEnv": harness.SecretEnv}
	p["headers"] = doc{"X-Api-Version": "2026-01", "X-Merchant": "marlow desk"}
	w.register(t, shop, harness.With(p, "expectedRevision", 1))
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "headers", p["headers"]).Is(t, "auth.user", "desk")

	run := w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}).OK(t).At("id").Text()
	shown := doc{"Authorization": "Basic desk:•••", "X-Api-Version": "2026-01", "X-Merchant": "marlow desk"}
	approval := w.approval(t, run).Is(t, "request.headers", shown)
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.request.headers", shown)
	sent := w.shop.Seen("POST", "/refunds")[0].Header
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("desk:"+harness.Secret))
	if sent.Get("Authorization") != want || sent.Get("X-Api-Version") != "2026-01" || sent.Get("X-Merchant") != "marlow desk" {
		t.Errorf("the headers were %v", sent)
	}
	w.holds(t, w.operator, run)
	text := receiptOf(t, w.operator, run)
	w.judge(t, 1, strings.Replace(text, "2026-01", "2026-02", 1), "--key", w.receiptKey(t))

	// With another header it is another request, for which an earlier approval doesn't count.
	w.Admin.Put("/projects/"+shop, harness.With(harness.With(p, "expectedRevision", 2), "headers", doc{"X-Merchant": "another"})).OK(t)
	w.enable(t, shop, 3)
	other := w.approval(t, w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}).OK(t).At("id").Text())
	if other.At("requestDigest").Text() == approval.At("requestDigest").Text() || other.At("same.0").Exists() {
		t.Errorf("it is taken for the same request: %s", other)
	}
}

func TestHeadersThatNoKeyMayReplaceAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.Project(w.shop.Origin())
	for name, value := range map[string]string{
		"Authorization": "x", "Host": "x", "Cookie": "x", "Idempotency-Key": "x", "X-Runtime-Run-Id": "x", "Content-Type": "x", "X Key": "x", "X-Forwarded-For": "x",
		"X-Empty": "", "X-Break": "a\r\nX-Other: b", "X-Control": "a\x00b", "X-Space": " a", "X-Letters": "é", "X-Long": strings.Repeat("x", 1025),
	} {
		w.Admin.Put("/projects/default-other", harness.With(p, "headers", doc{name: value})).Refused(t, "invalid_request", "headers."+name)
	}
	for _, twice := range []doc{{"X-Key": "a", "x-key": "b"}} {
		w.Admin.Put("/projects/default-other", harness.With(p, "headers", twice)).Refused(t, "invalid_request", "the same header")
	}
	for _, auth := range []doc{
		{"type": "BASIC", "credentialEnv": harness.SecretEnv}, {"type": "BASIC", "user": "a:b", "credentialEnv": harness.SecretEnv},
		{"type": "BASIC", "user": "a b", "credentialEnv": harness.SecretEnv}, {"type": "HMAC", "user": "a", "credentialEnv": harness.SecretEnv},
	} {
		w.Admin.Put("/projects/default-other", harness.With(p, "auth", auth)).Refused(t, "invalid_request", "auth.user")
	}
}
