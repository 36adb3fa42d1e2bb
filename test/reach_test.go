package test

import (
	"encoding/base64"
	"maps"
	"strconv"
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
	mara := w.person(t, "mara@example.com", "APPROVER")
	for _, path := range []string{"/approvals/" + approval.At("id").Text(), "/runs/" + run} {
		mustSay(t, mara.Open(path), 200, "Basic desk:•••", "X-Api-Version", "2026-01", "marlow desk")
	}
	w.holds(t, w.operator, run)
	text := receiptOf(t, w.operator, run)
	w.judge(t, 1, strings.Replace(text, "2026-01", "2026-02", 1), "--key", w.receiptKey(t))

	// With another header it is another request, for which an earlier approval doesn't count.
	w.Admin.Put("/projects/"+shop, harness.With(harness.With(p, "expectedRevision", 2), "headers", doc{"X-Merchant": "another"})).OK(t)
	w.enable(t, shop, 3)
	other := w.approval(t, w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}).OK(t).At("id").Text())
	mustSay(t, mara.Open("/approvals/"+other.At("id").Text()), 200, "headers.X-Merchant", `"marlow desk"`, `"another"`, "headers.X-Api-Version", "absent")
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
		"X-HTTP-Method": "PUT", "X-Http-Method-Override": "DELETE", "x-method-override": "DELETE", "X_HTTP_METHOD_OVERRIDE": "DELETE",
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

// threeKeys is a project of the shop that wants three at once, each from a variable of its own.
func threeKeys(origin string) doc {
	p := harness.Project(origin)
	p["auth"] = []any{
		doc{"type": "API_KEY", "headerName": "X-Api-Key", "credentialEnv": "APP_KEY"},
		doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		doc{"type": "BASIC", "user": "desk", "credentialEnv": "DESK_PASSWORD"},
	}
	return p
}

const (
	appKey       = "app-key-9c2f81d0aa77"
	deskPassword = "d3sk-pass"
)

func keysWorld(t *testing.T) *world {
	t.Helper()
	w := ownWorld(t, harness.Set("CREDENTIAL_ENV_ALLOWLIST", "APP_KEY,DESK_PASSWORD"), harness.Env("APP_KEY", appKey), harness.Env("DESK_PASSWORD", deskPassword))
	w.Keep(appKey)
	w.Keep(deskPassword)
	w.Keep(base64.StdEncoding.EncodeToString([]byte("desk:" + deskPassword)))
	return w
}

// TestAnAPIThatWantsSeveralKeysGetsEach: calls, probes and health checks send all of them,
// approver and digest have what isn't secret, and what the receiver repeats of any is
// masked.
func TestAnAPIThatWantsSeveralKeysGetsEach(t *testing.T) {
	t.Parallel()
	w := keysWorld(t)
	p := threeKeys(w.shop.Origin())
	w.register(t, shop, harness.With(p, "expectedRevision", 1))
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "auth", p["auth"]).Is(t, "secretConfigured", true).Is(t, "weakSecret", true)

	pair := base64.StdEncoding.EncodeToString([]byte("desk:" + deskPassword))
	w.shop.On("POST", "/refunds", harness.Answering(422, `{"you sent":"Basic `+pair+` and `+appKey+`"}`))
	run := w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}).OK(t).At("id").Text()
	shown := doc{"Authorization": "Basic desk:•••", "X-Api-Key": "•••", "X-Runtime-Signature": "sha256=•••"}
	approval := w.approval(t, run).Is(t, "request.headers", shown)
	w.approve(t, run)
	w.reaches(t, run, "FAILED").Is(t, "steps.0.response.body", `{"you sent":"Basic [credential] and [credential]"}`)
	w.holds(t, w.operator, run)
	for _, at := range []struct{ method, path string }{{"POST", "/refunds"}, {"GET", "/health"}} {
		seen := w.shop.Seen(at.method, at.path)
		sent := seen[len(seen)-1].Header
		if sent.Get("Authorization") != "Basic "+pair || sent.Get("X-Api-Key") != appKey || !strings.HasPrefix(sent.Get("X-Runtime-Signature"), "sha256=") {
			t.Errorf("%s %s was sent with %v", at.method, at.path, sent)
		}
	}

	// What isn't secret of them is in the digest.
	other := threeKeys(w.shop.Origin())
	other["auth"].([]any)[2] = doc{"type": "BASIC", "user": "another", "credentialEnv": "DESK_PASSWORD"}
	w.Admin.Put("/projects/"+shop, harness.With(other, "expectedRevision", 2)).OK(t)
	w.enable(t, shop, 3)
	next := w.call(w.operator, doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}).OK(t).At("id").Text()
	if again := w.approval(t, next).Is(t, "request.headers.Authorization", "Basic another:•••"); again.At("requestDigest").Text() == approval.At("requestDigest").Text() {
		t.Error("it is taken for the same request")
	}
}

