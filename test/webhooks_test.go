package test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/countersign/countersign/test/harness"
)

const hookEnv = "WEBHOOK_SECRET"

var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a webhook's secret of 32 bytes..")) //nolint:gosec // a test's

// listening is a world whose tenant has a webhook.
type listening struct {
	*world
	ears *harness.Receiver
}

func newListening(t *testing.T, settings ...harness.Setting) *listening {
	t.Helper()
	ears := harness.NewReceiver(t)
	ears.MayRepeat("") // notifications have an id of their own, and may come twice
	w := newWorld(t, append([]harness.Setting{
		harness.Set("NOTIFY_ORIGINS", ears.Origin()), harness.Env(hookEnv, hookSecret), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv+","+hookEnv),
	}, settings...)...)
	w.Keep(hookSecret)
	w.Keep(strings.TrimPrefix(hookSecret, "whsec_"))
	return &listening{w, ears}
}

// hook is a webhook at a path of the receiver.
func (l *listening) hook(path string, events ...string) doc {
	if len(events) == 0 {
		events = []string{"approval.requested", "run.recovery_required", "run.ended"}
	}
	return doc{"url": l.ears.Origin() + path, "events": events, "secretEnv": hookEnv}
}

// told waits for the n-th notification at a path, and verifies it with the library of the authors of Standard Webhooks.
func (l *listening) told(t *testing.T, path string, n int) (body json, id string) {
	t.Helper()
	q := l.ears.Await(t, "POST", path, n)
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(q.Body, q.Header); err != nil {
		t.Errorf("notification %d: %v\n%s", n, err, q.Raw)
	}
	return notification(t, q.Body), q.Header.Get("webhook-id")
}

func notification(t *testing.T, text []byte) json {
	t.Helper()
	body, err := harness.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// byType are the notifications at a path, once there are n.
func (l *listening) byType(t *testing.T, path string, n int) map[string]json {
	t.Helper()
	out := map[string]json{}
	for i := range n {
		body, _ := l.told(t, path, i+1)
		out[body.At("type").Text()] = body
	}
	return out
}

func TestAWebhookIsToldOfApprovalsAndEndsWithoutWhatWasAsked(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.Admin.Put("/webhooks/ops", l.hook("/ops")).OK(t).Is(t, "revision", 1).Is(t, "enabled", true).Is(t, "pending", 0)
	id := l.run(t, step("refund", "refund", doc{"orderId": "CANARY-ORDER"}))
	approval := l.approval(t, id)
	asked, _ := l.told(t, "/ops", 1)
	asked.Is(t, "type", "approval.requested").Is(t, "data", doc{
		"tenantId": "default", "runId": id, "planId": approval.At("planId").Text(), "status": "WAITING_APPROVAL", "mode": "LIVE", "stepId": "refund",
		"approvalId": approval.At("id").Text(), "projectId": shop, "link": l.URL + "/console/approvals/" + approval.At("id").Text(),
	}).Is(t, "timestamp", approval.At("requestedAt").Text())
	l.approve(t, id)
	l.reaches(t, id, "COMPLETED")
	ended, _ := l.told(t, "/ops", 2)
	ended.Is(t, "type", "run.ended").Is(t, "data.status", "COMPLETED").Is(t, "data.runId", id).Is(t, "data.link", l.URL+"/console/runs/"+id)
	for _, q := range l.ears.Seen("POST", "/ops") {
		if strings.Contains(string(q.Raw), "CANARY") || strings.Contains(string(q.Raw), "fine") {
			t.Errorf("it tells too much: %s", q.Raw)
		}
	}
	harness.Until(t, "the success to be kept", func() bool {
		w := l.Admin.Get("/webhooks/ops").OK(t)
		return w.At("lastSuccessAt").Exists() && w.At("pending").Int() == 0
	})
}

func TestARunThatNeedsRecoveryAndARehearsalsEndAreTold(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.Admin.Put("/webhooks/ops", l.hook("/ops")).OK(t)
	uncertain := l.uncertain(t).At("id").Text()
	got := l.byType(t, "/ops", 1)
	got["run.recovery_required"].Is(t, "data.runId", uncertain).Is(t, "data.status", "RECOVERY_REQUIRED").Is(t, "data.stepId", "note").Is(t, "data.projectId", shop)
	dry := l.start(t, l.ready(t, harness.With(planOf(step("refund", "refund", doc{"orderId": "o"})), "mode", "DRY_RUN")))
	l.reaches(t, dry, "COMPLETED")
	l.byType(t, "/ops", 2)["run.ended"].Is(t, "data.mode", "DRY_RUN").Is(t, "data.runId", dry)
}

func TestANotificationIsRetriedUnderTheSameID(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.ears.On("POST", "/ops", harness.Answering(500, "no"), harness.Answering(204, ""))
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "run.ended")).OK(t)
	l.Admin.Put("/webhooks/other", l.hook("/other", "run.ended")).OK(t)
	id := l.run(t, step("note", "note", doc{"text": "hi"}))
	l.reaches(t, id, "COMPLETED")
	l.told(t, "/other", 1) // a failing webhook delays no other
	_, first := l.told(t, "/ops", 1)
	harness.Until(t, "the failure to be kept", func() bool {
		return l.Admin.Get("/webhooks/ops").OK(t).At("lastError").Text() == "the receiver answered 500"
	})
	body, second := l.told(t, "/ops", 2)
	if first != second || !strings.HasPrefix(first, "evt_") {
		t.Errorf("ids %s and %s", first, second)
	}
	body.Is(t, "data.runId", id)
	a, b := l.ears.Seen("POST", "/ops")[0], l.ears.Seen("POST", "/ops")[1]
	if string(a.Body) != string(b.Body) {
		t.Errorf("the body changed: %s, %s", a.Body, b.Body)
	}
}

