package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/testing/memory"
)

// opened is the API over an empty store, with the bootstrap token and a session.
type opened struct {
	t              *testing.T
	api            *API
	log            strings.Builder
	token, session string
}

func open(t *testing.T) *opened {
	t.Helper()
	o := &opened{t: t}
	n := 0
	newID := func(kind string) string { n++; return fmt.Sprintf("%s-%d", kind, n) }
	secret := func() (b [32]byte) { copy(b[:], newID("secret")); return b }
	log := slog.New(slog.NewTextHandler(&o.log, nil))
	runs := runrepo.New(runrepo.Config{MaxActive: 4, ApprovalTTL: time.Hour, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now})
	service := control.New(control.Config{MaxActive: 4, NewID: newID, NewSecret: secret, Now: time.Now}, memory.New(), runs, nil, &updates.Hub{}, nil, log)
	first, err := service.Bootstrap(t.Context(), "")
	if err == nil {
		_, err = service.EnsureAdmin(t.Context(), "ann@example.com")
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := service.Authenticate(t.Context(), first.Token)
	if err != nil {
		t.Fatal(err)
	}
	both := countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator}}
	made, err := service.CreateToken(t.Context(), control.Actor{Principal: p, RequestID: "req-1"}, both)
	if err != nil {
		t.Fatal(err)
	}
	o.token = made.Secret
	if o.session, err = service.SignInVerified(t.Context(), "ann@example.com", "192.0.2.1", control.Actor{RequestID: "req-1"}); err != nil {
		t.Fatal(err)
	}
	if o.api, err = New(Config{BaseURL: "http://countersign.example.com", Log: log, NewID: newID, Now: time.Now}, service); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	return o
}

// ask sends a request by the bootstrap token; headers replace its own, and "" leaves one out.
func (o *opened) ask(method, target string, body io.Reader, headers ...string) string {
	o.t.Helper()
	r := httptest.NewRequest(method, target, body)
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Del(headers[i]); headers[i+1] != "" {
			r.Header[http.CanonicalHeaderKey(headers[i])] = strings.Split(headers[i+1], "|")
		}
	}
	return o.answer(r)
}

func (o *opened) answer(r *http.Request) string {
	o.t.Helper()
	w := httptest.NewRecorder()
	o.api.ServeHTTP(w, r)
	var e errorBody
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.RequestID == "" {
		o.t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
	}
	return fmt.Sprintf("%d %s: %s", w.Code, e.Error, e.Message)
}

// torn is a body whose client leaves.
type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, errors.New("the client has left") }

