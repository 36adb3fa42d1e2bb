package outbound

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// TestNothingLeavesWhenACallIsRefused: each of these is NotSent, and the receiver
// saw no connection at all.
func TestNothingLeavesWhenACallIsRefused(t *testing.T) {
	t.Parallel()
	hmac := func(env string) *countersign.Auths {
		return countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: env})
	}
	tests := []struct {
		name, cause string
		spoil       func(*bundle, *request.Call)
	}{
		{"origin not listed", "is not on the server's list", func(b *bundle, c *request.Call) {
			b.client.origins = map[string]bool{"https://elsewhere.example": true}
		}},
		{"base URL is no origin", "the base URL must be", func(b *bundle, c *request.Call) { b.project.BaseURL = "ftp://x" }},
		{"url of another origin", "not on the registered origin", func(b *bundle, c *request.Call) { c.Request.URL = "http://127.0.0.1:1/orders/A-1" }},
		{"url that continues the origin", "not on the registered origin", func(b *bundle, c *request.Call) { c.Request.URL = b.project.BaseURL + "0/orders" }},
		{"user in the url", "not on the registered origin", func(b *bundle, c *request.Call) { c.Request.URL = b.project.BaseURL + "@evil/" }},
		{"line break in the url", "not on the registered origin", func(b *bundle, c *request.Call) { c.Request.URL += "\r\nX-Evil: 1" }},
		{"space in the url", "not on the registered origin", func(b *bundle, c *request.Call) { c.Request.URL += " HTTP/1.1" }},
		{"unknown method", "the method is not", func(b *bundle, c *request.Call) { c.Request.Method = "CONNECT" }},
		{"line break in the run id", "X-Runtime-Run-Id", func(b *bundle, c *request.Call) { c.RunID = "run\n1" }},
		{"carriage return in the step id", "X-Runtime-Step-Id", func(b *bundle, c *request.Call) { c.StepID = "step\r" }},
		{"no key", "Idempotency-Key", func(b *bundle, c *request.Call) { c.IdempotencyKey = "" }},
		{"request too large", "larger than 1 MiB", func(b *bundle, c *request.Call) {
			c.Request.Body = countersign.String(strings.Repeat("x", 1<<20))
		}},
		{"credential not set", "variable SHOP_SIGNING_SECRET is not set", func(b *bundle, c *request.Call) { delete(b.env, signingEnv) }},
		{"credential not listed", "HOME is not on the server's list", func(b *bundle, c *request.Call) { b.project.Auth = hmac("HOME") }},
		{"bearer from the signing list", "is not on the server's list for BEARER", func(b *bundle, c *request.Call) {
			b.project.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthBearer, CredentialEnv: signingEnv})
		}},
		{"bearer with a line feed", "can't be sent in a header", func(b *bundle, c *request.Call) {
			b.env[keyEnv] = secret + "\n"
			b.project.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthBearer, CredentialEnv: keyEnv})
		}},
		{"key in a framing header", "can't carry an API key", func(b *bundle, c *request.Call) {
			b.project.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "Content-Length"})
		}},
		{"key in a broken header", "can't carry an API key", func(b *bundle, c *request.Call) {
			b.project.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "X-Key: a\r\nX-Evil"})
		}},
		{"unknown authentication", "is not supported", func(b *bundle, c *request.Call) {
			b.project.Auth = countersign.OneAuth(countersign.Auth{Type: "DIGEST", CredentialEnv: keyEnv})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			call := b.call(t, "POST")
			tt.spoil(&b, &call)
			o := b.client.Call(t.Context(), call)
			if o.Certainty != request.NotSent || !strings.Contains(o.Cause, tt.cause) {
				t.Errorf("got %s %q, want NotSent with %q", o.Certainty, o.Cause, tt.cause)
			}
			mustNotHold(t, fmt.Sprintf("%+v", o))
			if b.delivered(t); len(b.receiver.Raw()) != 0 {
				t.Errorf("a connection was made: %q", b.receiver.Raw())
			}
		})
	}
}

// TestAnEndedContextSendsNothing also where an idle connection lies ready.
func TestAnEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.warm(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := b.client.Call(ctx, b.call(t, "POST"))
	if o.Certainty != request.NotSent || o.Cause != "the call was stopped: no connection" {
		t.Errorf("got %s %q", o.Certainty, o.Cause)
	}
	if got := b.delivered(t); len(got) != 1 {
		t.Errorf("the receiver saw %q", got)
	}
}

// TestACancelledCallIsUnknown: what was sent may take effect, whoever stopped
// waiting for it.
func TestACancelledCallIsUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.receiver.Next(stoppingWhenRead(cancel))
	o := b.client.Call(ctx, b.call(t, "POST"))
	if o.Certainty != request.Unknown || o.Cause != "the call was stopped: no answer" {
		t.Errorf("got %s %q", o.Certainty, o.Cause)
	}
	if got := b.delivered(t); len(got) != 1 {
		t.Errorf("the receiver saw %q", got)
	}
}

// TestADeadlineOfTheCallerIsNotCalledTheTimeout of the capability.
func TestADeadlineOfTheCallerIsNotCalledTheTimeout(t *testing.T) {
	t.Parallel()
	got := stopped(context.DeadlineExceeded, answer{sent: true, head: true}, time.Second)
	if got != "the call ran out of time: no complete answer" {
		t.Errorf("got %q", got)
	}
}
