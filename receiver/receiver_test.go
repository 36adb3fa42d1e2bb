package receiver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

var secret = []byte("a secret of the receiver's tests")

// api is a project API with one side effect, behind a Receiver.
type api struct {
	t       *testing.T
	handler http.Handler
	effects atomic.Int64
	now     time.Time
}

// newAPI makes an api. answer is the handler of the side effect.
func newAPI(t *testing.T, store receiver.Store, answer http.HandlerFunc) *api {
	a := &api{t: t, now: morning}
	rc := receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{secret}, Now: func() time.Time { return a.now }},
		Store:    store,
		Log:      slog.New(slog.DiscardHandler),
	})
	a.handler = rc.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.effects.Add(1)
		answer(w, r)
	}))
	return a
}

// again is the same api after a restart.
func (a *api) again(store receiver.Store, answer http.HandlerFunc) *api {
	b := newAPI(a.t, store, answer)
	b.now = a.now
	return b
}

func ok(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Other", "not remembered")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(append([]byte(`{"got":`), append(body, '}')...))
}

func (a *api) request(method, target, key, body string) *http.Request {
	a.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	call := receiver.Call{RunID: "run-1", StepID: "refund", IdempotencyKey: key, SentAt: a.now}
	if err := receivertest.Sign(r, []byte(body), secret, call); err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (a *api) answers(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	return w
}

func (a *api) post(key, body string) *httptest.ResponseRecorder {
	a.t.Helper()
	return a.answers(a.request("POST", "/refunds", key, body))
}

// is checks the status of an answer and, unless code is empty, its error code.
func is(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct{ Error, Message string }
	err := json.Unmarshal(w.Body.Bytes(), &p)
	if w.Code != status || p.Error != code || code != "" && (err != nil || p.Message == "" || w.Header().Get("Content-Type") != "application/json") {
		t.Errorf("got %d %s; want %d %s", w.Code, w.Body, status, code)
	}
	if strings.Contains(w.Body.String(), string(secret)) {
		t.Error("the answer holds the secret")
	}
}

// had checks how often the side effect happened.
func (a *api) had(n int64) {
	a.t.Helper()
	if got := a.effects.Load(); got != n {
		a.t.Errorf("%d effects; want %d", got, n)
	}
}

func TestAVerifiedCallReachesTheHandlerWithItsBody(t *testing.T) {
	var call receiver.Call
	a := newAPI(t, &receiver.MemoryStore{}, func(w http.ResponseWriter, r *http.Request) {
		call, _ = receiver.CallFrom(r.Context())
		ok(w, r)
	})
	w := a.answers(a.request("PUT", "/orders/a%2Fb?x=1", "k", `{"a":1.0}`))
	is(t, w, 201, "")
	if w.Body.String() != `{"got":{"a":1.0}}` || w.Header().Get("X-Other") == "" || w.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("got %v %s", w.Header(), w.Body)
	}
	want := receiver.Call{Method: "PUT", Target: "/orders/a%2Fb?x=1", RunID: "run-1", StepID: "refund", IdempotencyKey: "k", SentAt: call.SentAt}
	if call != want || !call.SentAt.Equal(morning) {
		t.Errorf("the call is %+v", call)
	}
	if _, verified := receiver.CallFrom(context.Background()); verified {
		t.Error("a call out of nothing")
	}
}

func TestWhatIsNotSignedRightHasNoEffectAndTakesNoKey(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, ok)
	for reason, spoil := range map[string]func(*http.Request){
		"missing_header": func(r *http.Request) { r.Header.Del("X-Runtime-Signature") },
		"signature":      func(r *http.Request) { r.RequestURI = "/refunds?x=1" },
		"timestamp":      func(*http.Request) { a.now = a.now.Add(6 * time.Minute) },
		"line_break":     func(r *http.Request) { r.Header.Set("X-Runtime-Run-Id", "run\n1") },
	} {
		r := a.request("POST", "/refunds", "k", "{}")
		spoil(r)
		is(t, a.answers(r), 401, reason)
		r = a.request("GET", "/refunds", "k", "")
		spoil(r)
		is(t, a.answers(r), 401, reason)
	}
	a.had(0)
	is(t, a.post("k", "{}"), 201, "")
	a.had(1)
}

func TestABodyBeyondAMebibyteIsRefused(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	is(t, a.post("k", strings.Repeat("x", receiver.MaxBytes)), 204, "")
	is(t, a.post("k2", strings.Repeat("x", receiver.MaxBytes+1)), 413, "payload_too_large")
	a.had(1)
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
func (brokenBody) Close() error             { return nil }

func TestABodyThatEndsEarlyIsRefused(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, ok)
	r := a.request("POST", "/refunds", "k", "{}")
	r.Body = brokenBody{}
	is(t, a.answers(r), 400, "invalid_request")
	a.had(0)
}

func TestALongKeyIsRefused(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, ok)
	is(t, a.post(strings.Repeat("k", 512), "{}"), 201, "")
	is(t, a.post(strings.Repeat("k", 513), "{}"), 400, "invalid_request")
	a.had(1)
}

func TestReadsAreNotRemembered(t *testing.T) {
	a := newAPI(t, &receiver.MemoryStore{}, ok)
	for range 2 {
		for _, method := range []string{"GET", "HEAD"} {
			if w := a.answers(a.request(method, "/orders/A-1", "k", "")); w.Code != 201 || w.Header().Get("Idempotency-Replayed") != "" {
				t.Errorf("%s: %d %v", method, w.Code, w.Header())
			}
		}
	}
	a.had(4)
}

// TestAReceiverWithoutSecretDoesNotComeUp: an environment variable that is not set must be
// noticed at the start.
func TestAReceiverWithoutSecretDoesNotComeUp(t *testing.T) {
	for name, secrets := range map[string][][]byte{"none": nil, "an empty one": {{}}, "an empty one beside a good one": {[]byte("good"), {}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it came up", name)
				}
			}()
			receiver.New(receiver.Config{Verifier: receiver.Verifier{Secrets: secrets}, Store: &receiver.MemoryStore{}})
		}()
	}
}

func TestAReceiverWithoutStoreDoesNotComeUp(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it came up")
		}
	}()
	receiver.New(receiver.Config{})
}
