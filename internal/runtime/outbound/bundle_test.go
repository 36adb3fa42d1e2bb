package outbound

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret stands for every credential; nothing that a test sees may hold it.
const secret = "canary-7f3Kq/9+z=Lm"

// signingEnv and keyEnv are the variables of the two lists.
const (
	signingEnv = "SHOP_SIGNING_SECRET"
	keyEnv     = "SHOP_KEY"
)

var clock = time.Unix(1767225600, 0)

// bundle is a client and the receiver that it may call.
type bundle struct {
	receiver *faultreceiver.Receiver
	client   *Client
	project  *countersign.Project
	env      map[string]string
}

func setup(t testing.TB) bundle {
	t.Helper()
	r, err := faultreceiver.Start()
	if err != nil {
		t.Fatal(err)
	}
	return setupWith(t, r)
}

func setupWith(t testing.TB, r *faultreceiver.Receiver) bundle {
	t.Helper()
	b := bundle{receiver: r, env: map[string]string{signingEnv: secret, keyEnv: secret}}
	b.project = &countersign.Project{
		ID: "acme-shop", Revision: 3, Adapter: countersign.AdapterHTTPJSON, BaseURL: r.URL(),
		Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: signingEnv}),
	}
	b.client = New(Config{
		Origins: []string{r.URL()}, MayUse: credential.Plain([]string{signingEnv}, []string{keyEnv}).Allows,
		Getenv: func(name string) string { return b.env[name] },
		Now:    func() time.Time { return clock },
	})
	t.Cleanup(func() { b.client.Close(); r.Close() })
	return b
}

// call is a request of this method, complete as the engine makes it.
func (b bundle) call(t testing.TB, method string) request.Call {
	t.Helper()
	c := countersign.Capability{Name: "work", Method: method, Path: "/orders/{resourceId}"}
	input := map[string]countersign.Value{"resourceId": countersign.String("A-1"), "note": countersign.String("a b")}
	r, err := request.Build(nil, b.project, &c, input)
	if err != nil {
		t.Fatal(err)
	}
	return request.Call{
		RunID: "run-1", StepID: "refund", IdempotencyKey: "run-1.refund",
		Project: b.project, Request: r, Input: input, Timeout: 5 * time.Minute,
	}
}

// warm makes a call that goes well, so that the next one finds its connection.
func (b bundle) warm(t testing.TB) {
	t.Helper()
	call := b.call(t, "GET")
	call.IdempotencyKey = "run-0.warm"
	if o := b.client.Call(t.Context(), call); o.Certainty != request.Returned || o.Response.StatusCode != 200 {
		t.Fatalf("warming up: %+v", o)
	}
}

// idle lists the connections that the client keeps to the receiver.
func (b bundle) idle() []*conn {
	b.client.pool.mu.Lock()
	defer b.client.pool.mu.Unlock()
	return slices.Clone(b.client.pool.idle[b.receiver.URL()])
}

// delivered waits for the receiver's log to be final and returns its requests.
func (b bundle) delivered(t testing.TB) []string {
	t.Helper()
	b.client.Close()
	if err := b.receiver.Settle(); err != nil {
		t.Fatal(err)
	}
	return b.receiver.Requests()
}

// mustNotHold fails when a text that others see holds the secret.
func mustNotHold(t testing.TB, text string) {
	t.Helper()
	for _, form := range forms(secret) {
		if strings.Contains(text, form) {
			t.Errorf("a secret shows: %s", text)
		}
	}
}

// nobody may use a credential.
func nobody(credential.Use, string) error { return credential.ErrNobodys }

// ours are the variables as tenant acme's.
var ours = map[string]string{signingEnv: "acme", keyEnv: "acme"}