func TestANotificationSurvivesAKill(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.ears.On("POST", "/ops", harness.Hanging(), harness.Answering(204, ""))
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "run.ended")).OK(t)
	id := l.run(t, step("note", "note", doc{"text": "hi"}))
	l.reaches(t, id, "COMPLETED")
	_, first := l.told(t, "/ops", 1)
	l.Kill()
	l.Restart()
	body, second := l.told(t, "/ops", 2)
	if first != second {
		t.Errorf("ids %s and %s", first, second)
	}
	body.Is(t, "data.runId", id)
}

// TestWhatHappenedBeforeAKillIsToldAfterIt: the process is killed before it has searched the log.
func TestWhatHappenedBeforeAKillIsToldAfterIt(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "run.ended")).OK(t)
	var ids []string
	for range 5 {
		ids = append(ids, l.run(t, step("note", "note", doc{"text": "hi"})))
	}
	for _, id := range ids {
		l.reaches(t, id, "COMPLETED")
	}
	l.Kill()
	l.Restart()
	harness.Until(t, "all five runs to be told", func() bool {
		told := map[string]bool{}
		for _, q := range l.ears.Seen("POST", "/ops") {
			told[notification(t, q.Body).At("data.runId").Text()] = true
		}
		return !slices.ContainsFunc(ids, func(id string) bool { return !told[id] })
	})
}

func TestAReceiverThatIsGoneDisablesItsWebhook(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.ears.On("POST", "/ops", harness.Answering(410, ""))
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "run.ended")).OK(t)
	l.reaches(t, l.run(t, step("note", "note", doc{"text": "hi"})), "COMPLETED")
	harness.Until(t, "the webhook to be disabled", func() bool { return l.Admin.Get("/webhooks/ops").OK(t).At("enabled").String() == "false" })
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "revision", 2).Is(t, "pending", 0).Is(t, "lastError", "the receiver answered 410")
	l.Admin.Get("/audit?action=webhooks.disable").OK(t).Is(t, "items.0.subject", "webhook/ops").Is(t, "items.0.actor", "system")
	l.Admin.Put("/webhooks/ops", harness.With(l.hook("/again", "run.ended"), "expectedRevision", 2)).OK(t).Is(t, "enabled", true)
	second := l.run(t, step("note", "note", doc{"text": "hi"}))
	body, _ := l.told(t, "/again", 1)
	body.Is(t, "data.runId", second) // runs that ended while it was disabled are not reported
}

