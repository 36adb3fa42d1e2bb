package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestProjectsThatTheContractRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	origin := w.shop.Origin()
	p, b := harness.Project(origin), bare(origin)
	capability := func(method, path string, more doc) doc {
		return harness.With(p, "capabilities", []any{harness.Capability("c", method, path, more)})
	}
	in := func(typ string) doc { return harness.Input(typ, false) }
	for name, bad := range map[string]doc{
		"auth with authSecretEnv":        harness.With(p, "authSecretEnv", harness.SecretEnv),
		"NONE with a POST":               harness.With(harness.With(p, "auth", doc{"type": "NONE"}), "capabilities.0.method", "POST"),
		"no auth with a POST":            harness.Without(p, "auth"),
		"NONE with a side-effecting PUT": harness.With(b, "capabilities.0.method", "PUT"),
		"NONE with a credential":         harness.With(b, "auth", doc{"type": "NONE", "credentialEnv": harness.SecretEnv}),
		"duplicate capability":           harness.With(p, "capabilities.1.name", "lookup"),
		"no baseUrl":                     harness.Without(p, "baseUrl"),
		"baseUrl with path":              harness.With(p, "baseUrl", origin+"/api"),
		"baseUrl with query":             harness.With(p, "baseUrl", origin+"?a=b"),
		"baseUrl with fragment":          harness.With(p, "baseUrl", origin+"#f"),
		"baseUrl with userinfo":          harness.With(p, "baseUrl", "http://user:pw@"+strings.TrimPrefix(origin, "http://")),
		"baseUrl of another scheme":      harness.With(p, "baseUrl", "ftp://example.com"),
		"baseUrl no URL":                 harness.With(p, "baseUrl", "example"),
		"blank name":                     harness.With(p, "name", ""),
		"unknown adapter":                harness.With(p, "adapter", "SOAP"),
		"no adapter":                     harness.Without(p, "adapter"),
		"no capabilities":                harness.Without(p, "capabilities"),
		"no name":                        harness.Without(p, "name"),
		"healthPath with query":          harness.With(p, "healthPath", "/health?x=1"),
		"healthPath not absolute":        harness.With(p, "healthPath", "health"),
		"healthPath with traversal":      harness.With(p, "healthPath", "/../x"),
		"healthPath with a placeholder":  harness.With(p, "healthPath", "/{x}"),
		"HMAC without credential":        harness.With(p, "auth", doc{"type": "HMAC"}),
		"HMAC with a header name":        harness.With(p, "auth.headerName", "X-Key"),
		"API_KEY without header name":    harness.With(p, "auth", doc{"type": "API_KEY", "credentialEnv": harness.SecretEnv}),
		"unknown auth type":              harness.With(p, "auth.type", "BASIC"),
		"request.body on GET":            capability("GET", "/x", doc{"inputSchema": doc{"a": in("string")}, "request": doc{"body": []string{"a"}}}),
		"a field in query and body":      capability("POST", "/x", doc{"inputSchema": doc{"a": in("string")}, "request": doc{"query": []string{"a"}, "body": []string{"a"}}}),
		"a field in path and body":       capability("POST", "/x/{a}", doc{"inputSchema": doc{"a": in("string")}, "request": doc{"body": []string{"a"}}}),
		"an object in the query":         capability("GET", "/x", doc{"inputSchema": doc{"a": in("object")}, "request": doc{"query": []string{"a"}}}),
		"an array in the query":          capability("GET", "/x", doc{"inputSchema": doc{"a": in("array")}}),
		"a boolean in the path":          capability("GET", "/x/{a}", doc{"inputSchema": doc{"a": in("boolean")}}),
		"an undeclared placeholder":      capability("GET", "/x/{a}", doc{"inputSchema": doc{"b": in("string")}}),
		"an input without a place":       capability("POST", "/x", doc{"inputSchema": doc{"a": in("string"), "b": in("string")}, "request": doc{"query": []string{}, "body": []string{"a"}}}),
		"path with query":                capability("GET", "/x?y=1", doc{}),
		"path with traversal":            capability("GET", "/a/../b", doc{}),
		"path with a fragment":           capability("GET", "/a#b", doc{}),
		"relative path":                  capability("GET", "a", doc{}),
		"another host":                   capability("GET", "//example.com/a", doc{}),
		"an absolute URL":                capability("GET", "http://example.com/a", doc{}),
		"an escaped traversal":           capability("GET", "/a/%2e%2e/b", doc{}),
		"a line feed in the path":        capability("GET", "/a\nb", doc{}),
		"method HEAD":                    capability("HEAD", "/x", doc{}),
		"method in small letters":        capability("get", "/x", doc{}),
		"approval SOMETIMES":             capability("GET", "/x", doc{"approval": "SOMETIMES"}),
		"timeout below 100":              capability("GET", "/x", doc{"timeoutMs": 99}),
		"timeout above 60000":            capability("GET", "/x", doc{"timeoutMs": 60001}),
		"timeout 0":                      capability("GET", "/x", doc{"timeoutMs": 0}),
		"input type integer":             capability("POST", "/x", doc{"inputSchema": doc{"a": in("integer")}}),
		"input without required":         capability("POST", "/x", doc{"inputSchema": doc{"a": doc{"type": "string"}}}),
		"input without type":             capability("POST", "/x", doc{"inputSchema": doc{"a": doc{"required": true}}}),
		"a probe that is none":           capability("POST", "/x", doc{"probe": "nothing"}),
		"a probe that is itself a POST":  capability("POST", "/x", doc{"probe": "c"}),
		"empty capability name":          harness.With(p, "capabilities.0.name", ""),
		"capability without path":        harness.Without(p, "capabilities.0.path"),
		"capability without method":      harness.Without(p, "capabilities.0.method"),
		"query field listed twice":       capability("GET", "/x", doc{"inputSchema": doc{"a": in("string")}, "request": doc{"query": []string{"a", "a"}}}),
		"query field that is undeclared": capability("GET", "/x", doc{"inputSchema": doc{}, "request": doc{"query": []string{"a"}}}),
	} {
		t.Run(name, func(t *testing.T) {
			w.tenantAdmin.Put("/projects/default-bad", bad).Refused(t, "invalid_request")
		})
	}
	w.viewer.Get("/projects/default-bad").Refused(t, "not_found")
}

func TestProjectsThatTheContractAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	origin := w.shop.Origin()
	p := harness.Project(origin)
	capability := func(method, path string, more doc) doc {
		return harness.With(p, "capabilities", []any{harness.Capability("c", method, path, more)})
	}
	text := harness.Input("string", true)
	n := 0
	for name, good := range map[string]doc{
		"baseUrl with a lone slash":      harness.With(p, "baseUrl", origin+"/"),
		"legacy authSecretEnv":           harness.With(harness.Without(p, "auth"), "authSecretEnv", harness.SecretEnv),
		"a field in path and query":      capability("GET", "/x/{a}", doc{"inputSchema": doc{"a": text}, "request": doc{"query": []string{"a"}}}),
		"NONE with reads":                harness.With(bare(origin), "auth", doc{"type": "NONE"}),
		"no capability":                  harness.With(p, "capabilities", []any{}),
		"a DELETE with a body":           capability("DELETE", "/x", doc{"inputSchema": doc{"a": text}}),
		"timeouts at the bounds":         harness.With(capability("GET", "/x", doc{"timeoutMs": 100}), "capabilities.0.timeoutMs", 60000),
		"resourceId without declaration": capability("GET", "/x/{resourceId}", doc{}),
		"LOCAL_ECHO with a POST":         {"name": "e", "adapter": "LOCAL_ECHO", "capabilities": []any{harness.Capability("c", "POST", "/x", doc{})}},
		"LOCAL_ECHO with baseUrl":        {"name": "e", "adapter": "LOCAL_ECHO", "baseUrl": origin, "capabilities": []any{}},
	} {
		n++
		path := fmt.Sprintf("/projects/default-good%d", n)
		t.Run(name, func(t *testing.T) { w.tenantAdmin.Put(path, good).OK(t).Is(t, "revision", 1) })
	}
}

