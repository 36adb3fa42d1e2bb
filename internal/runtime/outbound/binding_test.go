package outbound

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/rules/request"
)

// TestACallWithAnothersCredentialIsNotSent: by the binding that the call carries, not
// by whose project it is.
func TestACallWithAnothersCredentialIsNotSent(t *testing.T) {
	t.Parallel()
	for boundTo, why := range map[string]string{"beta": "belongs to another tenant", "": "belongs to no tenant"} {
		b := setup(t)
		call := b.call(t, "POST")
		call.Tenant, call.BoundTo = "acme", map[string]string{signingEnv: boundTo}
		if o := b.client.Call(t.Context(), call); o.Certainty != request.NotSent || !strings.Contains(o.Cause, why) {
			t.Errorf("bound to %q: %+v", boundTo, o)
		}
		if sent := b.delivered(t); len(sent) != 0 {
			t.Errorf("bound to %q: sent %v", boundTo, sent)
		}
	}
}
