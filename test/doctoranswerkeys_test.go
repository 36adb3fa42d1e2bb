package test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestDoctorWarnsWhereOneAnswerKeyIsOfTwoAddresses: not where two projects are at one.
func TestDoctorWarnsWhereOneAnswerKeyIsOfTwoAddresses(t *testing.T) {
	t.Parallel()
	b, other := newBank(t, time.Hour), newBank(t, time.Hour)
	w := &world{Server: harness.Start(t, harness.Set("CONNECTION_ORIGINS", b.URL+","+other.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	at := func(id, origin string) {
		w.Admin.Put("/projects/"+id, doc{
			"name": id, "adapter": "HTTP_JSON", "baseUrl": origin, "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}, "answerKeys": []any{b.key},
			"capabilities": []any{harness.Capability("pay", "POST", "/pay", doc{})},
		}).OK(t)
	}
	says := func() string {
		r := harness.Run(t, map[string]string{"SVC_PLATFORM_STORE": w.Store, "SVC_PLATFORM_LISTEN": strings.TrimPrefix(w.URL, "http://")}, "doctor")
		return r.Out
	}
	at("default-one", b.URL)
	at("default-two", b.URL)
	if out := says(); strings.Contains(out, "answer keys") {
		t.Errorf("two projects at one address:\n%s", out)
	}
	at("default-three", other.URL)
	if out := says(); !strings.Contains(out, b.key+" signs at different addresses: ") || !strings.Contains(out, other.URL+" (project default-three of tenant default)") {
		t.Errorf("it doesn't name them:\n%s", out)
	}
}
