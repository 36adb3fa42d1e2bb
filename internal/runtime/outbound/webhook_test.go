package outbound

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLwSu"

func notice(b bundle) request.Notice {
	return request.Notice{URL: b.receiver.URL() + "/hook?team=a%20b", ID: "evt_1", SecretEnv: signingEnv, Body: []byte(`{"type":"run.ended"}`)}
}

// TestANoticeIsWhatTheStandardSays byte for byte, with nothing of a step's call.
func TestANoticeIsWhatTheStandardSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.env[signingEnv] = standardSecret
	if status, problem := b.client.Notify(t.Context(), notice(b)); status != 200 || problem != "" {
		t.Errorf("%d %s", status, problem)
	}
	b.delivered(t)
	raw := b.receiver.Raw()[0]
	m := regexp.MustCompile(`^POST /hook\?team=a%20b HTTP/1\.1\r\nHost: [^\r]+\r\nUser-Agent: [^\r]+\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\nContent-Length: 20\r\n` +
		`webhook-id: (evt_1)\r\nwebhook-timestamp: (1767225600)\r\nwebhook-signature: (v1,[^\r]+)\r\n\r\n\{"type":"run\.ended"\}$`).FindStringSubmatch(raw)
	if m == nil {
		t.Fatalf("sent %q", raw)
	}
	verifier, err := standardwebhooks.NewWebhook(standardSecret)
	if err != nil {
		t.Fatal(err)
	}
	head := http.Header{}
	for i, name := range []string{standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp, standardwebhooks.HeaderWebhookSignature} {
		head.Set(name, m[i+1])
	}
	if err := verifier.VerifyIgnoringTimestamp([]byte(`{"type":"run.ended"}`), head); err != nil {
		t.Error(err)
	}
	if verifier.VerifyIgnoringTimestamp([]byte(`{"type":"run.endeD"}`), head) == nil {
		t.Error("another body has the same signature")
	}
}

// TestASecretWithoutWhsecIsTakenByteForByte.
func TestASecretWithoutWhsecIsTakenByteForByte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	use := credential.Use{Kind: countersign.AuthHMAC, Name: signingEnv}
	b.env[signingEnv] = "any bytes, even these"
	key, err := b.client.credentials.webhookKey(use, "")
	if err != nil || string(key) != "any bytes, even these" {
		t.Errorf("%q, %v", key, err)
	}
	b.env[signingEnv] = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key"))
	if key, err = b.client.credentials.webhookKey(use, ""); err != nil || string(key) != "a key" {
		t.Errorf("%q, %v", key, err)
	}
}

func TestWhatANoticeIsAnswered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault   faultreceiver.Fault
		status  int
		problem string
	}{
		{faultreceiver.Named("204"), 204, ""},
		{faultreceiver.Named("unreadable-html"), 200, ""},
		{faultreceiver.Named("huge-body"), 200, ""},
		{faultreceiver.Answering("over 64 KiB", faultreceiver.JSON(200, strings.Repeat("x", 65<<10))), 200, ""},
		{faultreceiver.Named("301"), 301, `the receiver answered 301: redirects are not followed; its Location is "/elsewhere"`},
		{faultreceiver.Named("503"), 503, "the receiver answered 503"},
		{faultreceiver.Named("close-after-body"), 0, closed},
	} {
		t.Run(tt.fault.Name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.receiver.Next(tt.fault)
			if status, problem := b.client.Notify(t.Context(), notice(b)); status != tt.status || problem != tt.problem {
				t.Errorf("%d %s", status, problem)
			}
			b.delivered(t)
		})
	}
}

// TestANoticeThatCantBeSent says why, and opens no connection.
func TestANoticeThatCantBeSent(t *testing.T) {
	t.Parallel()
	for cause, spoil := range map[string]func(*bundle, *request.Notice){
		"is not on the server's list":   func(b *bundle, _ *request.Notice) { b.client.origins = nil },
		"variable PATH is not on":       func(_ *bundle, n *request.Notice) { n.SecretEnv = "PATH" },
		"is not set":                    func(b *bundle, _ *request.Notice) { delete(b.env, signingEnv) },
		"is not base64":                 func(b *bundle, _ *request.Notice) { b.env[signingEnv] = "whsec_%%" },
		"the address must be an origin": func(b *bundle, n *request.Notice) { n.URL = "http://user:pw@" + n.URL[len("http://"):] },
		"the notification's id":         func(_ *bundle, n *request.Notice) { n.ID = "evt.1" },
	} {
		b := setup(t)
		n := notice(b)
		spoil(&b, &n)
		if status, problem := b.client.Notify(t.Context(), n); status != 0 || !strings.Contains(problem, cause) {
			t.Errorf("%s: %d %s", cause, status, problem)
		}
		if got := b.receiver.Requests(); len(got) != 0 {
			t.Errorf("%s: sent %q", cause, got)
		}
	}
}
