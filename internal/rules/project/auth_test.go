package project_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/project"
)

const reads = `[{"name":"read","method":"GET","path":"/orders"}]`

func TestAuthentication(t *testing.T) {
	auth := func(text string) map[string]string { return map[string]string{"auth": text} }
	check(t, []rule{
		{"HMAC", auth(`{"type":"HMAC","credentialEnv":"CREDENTIAL"}`), "", ""},
		{"BEARER", auth(`{"type":"BEARER","credentialEnv":"CREDENTIAL"}`), "", ""},
		{"API_KEY", auth(`{"type":"API_KEY","credentialEnv":"CREDENTIAL","headerName":"X-Api-Key"}`), "", ""},
		{"another type", auth(`{"type":"DIGEST","credentialEnv":"CREDENTIAL"}`), invalid, "auth.type: "},
		{"HMAC without a credential", auth(`{"type":"HMAC"}`), invalid, "auth.credentialEnv: HMAC needs"},
		{"BEARER without a credential", auth(`{"type":"BEARER"}`), invalid, "auth.credentialEnv: BEARER needs"},
		{"API_KEY without a header", auth(`{"type":"API_KEY","credentialEnv":"CREDENTIAL"}`), invalid, "auth.headerName: API_KEY needs"},
		{"a header for BEARER", auth(`{"type":"BEARER","credentialEnv":"CREDENTIAL","headerName":"X-Api-Key"}`), invalid, "auth.headerName: only API_KEY takes one"},
		{"a secret in it", auth(`{"type":"BEARER","credentialEnv":"CREDENTIAL","secret":"s"}`), invalid, "secret"},
		{"auth beside authSecretEnv", map[string]string{"authSecretEnv": `"SIGNING"`}, invalid, "authSecretEnv: "},
		{"NONE beside authSecretEnv", map[string]string{"auth": `{"type":"NONE"}`, "authSecretEnv": `"SIGNING"`}, invalid, "authSecretEnv: "},
		{"authSecretEnv alone", map[string]string{"auth": "", "authSecretEnv": `"SIGNING"`}, "", ""},
	})
}

// TestNoneIsForReadsOnly: NONE said or, for HTTP_JSON, left unsaid. A LOCAL_ECHO
// project that says nothing sends nothing, so it may have any capability.
func TestNoneIsForReadsOnly(t *testing.T) {
	const none, echo = `{"type":"NONE"}`, `"LOCAL_ECHO"`
	const only = "capabilities[1].method: without authentication (NONE) only GET is allowed"
	check(t, []rule{
		{"NONE with reads", map[string]string{"auth": none, "capabilities": reads}, "", ""},
		{"NONE with a POST", map[string]string{"auth": none}, invalid, only},
		{"NONE with a POST that only reads", map[string]string{"auth": none, "capabilities": `[{"name":"q","method":"POST","path":"/q","sideEffect":false}]`}, invalid, "capabilities[0].method: "},
		{"nothing said, with reads", map[string]string{"auth": "", "capabilities": reads}, "", ""},
		{"nothing said, with a POST", map[string]string{"auth": ""}, invalid, only},
		{"LOCAL_ECHO, nothing said, with a POST", map[string]string{"auth": "", "adapter": echo, "baseUrl": ""}, "", ""},
		{"LOCAL_ECHO, NONE with a POST", map[string]string{"auth": none, "adapter": echo, "baseUrl": ""}, invalid, only},
		{"NONE with a credential", map[string]string{"auth": `{"type":"NONE","credentialEnv":"CREDENTIAL"}`, "capabilities": reads}, invalid, "auth: NONE takes neither"},
		{"NONE with a header", map[string]string{"auth": `{"type":"NONE","headerName":"X-Api-Key"}`, "capabilities": reads}, invalid, "auth: NONE takes neither"},
	})
}