// TestARefusedRequestSaysWhatWouldBeRight reads each message.
func TestARefusedRequestSaysWhatWouldBeRight(t *testing.T) {
	o := open(t)
	run := strings.NewReader
	cookie := access.CookieName(false) + "=" + o.session
	large := strings.Repeat(" ", countersign.MaxBodyBytes+1)
	for _, test := range []struct{ got, want string }{
		{o.ask("GET", "/other", nil), "404 not_found: there is nothing at /other; the API is below /v1"},
		{o.ask("GET", "/v1//models", nil), "404 not_found: there is nothing at this path; write it without //, . and .."},
		{o.ask("PATCH", "/v1/models", nil), "405 method_not_allowed: PATCH is not allowed here; use GET, HEAD"},
		{o.ask("GET", "/v1/models?token=x", nil), "401 unauthenticated: a token has no place in the query, where logs keep it; send Authorization: Bearer <token>"},
		{o.ask("GET", "/v1/models", nil, "Authorization", ""), "401 unauthenticated: there is no Authorization header; send Authorization: Bearer <token>"},
		{o.ask("GET", "/v1/models", nil, "Authorization", "Bearer a|Bearer b"), "401 unauthenticated: there are two Authorization headers; send Authorization: Bearer <token>"},
		{o.ask("GET", "/v1/models", nil, "Authorization", "Basic a"), "401 unauthenticated: the Authorization header is no bearer token; send Authorization: Bearer <token>"},
		{o.ask("POST", "/v1/runs", run(large)), "413 payload_too_large: the body is larger than 1048576 bytes"},
		{o.ask("POST", "/v1/runs", torn{}), "400 invalid_request: the body could not be read to its end"},
		{o.ask("POST", "/v1/runs", run("{}"), "Idempotency-Key", "k", "Content-Encoding", "gzip"), "400 invalid_request: Content-Encoding: send the body as it is; a compressed one is not read"},
		{o.ask("POST", "/v1/runs", run("{}"), "Idempotency-Key", "k", "Content-Type", "text/plain"), "400 invalid_request: Content-Type: send application/json"},
		{o.ask("POST", "/v1/runs", run("{}")), "400 idempotency_key_required: send an Idempotency-Key header: repeating it finds the same run"},
		{o.ask("POST", "/v1/runs", run("{}"), "Idempotency-Key", "a|b"), "400 invalid_request: Idempotency-Key: send it once"},
		{o.ask("POST", "/v1/runs", run("{}"), "Idempotency-Key", "ä"), "400 invalid_request: Idempotency-Key: it is 1 to 255 visible ASCII characters"},
		{o.ask("GET", "/v1/models/a~b", nil), "400 invalid_request: id: an id is 1 to 128 letters, digits, dots, underscores and hyphens, a letter or digit first"},
		{o.ask("GET", "/v1/models?a=%2", nil), "400 invalid_request: query: it is not validly escaped"},
		{o.ask("GET", "/v1/models?other=1", nil), `400 invalid_request: "other": unknown query parameter; known are limit, offset, retired`},
		{o.ask("GET", "/v1/session?other=1", nil), `400 invalid_request: "other": unknown query parameter; this operation takes none`},
		{o.ask("GET", "/v1/models?limit=201", nil), "400 invalid_request: limit: it must be a whole number from 1 to 200"},
		{o.ask("GET", "/v1/models?limit=", nil), "400 invalid_request: limit: give it once, with a value"},
		{o.ask("GET", "/v1/models?retired=maybe", nil), "400 invalid_request: retired: it must be true or false"},
		{o.ask("GET", "/v1/runs?status=OLD", nil), "400 invalid_request: status: it must be one of READY, RUNNING, WAITING_APPROVAL, RECOVERY_REQUIRED, COMPLETED, FAILED, CANCELLED"},
		{o.ask("GET", "/v1/audit?since=now", nil), "400 invalid_request: since: it must be a time with its zone, such as 2026-11-21T09:17:47Z"},
		{o.ask("POST", "/v1/models/m/retire", run("{}"), "Authorization", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site"), "403 csrf: this request comes from another site"},
		{o.ask("POST", "/v1/models/m/retire", run("{}"), "Authorization", "", "Cookie", cookie), "403 csrf: X-CSRF-Token: send the csrfToken of GET /v1/session"},
	} {
		if test.got != test.want {
			t.Errorf("\n got %s\nwant %s", test.got, test.want)
		}
	}
}

// TestAServiceThatStopsSaysThatNothingWasChanged, and ends an export that is under way.
func TestAServiceThatStopsSaysThatNothingWasChanged(t *testing.T) {
	o := open(t)
	o.api.Stop()
	for _, test := range []struct{ got, want string }{
		{o.ask("POST", "/v1/runs", nil), "503 unavailable: the service is stopping; nothing was changed, try again when it is up"},
		{o.ask("GET", "/v1/audit/export", nil), "503 unavailable: the service is stopping; export again when it is up"},
	} {
		if test.got != test.want {
			t.Errorf("\n got %s\nwant %s", test.got, test.want)
		}
	}
}

// TestWhatBreaksIsLoggedAndNotShown: the answer names the request under which the log has it.
func TestWhatBreaksIsLoggedAndNotShown(t *testing.T) {
	const want = "something broke on our side; the log has it under this request id"
	o := open(t)
	w, r := httptest.NewRecorder(), o.api.identify(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil))
	o.api.fail(w, r, errors.New("disk on fire"))
	var e errorBody
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Message != want {
		t.Errorf("\n got %s\nwant %s", e.Message, want)
	}
	if logged := o.log.String(); !strings.Contains(logged, `msg="request failed" method=GET path=/v1/models error="disk on fire"`) {
		t.Error(logged)
	}
}

// TestAPublicAddressThatIsNoOriginEndsTheStart.
func TestAPublicAddressThatIsNoOriginEndsTheStart(t *testing.T) {
	const want = `the public address countersign.example.com: invalid origin "countersign.example.com": scheme is required`
	if _, err := New(Config{BaseURL: "countersign.example.com"}, nil); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
