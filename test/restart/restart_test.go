// Package restart checks a start of the real binary on a store with history: what it finds, and how much it reads.
//
//	go test ./test/restart -stored 10000 -unfinished 100 -within 3s
package restart

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	stored     = campaign.SizeFlag("stored", 80, 300, "runs that the store holds")
	unfinished = campaign.SizeFlag("unfinished", 4, 20, "how many of them wait for an approval")
	within     = flag.Duration("within", 0, "how soon the service must be ready; 0 only tells")
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestRestartFindsEveryRun: after kill -9 on a store with many runs every run exists, and waiting runs still wait.
func TestRestartFindsEveryRun(t *testing.T) {
	w := open(t)
	waiting := make([]string, unfinished.N())
	for i := range waiting {
		waiting[i] = w.waits(t)
	}
	w.startMany(t, stored.N()-unfinished.N())
	w.Kill()
	began := time.Now()
	w.Restart()
	took := time.Since(began)
	t.Logf("ready %s after the start, with %d runs, %d of them unfinished", took.Round(time.Millisecond), stored.N(), unfinished.N())
	if *within > 0 && took > *within {
		t.Errorf("ready after %s; the goal is %s", took, *within)
	}
	if n := w.operator.Get("/runs?limit=1").OK(t).At("total").Int(); n != stored.N() {
		t.Errorf("%d runs are there of %d", n, stored.N())
	}
	for _, id := range waiting {
		w.operator.Get("/runs/"+id).OK(t).Is(t, "status", "WAITING_APPROVAL").Is(t, "waitingFor.kind", "approval")
	}
}

type world struct {
	*harness.Server
	operator        *harness.Client
	live, rehearsal string
}

func open(t *testing.T) *world {
	t.Helper()
	receiver := harness.NewReceiver(t)
	w := &world{Server: harness.Start(t,
		harness.Set("CONNECTION_ORIGINS", receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	w.operator = w.As(w.Admin.Post("/tokens", harness.Doc{"name": "operator", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	w.operator.Put("/models/refund", harness.Doc{"document": harness.Model("refund")}).OK(t)
	w.Admin.Put("/projects/default-shop", harness.Project(receiver.Origin())).OK(t)
	w.Admin.Post("/projects/default-shop/health-check", nil).OK(t)
	w.Admin.Post("/projects/default-shop/enable", harness.Doc{"expectedRevision": 1}).OK(t)
	w.live, w.rehearsal = w.plan(t, "LIVE"), w.plan(t, "DRY_RUN")
	return w
}

func (w *world) plan(t *testing.T, mode string) string {
	t.Helper()
	step := harness.Doc{"id": "r", "name": "r", "projectId": "default-shop", "capability": "refund", "input": harness.Doc{"orderId": "o"}}
	return w.operator.Post("/plans", harness.Doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": mode, "steps": []any{step}}).OK(t).Is(t, "status", "READY").At("id").Text()
}

var keys struct {
	sync.Mutex
	n int
}

func (w *world) start(t *testing.T, plan string) string {
	keys.Lock()
	keys.n++
	key := harness.Header(fmt.Sprintf("Idempotency-Key: key-%d", keys.n))
	keys.Unlock()
	var id string
	harness.Until(t, "a slot", func() bool {
		a := w.operator.Post("/runs", harness.Doc{"planId": plan}, key)
		if a.Status == 503 {
			return false
		}
		id = a.OK(t).At("id").Text()
		return true
	})
	return id
}

// waits starts a run that waits for an approval.
func (w *world) waits(t *testing.T) (id string) {
	t.Helper()
	id = w.start(t, w.live)
	harness.Until(t, "the approval", func() bool {
		return w.operator.Get("/runs/"+id).OK(t).At("status").Text() == "WAITING_APPROVAL"
	})
	return id
}

func (w *world) waitUntilAllHaveEnded(t *testing.T) {
	t.Helper()
	harness.Until(t, "all runs to end", func() bool {
		m := w.Admin.Get("/metrics").OK(t).At("countersign_unfinished_runs")
		return m.At("active").Int() == 0 && m.At("queued").Int() == 0
	})
}

// startMany starts rehearsals, a few concurrently.
func (w *world) startMany(t *testing.T, n int) {
	var wg sync.WaitGroup
	turns := make(chan struct{}, n)
	for range n {
		turns <- struct{}{}
	}
	close(turns)
	for range 3 {
		wg.Go(func() {
			for range turns {
				w.start(t, w.rehearsal)
			}
		})
	}
	wg.Wait()
}