// TestCredentialLists: BEARER and API_KEY take names of the credential list; for
// HMAC, the legacy authSecretEnv included, either list serves.
func TestCredentialLists(t *testing.T) {
	auth := func(kind, env string) map[string]string {
		header := ""
		if kind == "API_KEY" {
			header = `,"headerName":"X-Api-Key"`
		}
		return map[string]string{"auth": `{"type":"` + kind + `","credentialEnv":"` + env + `"` + header + `}`}
	}
	legacy := func(env string) map[string]string {
		return map[string]string{"auth": "", "authSecretEnv": `"` + env + `"`}
	}
	check(t, []rule{
		{"HMAC, signing list", auth("HMAC", "SIGNING"), "", ""},
		{"HMAC, credential list", auth("HMAC", "CREDENTIAL"), "", ""},
		{"HMAC, neither", auth("HMAC", "PATH"), unlisted, "auth.credentialEnv: PATH is not on"},
		{"BEARER, credential list", auth("BEARER", "CREDENTIAL"), "", ""},
		{"BEARER, signing list", auth("BEARER", "SIGNING"), unlisted, "auth.credentialEnv: SIGNING is not on"},
		{"API_KEY, credential list", auth("API_KEY", "CREDENTIAL"), "", ""},
		{"API_KEY, signing list", auth("API_KEY", "SIGNING"), unlisted, "auth.credentialEnv: SIGNING is not on"},
		{"legacy, signing list", legacy("SIGNING"), "", ""},
		{"legacy, credential list", legacy("CREDENTIAL"), "", ""},
		{"legacy, neither", legacy("HOME"), unlisted, "authSecretEnv: HOME is not on"},
		{"a name in other case", auth("HMAC", "signing"), unlisted, ""},
		{"LOCAL_ECHO is checked too", map[string]string{"adapter": `"LOCAL_ECHO"`, "baseUrl": "", "auth": `{"type":"BEARER","credentialEnv":"PATH"}`}, unlisted, ""},
	})
}

// TestReservedHeaders: a key must not stand in a header that the service sets
// itself, that steers the connection, or that the receiver trusts.
func TestReservedHeaders(t *testing.T) {
	for _, name := range []string{
		"Cookie", "Host", "Authorization", "Idempotency-Key", "X-Runtime-Run-Id", "X-Runtime-Step-Id", "X-Runtime-Timestamp",
		"X-Runtime-Signature", "x-runtime-anything", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "TE",
		"Trailer", "Transfer-Encoding", "Upgrade", "Content-Type", "Content-Length", "content-md5", "Accept", "Accept-Encoding",
		"User-Agent", "X-Forwarded-For", "x-forwarded-host", "HOST", "aUTHORIZATION", "X Key", "X-Key:", "X-Kéy", "X-Key\\r\\nX", "",
	} {
		_, err := put(t, map[string]string{"auth": `{"type":"API_KEY","credentialEnv":"CREDENTIAL","headerName":"` + name + `"}`})
		if countersign.ErrorCode(err) != invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"X-Api-Key", "api_key", "Acceptance", "Accept-Language", "Accept-Version", "X-Hostname", "X-Forward", "Cookies", "X-Runtime"} {
		if _, err := put(t, map[string]string{"auth": `{"type":"API_KEY","credentialEnv":"CREDENTIAL","headerName":"` + name + `"}`}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSecretConfiguredIsWhetherTheVariableIsSetNow(t *testing.T) {
	tests := []struct {
		name string
		auth *countersign.Auth
		env  string
		want bool
	}{
		{"set", &countersign.Auth{Type: countersign.AuthBearer, CredentialEnv: "CREDENTIAL"}, "", true},
		{"not set", &countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "SIGNING"}, "", false},
		{"legacy, set", nil, "CREDENTIAL", true},
		{"legacy, not set", nil, "SIGNING", false},
		{"NONE", &countersign.Auth{Type: countersign.AuthNone}, "", false},
		{"nothing said", nil, "", false},
	}
	for _, test := range tests {
		p := countersign.Project{Auth: test.auth, AuthSecretEnv: test.env}
		if got := allowed().SecretConfigured(&p); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// A project that was registered while its origin was on the list is judged by
// the list of today.
func TestOriginIsJudgedByTheListOfToday(t *testing.T) {
	a := project.Allowed{Origins: []string{"https://api.example.com"}}
	if !a.Origin("https://API.example.com:443/") || a.Origin("https://old.example.com") || a.Origin("") {
		t.Error("the list does not decide")
	}
}
