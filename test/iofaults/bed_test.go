package iofaults

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// bed is a test bed: a service with what a run needs, namely a shop, an enabled project for it, a model, and a plan of two
// side effects.
type bed struct {
	*harness.Server
	t        *testing.T
	shop     *harness.Receiver
	operator *harness.Client
	plan     string
	models   int // number of models put so far
}

const project = "default-shop"

// newBed starts a service whose store is in a directory.
func newBed(t *testing.T, dir string, settings ...harness.Setting) *bed {
	t.Helper()
	b := &bed{t: t, shop: harness.NewReceiver(t)}
	b.Server = harness.Prepare(t, append(settings,
		harness.Set("STORE", filepath.Join(dir, "store")),
		harness.Set("CONNECTION_ORIGINS", b.shop.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv),
		harness.Env(harness.SecretEnv, harness.Secret))...)
	b.Store = filepath.Join(dir, "store")
	b.Keep(harness.Secret)
	b.Use(binary)
	b.Restart()
	b.operator = b.As(b.Admin.Post("/tokens", doc{"name": "operator", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	b.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	b.Admin.Put("/projects/"+project, harness.Project(b.shop.Origin())).OK(t)
	b.Admin.Post("/projects/"+project+"/health-check", nil).OK(t).Is(t, "healthy", true)
	b.Admin.Post("/projects/"+project+"/enable", doc{"expectedRevision": 1}).OK(t)
	b.plan = b.operator.Post("/plans", doc{
		"name": "plan", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{step("first", "effect"), step("second", "note")},
	}).OK(t).Is(t, "status", "READY").At("id").Text()
	return b
}

func step(id, capability string) doc {
	return doc{"id": id, "name": id, "projectId": project, "capability": capability, "input": doc{"text": id}}
}

// inFlight starts a run and waits until its first call has reached the shop, which answers when the gate is closed.
func (b *bed) inFlight() (run string, gate chan struct{}) {
	b.t.Helper()
	gate = make(chan struct{})
	b.shop.On("POST", "/effect", harness.After(gate, harness.Answering(200, `{"id":"e-1"}`)))
	run = b.operator.Post("/runs", doc{"planId": b.plan}, harness.Header("Idempotency-Key: the-run")).OK(b.t).At("id").Text()
	b.shop.Await(b.t, "POST", "/effect", 1)
	return run, gate
}

// put puts a new model.
func (b *bed) put() *harness.Answer {
	b.t.Helper()
	b.models++
	id := fmt.Sprintf("model-%d", b.models)
	return b.operator.Put("/models/"+id, doc{"document": harness.Model(id)})
}

// reaches waits until a run has a status.
func (b *bed) reaches(run, status string) json {
	b.t.Helper()
	return b.sees(run, "status", status)
}

// sees waits until a field of a run has a value.
func (b *bed) sees(run, path, want string) (found json) {
	b.t.Helper()
	harness.Until(b.t, "run "+run+": "+path+" to be "+want, func() bool {
		found = b.operator.Get("/runs/" + run).OK(b.t)
		return found.At(path).Text() == want
	})
	return found
}

// delivered is how many requests for a path reached the shop.
func (b *bed) delivered(path string) int { return len(b.shop.Seen("POST", path)) }
