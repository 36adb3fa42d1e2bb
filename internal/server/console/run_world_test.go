package console

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/server/console/web"
	store "github.com/countersign/countersign/internal/testing/memory"
)

// runWorld is the console over a service that executes runs. Its receiver answers
// when a test lets it.
type runWorld struct {
	t       testing.TB
	service *control.Service
	engine  *engine.Engine
	hub     *updates.Hub
	console *Console
	server  *httptest.Server
	ids     atomic.Int64
	answers chan request.Outcome // what the calls get, in turn
}

var nowhere = context.Background()

// Call implements engine.Caller.
func (w *runWorld) Call(ctx context.Context, c request.Call) request.Outcome {
	select {
	case o := <-w.answers:
		return o
	case <-ctx.Done():
		return request.Outcome{Certainty: request.Unknown, Cause: "the call was ended"}
	}
}

// Health implements control.Prober.
func (w *runWorld) Health(context.Context, string, map[string]string, *countersign.Project) countersign.HealthCheck {
	return countersign.HealthCheck{Healthy: true, StatusCode: 200}
}

func (w *runWorld) newID(kind string) string { return fmt.Sprintf("%s-%06d", kind, w.ids.Add(1)) }

func (w *runWorld) newSecret() (b [32]byte) {
	copy(b[:], fmt.Sprintf("secret %d", w.ids.Add(1)))
	return b
}

func openRunWorld(t testing.TB) *runWorld {
	t.Helper()
	w := &runWorld{t: t, answers: make(chan request.Outcome, 1000)}
	st, hub, log := store.New(), &updates.Hub{}, slog.New(slog.DiscardHandler)
	l := runrepo.New(runrepo.Config{MaxActive: 4, ApprovalTTL: time.Hour, NewID: w.newID, OriginAllowed: func(string) bool { return true }, Now: time.Now})
	w.hub = hub
	w.engine = engine.New(st, l, w, hub, log)
	w.service = control.New(control.Config{MaxActive: 4, NewID: w.newID, NewSecret: w.newSecret, Now: time.Now}, st, l, w.engine, hub, w, log)
	_, err := w.service.Bootstrap(nowhere, "")
	w.must(err)
	w.must(w.engine.Start(nowhere))
	w.server = httptest.NewUnstartedServer(nil)
	w.console, err = New(web.Config{BaseURL: "http://" + w.server.Listener.Addr().String(), MaxActive: 4, Log: log, NewID: w.newID, Now: time.Now}, w.service)
	w.must(err)
	w.server.Config.Handler = w.console
	w.server.Start()
	t.Cleanup(func() {
		w.server.Close()
		w.engine.Stop(0)
		w.service.Close()
		_ = st.Close()
	})
	w.furnish()
	return w
}

func (w *runWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// somebody is a principal of these roles.
func somebody(email string, roles ...countersign.Role) control.Actor {
	p := access.Principal{ID: "user:" + email, Email: email, Tenant: countersign.DefaultTenant, Roles: roles}
	return control.Actor{Principal: p, RequestID: "req-test"}
}

var (
	boss  = somebody("boss@example.com", countersign.RoleAdmin)
	clerk = somebody("clerk@example.com", countersign.RoleOperator)
)

// furnish makes an enabled project and a model.
func (w *runWorld) furnish() {
	text := map[string]countersign.InputField{"text": {Type: "string"}}
	p := countersign.ProjectWrite{Name: "Shop", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "look", Method: "GET", Path: "/orders", InputSchema: text},
		{Name: "note", Method: "POST", Path: "/notes", InputSchema: text, Sensitive: []string{"text"}},
		{Name: "pay", Method: "POST", Path: "/payments", InputSchema: text, Approval: countersign.ApprovalNone},
	}}
	_, err := w.service.PutProject(nowhere, boss, "default-shop", p)
	w.must(err)
	_, err = w.service.CheckHealth(nowhere, boss, "default-shop")
	w.must(err)
	_, err = w.service.EnableProject(nowhere, boss, "default-shop", countersign.Toggle{ExpectedRevision: 1})
	w.must(err)
	doc := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: "m", States: []countersign.ModelState{{ID: "s", IsStart: true, IsFinal: true}}}
	_, err = w.service.PutModel(nowhere, clerk, "m", countersign.ModelWrite{Document: doc})
	w.must(err)
}

// call is a step of these tests' plans.
func call(id, capability string, after ...string) countersign.Step {
	return countersign.Step{
		ID: id, Name: "Do " + id, ProjectID: "default-shop", Capability: capability, DependsOn: after,
		Input: map[string]countersign.Value{"text": countersign.String("secret of " + id)},
	}
}