func TestOnlyListedOriginsMayBeRegistered(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", "https://API.example.com:443, http://[::1]:8080/"))
	for i, origin := range []string{"https://api.example.com", "HTTPS://api.EXAMPLE.com:443/", "http://[0:0:0:0:0:0:0:1]:8080"} {
		s.Admin.Put(fmt.Sprintf("/projects/default-%d", i), bare(origin)).OK(t)
	}
	for _, origin := range []string{"http://api.example.com", "https://api.example.com:8443", "https://api.example.com.evil.org", "https://example.com", "http://[::1]", "http://localhost:8080"} {
		s.Admin.Put("/projects/default-x", bare(origin)).Refused(t, "origin_not_allowed", "baseUrl")
	}
	echo := doc{"name": "e", "adapter": "LOCAL_ECHO", "baseUrl": "https://elsewhere.example", "capabilities": []any{}}
	s.Admin.Put("/projects/default-e", echo).Refused(t, "origin_not_allowed")
}

func TestCredentialsComeFromTheListForTheirType(t *testing.T) {
	t.Parallel()
	origin := "https://api.example.com"
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", origin), harness.Set("SIGNING_ENV_ALLOWLIST", "SIGN"), harness.Set("CREDENTIAL_ENV_ALLOWLIST", "CRED,EMPTY"),
		harness.Env("SIGN", "sign-secret-1"), harness.Env("CRED", "cred-secret-1"), harness.Env("OTHER", "other-secret-1"), harness.Env("EMPTY", ""))
	n := 0
	put := func(auth doc) *harness.Answer {
		n++
		return s.Admin.Put(fmt.Sprintf("/projects/default-p%d", n), harness.With(bare(origin), "auth", auth))
	}
	hmac, bearer := doc{"type": "HMAC"}, doc{"type": "BEARER"}
	key := doc{"type": "API_KEY", "headerName": "X-Api-Key"}
	put(harness.With(hmac, "credentialEnv", "SIGN")).OK(t).Is(t, "secretConfigured", true)
	put(harness.With(hmac, "credentialEnv", "CRED")).OK(t).Is(t, "secretConfigured", true)
	put(harness.With(hmac, "credentialEnv", "OTHER")).Refused(t, "credential_not_allowed", "OTHER")
	put(harness.With(bearer, "credentialEnv", "CRED")).OK(t).Is(t, "secretConfigured", true)
	put(harness.With(bearer, "credentialEnv", "EMPTY")).OK(t).Is(t, "secretConfigured", false)
	put(harness.With(bearer, "credentialEnv", "SIGN")).Refused(t, "credential_not_allowed", "auth.credentialEnv")
	put(harness.With(key, "credentialEnv", "CRED")).OK(t)
	put(harness.With(key, "credentialEnv", "SIGN")).Refused(t, "credential_not_allowed")
	legacy := harness.With(bare(origin), "authSecretEnv", "OTHER")
	s.Admin.Put("/projects/default-legacy", legacy).Refused(t, "credential_not_allowed", "authSecretEnv")
	s.Admin.Put("/projects/default-legacy", harness.With(legacy, "authSecretEnv", "CRED")).OK(t).Is(t, "secretConfigured", true)
}

func TestTheCredentialListIsTheSigningListUnlessItIsSet(t *testing.T) {
	t.Parallel()
	origin := "https://api.example.com"
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", origin), harness.Set("SIGNING_ENV_ALLOWLIST", "SIGN"))
	s.Admin.Put("/projects/default-a", harness.With(bare(origin), "auth", doc{"type": "BEARER", "credentialEnv": "SIGN"})).OK(t).Is(t, "secretConfigured", false)
}

func TestAnAPIKeyNeverReplacesAHeaderOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{
		"Cookie", "Host", "Authorization", "Idempotency-Key", "X-Runtime-Run-Id", "x-runtime-anything", "X-Runtime-Signature", "Connection", "Keep-Alive", "TE", "Trailer",
		"Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Content-Type", "Content-Length", "content-anything", "Accept", "Accept-Encoding", "User-Agent",
		"X-Forwarded-For", "x-forwarded-host", "", "with space", "colon:", "line\nfeed", "ümlaut",
	} {
		auth := doc{"type": "API_KEY", "credentialEnv": harness.SecretEnv, "headerName": name}
		w.tenantAdmin.Put("/projects/default-key", harness.With(harness.Project(w.shop.Origin()), "auth", auth)).Refused(t, "invalid_request", "auth.headerName")
	}
}