func TestNothingGoesToAnOriginOffTheList(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	stranger := harness.NewReceiver(t)
	refused := func(change string, to any, code string) {
		t.Helper()
		l.Admin.Put("/webhooks/ops", harness.With(l.hook("/ops"), change, to)).Refused(t, code)
	}
	refused("url", stranger.Origin()+"/ops", "origin_not_allowed")
	refused("url", strings.Replace(l.ears.Origin(), "127.0.0.1", "localhost", 1)+"/ops", "origin_not_allowed")
	refused("url", strings.Replace(l.ears.Origin(), "http://", "http://user:pw@", 1), "invalid_request")
	refused("url", "/ops", "invalid_request")
	refused("secretEnv", "PATH", "credential_not_allowed")
	refused("events", []string{"run.began"}, "invalid_request")
	refused("projectIds", []string{"acme-shop"}, "invalid_request")
	refused("expectedRevision", 3, "revision_conflict")
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "run.ended")).OK(t)
	l.Stop()
	l.Restart(harness.Set("NOTIFY_ORIGINS", stranger.Origin()))
	l.reaches(t, l.run(t, step("note", "note", doc{"text": "hi"})), "COMPLETED")
	harness.Until(t, "the refusal to be kept", func() bool {
		return strings.HasSuffix(l.Admin.Get("/webhooks/ops").OK(t).At("lastError").Text(), "is not on the server's list")
	})
	l.Stop()
	l.Restart(harness.Set("NOTIFY_ORIGINS", ""))
	refused("url", l.ears.Origin()+"/ops", "origin_not_allowed")
	if n := l.ears.Connections() + stranger.Connections(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// TestAWebhookIsToldOfItsProjectsOnlyAndFollowsNoRedirect: a redirect is a failure like any other.
func TestAWebhookIsToldOfItsProjectsOnlyAndFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.register(t, "default-two", harness.Project(l.shop.Origin()))
	l.ears.On("POST", "/moved", harness.Redirecting(307, l.ears.Origin()+"/stolen"))
	l.Admin.Put("/webhooks/moved", l.hook("/moved", "run.ended")).OK(t)
	l.Admin.Put("/webhooks/two", harness.With(l.hook("/two"), "projectIds", []string{"default-two"})).OK(t)
	l.reaches(t, l.run(t, step("note", "note", doc{"text": "hi"})), "COMPLETED")
	second := l.run(t, harness.With(step("note", "note", doc{"text": "hi"}), "projectId", "default-two"))
	body, _ := l.told(t, "/two", 1)
	body.Is(t, "data.runId", second).Is(t, "type", "run.ended")
	harness.Until(t, "the redirect to be kept", func() bool {
		return l.Admin.Get("/webhooks/moved").OK(t).At("lastError").Text() == `the receiver answered 307: redirects are not followed; its Location is "`+l.ears.Origin()+`/stolen"`
	})
	if n := len(l.ears.Seen("POST", "/stolen")); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestOneTenantIsNeverToldOfAnother(t *testing.T) {
	t.Parallel()
	l := newListening(t, harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv+",default/"+hookEnv+",acme/"+hookEnv))
	l.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	theirs, _ := l.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	theirs.Put("/webhooks/ops", l.hook("/theirs")).OK(t)
	l.Admin.Put("/webhooks/ops", l.hook("/ours")).OK(t)
	theirs.Get("/webhooks").OK(t).Is(t, "total", 1).Is(t, "items.0.url", l.ears.Origin()+"/theirs")
	l.reaches(t, l.run(t, step("note", "note", doc{"text": "hi"})), "COMPLETED")
	l.told(t, "/ours", 1)
	theirs.Delete("/webhooks/ops").OK(t)
	theirs.Get("/webhooks/ops").Refused(t, "not_found")
	l.Admin.Get("/webhooks/ops").OK(t)
	if n := len(l.ears.Seen("POST", "/theirs")); n != 0 {
		t.Errorf("%d notifications", n)
	}
}

func TestATenantHasAtMostAHundredWebhooks(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	for i := range 100 {
		l.Admin.Put(fmt.Sprintf("/webhooks/w%d", i), l.hook("/w")).OK(t)
	}
	l.Admin.Put("/webhooks/u", l.hook("/u")).Refused(t, "quota_exceeded", "webhooks", "100")
	l.Admin.Put("/webhooks/w0", harness.With(l.hook("/w"), "expectedRevision", 1)).OK(t).Is(t, "revision", 2)
	l.Admin.Delete("/webhooks/w1").OK(t)
	l.Admin.Put("/webhooks/u", l.hook("/u")).OK(t)
}

func TestWebhooksAreKeptByCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t, harness.Set("NOTIFY_ORIGINS", "https://hooks.example.com"))
	admin := func(status int, args ...string) string {
		r := s.command(t, status, append(args, "--profile", "admin")...)
		return r.Out + r.Err
	}
	put := []string{"webhooks", "put", "ops", "--secret-env", harness.SecretEnv, "--to"}
	prints(t, admin(0, append(put, "https://hooks.example.com/x?y=1")...), "saved ops, revision 1")
	prints(t, admin(3, append(put, "https://hooks.example.com/x")...), "revision_conflict", "--revision")
	prints(t, admin(3, append(put, "https://elsewhere.example.com/x", "--revision", "1")...), "origin_not_allowed")
	prints(t, admin(0, append(put, "https://hooks.example.com/x", "--revision", "1", "--event", "run.ended", "--disabled")...), "saved ops, revision 2")
	prints(t, admin(0, "webhooks", "list"), "https://hooks.example.com/x", "run.ended")
	prints(t, admin(0, "webhooks", "delete", "ops"), "deleted ops")
	prints(t, admin(0, "webhooks", "list"), "there are none")
}

// TestAWebhookIsToldOfAStop even if it is limited to projects, and not of a refused attempt.
func TestAWebhookIsToldOfAStop(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.tenantAdmin.Put("/webhooks/stops", harness.With(l.hook("/stops", "live.stopped", "live.going"), "projectIds", []string{shop})).OK(t)
	l.operator.Post("/stop", stopping).Refused(t, "role_required")
	l.stop(t, "")
	l.goOn(t, "*")
	l.goOn(t, "")
	all := l.byType(t, "/stops", 2)
	all["live.stopped"].Is(t, "data.status", "STOPPED").Is(t, "data.tenantId", "default").Is(t, "data.runId", harness.Absent)
	all["live.going"].Is(t, "data.status", "GOING")
}