// start starts a run of a LIVE plan of these steps.
func (w *runWorld) start(by control.Actor, steps ...countersign.Step) string {
	w.t.Helper()
	p, err := w.service.CreatePlan(nowhere, clerk, countersign.PlanWrite{Name: "Refund", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeLive, Steps: steps})
	w.must(err)
	if p.Status != countersign.PlanReady {
		w.t.Fatal(p.ValidationErrors)
	}
	started, err := w.service.StartRun(nowhere, by, countersign.RunStart{PlanID: p.ID}, w.newID("key"))
	w.must(err)
	return started.Run.ID
}

// reaches waits, without sleeping, until a run has a status.
func (w *runWorld) reaches(id string, status countersign.RunStatus) countersign.Run {
	w.t.Helper()
	return w.until(id, func(r countersign.Run) bool { return r.Status == status })
}

func (w *runWorld) until(id string, holds func(countersign.Run) bool) countersign.Run {
	w.t.Helper()
	watched, err := w.service.Watch(nowhere, boss, id)
	w.must(err)
	defer watched.Close()
	late := time.After(5 * time.Minute)
	for r := &watched.Now; ; {
		if holds(*r) {
			return *r
		}
		select {
		case r = <-watched.Changes.C:
		case <-late:
			w.t.Fatalf("waited 5 minutes for a state of the run; it is %s: %s", r.Status, r.Error)
		}
	}
}

// answer lets the next call be answered so.
func (w *runWorld) answer(status int, body string) {
	w.answers <- request.Outcome{
		Certainty: request.Returned, Body: countersign.RawValue(body),
		Response: &countersign.Response{StatusCode: status, Bytes: countersign.ByteCount(len(body)), DurationMs: 12, BodySHA256: countersign.BodyDigest(hex.EncodeToString([]byte(body)))},
	}
}

// guest is somebody's browser at the console.
type guest struct {
	w      *runWorld
	cookie *http.Cookie
	client *http.Client
}

func (w *runWorld) guest(email string, roles ...countersign.Role) *guest {
	w.t.Helper()
	_, err := w.service.PutUser(nowhere, boss, email, countersign.UserWrite{Roles: roles})
	w.must(err)
	secret, err := w.service.SignInVerified(nowhere, email, "192.0.2.1", control.Actor{RequestID: "req-test"})
	w.must(err)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{}}
	w.t.Cleanup(client.CloseIdleConnections)
	return &guest{w, &http.Cookie{Name: access.CookieName(false), Value: secret}, client}
}

func (g *guest) do(ctx context.Context, method, path string, form url.Values, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, g.w.server.URL+web.Prefix+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.AddCookie(g.cookie)
	req.Header.Set("Origin", g.w.server.URL)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return g.client.Do(req)
}

// open follows a link; submit sends a form.
func (g *guest) open(path string) (status int, text string) {
	g.w.t.Helper()
	return g.read(g.do(nowhere, http.MethodGet, path, nil))
}

func (g *guest) submit(path string, form url.Values) (status int, text string) {
	g.w.t.Helper()
	form.Set("csrf", access.CSRFToken(g.cookie.Value))
	return g.read(g.do(nowhere, http.MethodPost, path, form))
}

func (g *guest) read(res *http.Response, err error) (int, string) {
	g.w.t.Helper()
	g.w.must(err)
	text, err := io.ReadAll(res.Body)
	g.w.must(errors.Join(err, res.Body.Close()))
	return res.StatusCode, string(text)
}

// shows makes sure that a page says all of this.
func (g *guest) shows(path string, words ...string) string {
	g.w.t.Helper()
	status, text := g.open(path)
	if status != http.StatusOK {
		g.w.t.Fatalf("%s: %d %s", path, status, text)
	}
	says(g.w.t, path, text, words...)
	return text
}

func says(t testing.TB, what, text string, words ...string) {
	t.Helper()
	plain := plainText(text)
	for _, word := range words {
		if !strings.Contains(plain, word) && !strings.Contains(text, word) {
			t.Errorf("%s doesn't say %q:\n%s", what, word, plain)
		}
	}
}

var tags = regexp.MustCompile(`(?s)<[^>]*>`)

func plainText(page string) string {
	text := strings.NewReplacer("\u00a0", " ", "&#34;", `"`, "&#39;", "'", "&quot;", `"`).Replace(tags.ReplaceAllString(page, " "))
	return strings.Join(strings.Fields(text), " ")
}
