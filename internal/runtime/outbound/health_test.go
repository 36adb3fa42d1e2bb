package outbound

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault   faultreceiver.Fault
		healthy bool
		status  int
		err     string
	}{
		{faultreceiver.OK, true, 200, ""},
		{faultreceiver.Named("204"), true, 204, ""},
		{faultreceiver.Named("unreadable-html"), true, 200, ""},
		{faultreceiver.Named("huge-body"), true, 200, ""},
		{faultreceiver.Named("301"), false, 301, `the receiver answered 301: redirects are not followed; its Location is "/elsewhere"`},
		{faultreceiver.Named("404"), false, 404, "the receiver answered 404"},
		{faultreceiver.Named("503"), false, 503, "the receiver answered 503"},
		{faultreceiver.Named("close-after-body"), false, 0, closed},
		{faultreceiver.Named("cut-headers"), false, 200, closed},
	}
	for _, tt := range tests {
		t.Run(tt.fault.Name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.receiver.Next(tt.fault)
			h := b.client.Health(t.Context(), "acme", ours, b.project)
			if h.Healthy != tt.healthy || h.StatusCode != tt.status || h.Error != tt.err {
				t.Errorf("got %+v", h)
			}
			if h.ProjectID != "acme-shop" || h.Revision != 3 || !h.CheckedAt.Equal(clock) {
				t.Errorf("it is not of this project and time: %+v", h)
			}
		})
	}
}

var healthHead = regexp.MustCompile(`^GET (\S+) HTTP/1\.1\r\n(?s:.*)Idempotency-Key: (health-check\.[A-Z2-7]{26})\r\nX-Runtime-Run-Id: health-check\r\nX-Runtime-Step-Id: health-check\r\nX-Runtime-Timestamp: 1767225600\r\nX-Runtime-Signature: sha256=[0-9a-f]{64}\r\n\r\n$`)

// TestHealthUsesTheProjectsAuthentication and a key that no other check has.
func TestHealthUsesTheProjectsAuthentication(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, path := range []string{"", "/status/ready"} {
		b := setup(t)
		b.project.HealthPath = path
		if h := b.client.Health(t.Context(), "acme", ours, b.project); !h.Healthy {
			t.Errorf("got %+v", h)
		}
		b.delivered(t)
		m := healthHead.FindStringSubmatch(b.receiver.Raw()[0])
		if m == nil || m[1] != max(path, "/") || keys[m[2]] {
			t.Fatalf("sent %q", b.receiver.Raw()[0])
		}
		keys[m[2]] = true
	}
}

// TestHealthThatCantBeAsked says why, and sends nothing.
func TestHealthThatCantBeAsked(t *testing.T) {
	t.Parallel()
	for cause, spoil := range map[string]func(*bundle){
		"is not set":               func(b *bundle) { delete(b.env, signingEnv) },
		"not on the server's list": func(b *bundle) { b.client.origins = nil },
		"must not hold . or ..":    func(b *bundle) { b.project.HealthPath = "/../admin" },
		"connection refused":       func(b *bundle) { b.receiver.Refuse() },
	} {
		b := setup(t)
		spoil(&b)
		h := b.client.Health(t.Context(), "acme", ours, b.project)
		if h.Healthy || h.StatusCode != 0 || !strings.Contains(h.Error, cause) {
			t.Errorf("%s: got %+v", cause, h)
		}
		mustNotHold(t, h.Error)
		if b.delivered(t); len(b.receiver.Raw()) != 0 {
			t.Errorf("%s: a connection was made", cause)
		}
	}
}

func TestLocalEchoNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	c := New(Config{MayUse: nobody, Getenv: func(string) string { t.Error("a credential was read"); return "" }})
	p := &countersign.Project{ID: "acme-echo", Revision: 2, Adapter: countersign.AdapterLocalEcho, Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "X"})}
	if h := c.Health(t.Context(), "acme", ours, p); !h.Healthy || h.StatusCode != 200 || h.Revision != 2 {
		t.Errorf("health: %+v", h)
	}
	call := bundle{project: p}.call(t, "POST")
	call.Input = map[string]countersign.Value{"b": countersign.RawValue("1.50"), "a": countersign.Null}
	o := c.Call(t.Context(), call)
	checkOutcome(t, o, returned(200, `{"a":null,"b":1.50}`))
	if o.Response.Bytes != 19 || string(o.Response.BodySHA256) != countersign.SHA256Hex([]byte(`{"a":null,"b":1.50}`)) {
		t.Errorf("got %+v", o.Response)
	}
	call.Input = nil
	checkOutcome(t, c.Call(t.Context(), call), returned(200, `{}`))
}
