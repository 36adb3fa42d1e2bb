package test

import (
	encoding "encoding/json"
	"fmt"
	"hash/crc32"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

type (
	doc  = harness.Doc
	json = harness.JSON
)

// world is a server with everything that a run needs: a receiver, an enabled project `default-shop` at it, a model `refund`, and one
// principal of each role.
type world struct {
	*harness.Server
	shop *harness.Receiver

	operator, approver, viewer, tenantAdmin *harness.Client
}

const shop = "default-shop"

// newWorld makes a world in its own tenant on a shared server; with settings it has its own server.
func newWorld(t *testing.T, settings ...harness.Setting) *world {
	t.Helper()
	if len(settings) > 0 {
		return ownWorld(t, settings...)
	}
	w := &world{}
	w.Server, w.shop = harness.Tenant(t)
	w.furnish(t)
	return w
}

// tenant is an empty tenant on a shared server.
func tenant(t *testing.T) *harness.Server {
	t.Helper()
	s, _ := harness.Tenant(t)
	return s
}

// ownWorld makes a world on its own server; the settings are added to the necessary ones.
func ownWorld(t *testing.T, settings ...harness.Setting) *world {
	t.Helper()
	w := &world{shop: harness.NewReceiver(t)}
	w.Server = harness.Start(t, append([]harness.Setting{
		harness.Set("CONNECTION_ORIGINS", w.shop.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv),
		harness.Env(harness.SecretEnv, harness.Secret),
	}, settings...)...)
	w.furnish(t)
	return w
}

func (w *world) furnish(t *testing.T) {
	t.Helper()
	w.Keep(harness.Secret)
	w.operator, w.approver = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER")
	w.viewer, w.tenantAdmin = w.principal(t, "VIEWER"), w.principal(t, "ADMIN")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	w.register(t, shop, harness.Project(w.shop.Origin()))
}

// principal makes a token of these roles.
func (w *world) principal(t *testing.T, roles ...string) *harness.Client {
	t.Helper()
	c, _ := w.token(t, doc{"roles": roles})
	return c
}

// token creates a token and returns its client and record.
func (w *world) token(t *testing.T, write doc) (*harness.Client, json) {
	t.Helper()
	if write["name"] == nil {
		write = harness.With(write, "name", "test")
	}
	made := w.Admin.Post("/tokens", write).OK(t)
	return w.As(made.At("token").Text()), made
}

// register stores a new project, checks its health and enables it.
func (w *world) register(t *testing.T, id string, project doc) {
	t.Helper()
	rev := w.Admin.Put("/projects/"+id, project).OK(t).At("revision").Int()
	w.enable(t, id, rev)
}

func (w *world) enable(t *testing.T, id string, revision int) {
	t.Helper()
	w.Admin.Post("/projects/"+id+"/health-check", nil).OK(t).Is(t, "healthy", true)
	w.Admin.Post("/projects/"+id+"/enable", doc{"expectedRevision": revision}).OK(t).Is(t, "enabled", true)
}

// step is a plan's step on the shop.
func step(id, capability string, input doc) doc {
	s := doc{"id": id, "name": id, "projectId": shop, "capability": capability}
	if input != nil {
		s["input"] = input
	}
	return s
}

// planOf is a LIVE plan of these steps, with revision 1 of the model.
func planOf(steps ...doc) doc {
	list := make([]any, len(steps))
	for i, s := range steps {
		list[i] = s
	}
	return doc{"name": "plan", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": list}
}

// ready stores a plan, which must be READY, and returns its id.
func (w *world) ready(t *testing.T, plan doc) string {
	t.Helper()
	return w.operator.Post("/plans", plan).OK(t).Is(t, "validationErrors", []string{}).Is(t, "status", "READY").At("id").Text()
}

var keys atomic.Int64

// key is a new idempotency key.
func key() harness.Header {
	return harness.Header(fmt.Sprintf("Idempotency-Key: key-%d", keys.Add(1)))
}

// start starts a run of a plan and returns its id.
func (w *world) start(t *testing.T, planID string) string {
	t.Helper()
	return w.operator.Post("/runs", doc{"planId": planID}, key()).OK(t).At("id").Text()
}

// run stores a plan of these steps and starts it.
func (w *world) run(t *testing.T, steps ...doc) string {
	t.Helper()
	return w.start(t, w.ready(t, planOf(steps...)))
}

// reaches waits until a run has a status, and returns the run.
func (w *world) reaches(t *testing.T, runID, status string) (run json) {
	t.Helper()
	harness.Until(t, "run "+runID+" to be "+status, func() bool {
		run = w.Admin.Get("/runs/" + runID).OK(t)
		got := run.At("status").Text()
		if got != status && (got == "COMPLETED" || got == "FAILED" || got == "CANCELLED" || got == "RECOVERY_REQUIRED") {
			t.Fatalf("the run is %s; expected %s: %s", got, status, run)
		}
		return got == status
	})
	return run
}

// approval waits for the pending approval of a run, and returns it.
func (w *world) approval(t *testing.T, runID string) json {
	t.Helper()
	run := w.reaches(t, runID, "WAITING_APPROVAL")
	return w.Admin.Get("/approvals/" + run.At("approvalId").Text()).OK(t)
}

// approve approves a run's pending approval.
func (w *world) approve(t *testing.T, runID string) {
	t.Helper()
	id := w.approval(t, runID).At("id").Text()
	w.approver.Post("/approvals/"+id+"/decision", doc{"decision": "APPROVED", "reason": "fine"}).OK(t).Is(t, "status", "APPROVED")
}

// uncertain makes a RECOVERY_REQUIRED run of one `note` and returns it.
func (w *world) uncertain(t *testing.T) json {
	t.Helper()
	w.shop.On("POST", "/notes", harness.Answering(500, `{}`), harness.Answering(200, `{"ok":true}`))
	return w.reaches(t, w.run(t, step("note", "note", doc{"text": "hello"})), "RECOVERY_REQUIRED")
}

// number is a number with these digits.
func number(digits string) encoding.Number { return encoding.Number(digits) }

var stepID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// instant parses the time at a path.
func instant(t *testing.T, record json, path string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, record.At(path).Text())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// checksum is the checksum of a token's body: CRC32 in six base62 characters.
func checksum(body string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	n := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		out[i] = digits[n%62]
		n /= 62
	}
	return string(out)
}