// TestEachOfSeveralCredentialsIsBoundListedAndFreed, and without any one of them nothing
// is sent.
func TestEachOfSeveralCredentialsIsBoundListedAndFreed(t *testing.T) {
	t.Parallel()
	w := keysWorld(t)
	w.register(t, shop, harness.With(threeKeys(w.shop.Origin()), "expectedRevision", 1))
	kinds := map[string]any{}
	for i := range 3 {
		c := w.Admin.Get("/credentials").OK(t).Is(t, "total", 3).At("items." + strconv.Itoa(i))
		kinds[c.At("name").Text()] = c.At("kinds.0").Text()
		c.Is(t, "tenantId", "default").Is(t, "projects", []any{shop})
	}
	if want := map[string]any{"APP_KEY": "API_KEY", "DESK_PASSWORD": "BASIC", harness.SecretEnv: "HMAC"}; !maps.Equal(kinds, want) {
		t.Errorf("listed as %v", kinds)
	}
	w.Admin.Put("/tenants/other", doc{"name": "other"}).OK(t)
	other := w.As(w.Admin.Post("/tokens", doc{"name": "all", "tenantId": "other", "roles": []string{"ADMIN"}}).OK(t).At("token").Text())
	other.Put("/projects/other-shop", threeKeys(w.shop.Origin())).Refused(t, "credential_not_allowed", "auth[0].credentialEnv", "APP_KEY")

	w.Admin.Do("DELETE", "/credentials/DESK_PASSWORD", doc{"reason": "it moves"}).OK(t).Is(t, "projects", []any{shop})
	before := len(w.shop.Seen("GET", "/health"))
	w.Admin.Post("/projects/"+shop+"/health-check", nil).OK(t).Is(t, "healthy", false)
	if now := len(w.shop.Seen("GET", "/health")); now != before {
		t.Errorf("%d health checks were sent without the freed variable", now-before)
	}
}

// TestAuthIsAnsweredAsItWasGiven: an object as an object, an array as an array.
func TestAuthIsAnsweredAsItWasGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hmac := doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}
	for id, auth := range map[string]any{"default-one": hmac, "default-array": []any{hmac}} {
		w.Admin.Put("/projects/"+id, harness.With(harness.Project(w.shop.Origin()), "auth", auth)).OK(t).Is(t, "auth", auth)
		w.viewer.Get("/projects/"+id).OK(t).Is(t, "auth", auth)
	}
}

func TestAuthThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func(kind string, more ...string) doc {
		d := doc{"type": kind, "credentialEnv": harness.SecretEnv}
		for i := 0; i < len(more); i += 2 {
			d[more[i]] = more[i+1]
		}
		return d
	}
	hmac, bearer, basic := of("HMAC"), of("BEARER"), of("BASIC", "user", "u")
	key := func(name string) doc { return of("API_KEY", "headerName", name) }
	p := harness.Project(w.shop.Origin())
	for _, c := range []struct {
		auth  any
		parts []string
	}{
		{[]any{}, []string{"auth: an array has 1 to 3"}},
		{[]any{hmac, bearer, key("X-A"), key("X-B")}, []string{"auth: an array has 1 to 3", "not 4"}},
		{[]any{hmac, hmac}, []string{"auth[1]: HMAC", "X-Runtime-Signature", "auth[0] (HMAC)"}},
		{[]any{bearer, key("X-A"), basic}, []string{"auth[2]: BASIC", "Authorization", "auth[0] (BEARER)"}},
		{[]any{key("X-Key"), key("x-key")}, []string{"auth[1]: API_KEY", "x-key", "auth[0] (API_KEY)"}},
		{[]any{hmac, doc{"type": "NONE"}}, []string{"auth[1].type: NONE stands alone"}},
		{[]any{hmac, of("API_KEY")}, []string{"auth[1].headerName"}},
		{[]any{hmac, doc{"type": "BEARER"}}, []string{"auth[1].credentialEnv"}},
		{[]any{hmac, of("BEARER", "secret", "s")}, []string{"auth[1].secret"}},
		{[]any{hmac, "BEARER"}, []string{"auth[1]: must be an object"}},
		{[]any{[]any{hmac}}, []string{"auth[0]: must be an object"}},
		{"HMAC", []string{"auth: must be an object or an array of objects"}},
		{7, []string{"auth: must be an object or an array of objects"}},
	} {
		w.Admin.Put("/projects/default-other", harness.With(p, "auth", c.auth)).Refused(t, "invalid_request", c.parts...)
	}
	clash := harness.With(harness.With(p, "auth", []any{hmac, key("X-Key")}), "headers", doc{"X-KEY": "v"})
	w.Admin.Put("/projects/default-other", clash).Refused(t, "invalid_request", "headers.X-KEY: auth[1].headerName is the same header")
	text := `{"name":"x","adapter":"HTTP_JSON","baseUrl":"` + w.shop.Origin() + `","capabilities":[],"auth":[{"type":"HMAC","type":"HMAC","credentialEnv":"` + harness.SecretEnv + `"}]}`
	w.Admin.Do("PUT", "/projects/default-other", text).Refused(t, "invalid_json", "auth[0]", "a second time")
}
