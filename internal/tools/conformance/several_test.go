package conformance

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestEachOfSeveralKeysIsTried: missing and wrong, while the others are right. A receiver
// that looks at the signature alone breaks the rules of the key beside it.
func TestEachOfSeveralKeysIsTried(t *testing.T) {
	cfg := against(serve(t, &books{}))
	cfg.Project.Auth = &countersign.Auths{Several: []countersign.Auth{{Type: countersign.AuthHMAC, CredentialEnv: "A"}, {Type: countersign.AuthAPIKey, HeaderName: "X-Other-Key", CredentialEnv: "B"}}}
	cfg.Secrets = append(cfg.Secrets, "another-key")
	r := played(t, cfg)
	for _, rule := range r.Rules {
		want := countersign.VerdictHolds
		if strings.HasSuffix(rule.Name, "-credential") {
			want = countersign.VerdictBroken
		}
		if strings.HasPrefix(rule.Name, "refuses-") && rule.Verdict != want {
			t.Errorf("%s: %s, %s", rule.Name, rule.Verdict, rule.Seen)
		}
	}
	cfg.Secrets = cfg.Secrets[:1]
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "give as many secrets") {
		t.Errorf("one secret for two keys: %v", err)
	}
}
