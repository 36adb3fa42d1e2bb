// Package replicas has several processes of the real binary on one PostgreSQL:
// some are killed, some stand still for longer than their lease, and a receiver
// counts.
//
//	go test ./test/replicas -for 3m
package replicas

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/store/postgres/pgtest"
	"github.com/countersign/countersign/test/harness"
)

var lasting = flag.Duration("for", 20*time.Second, "how long replicas are killed and frozen under load")

const (
	count  = 3
	limit  = 64
	frozen = 13 * time.Second // longer than a lease
)

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err == nil {
		err = harness.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := pgtest.M{M: m}.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// fleet is the replicas and what is known of the runs that they acknowledged.
type fleet struct {
	t        *testing.T
	receiver *harness.Receiver
	plan     string
	token    string

	addresses sync.RWMutex // of the replicas: they change with a restart
	replicas  []*harness.Server

	mu     sync.Mutex
	runs   map[string]bool
	starts atomic.Int64
}

func assemble(t *testing.T, url string) *fleet {
	t.Helper()
	f := &fleet{t: t, receiver: harness.NewReceiver(t), runs: map[string]bool{}}
	const bootstrap = "bootstrap-of-the-replicas-0123456789"
	for range count {
		f.replicas = append(f.replicas, harness.Start(t, harness.Set("STORE", url), harness.Set("BOOTSTRAP_TOKEN", bootstrap), harness.Set("MAX_ACTIVE_RUNS", fmt.Sprint(limit)),
			harness.Set("CONNECTION_ORIGINS", f.receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret)))
		s := f.replicas[len(f.replicas)-1]
		s.MayLogErrors(true)
		s.Admin = s.As(bootstrap)
	}
	admin := f.replicas[0].Admin
	f.token = admin.Post("/tokens", harness.Doc{"name": "all", "roles": []string{"OPERATOR", "ADMIN"}}).OK(t).At("token").Text()
	operator := f.replicas[1].As(f.token)
	operator.Put("/models/refund", harness.Doc{"document": harness.Model("refund")}).OK(t)
	admin.Put("/projects/default-shop", harness.Project(f.receiver.Origin())).OK(t)
	f.replicas[2].Admin.Post("/projects/default-shop/health-check", nil).OK(t)
	admin.Post("/projects/default-shop/enable", harness.Doc{"expectedRevision": 1}).OK(t)
	step := func(id, capability string) harness.Doc {
		return harness.Doc{"id": id, "name": id, "projectId": "default-shop", "capability": capability, "input": harness.Doc{}}
	}
	f.plan = operator.Post("/plans", harness.Doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		step("a", "note"), step("b", "search"), step("c", "note"),
	}}).OK(t).Is(t, "validationErrors", []string{}).At("id").Text()
	return f
}

// client is that of one of the replicas, as it can be reached now.
func (f *fleet) client() *client.Client {
	f.addresses.RLock()
	defer f.addresses.RUnlock()
	return f.replicas[rand.N(len(f.replicas))].As(f.token).SDK(func(c *client.Config) { c.Timeout = 20 * time.Second })
}

// start asks one replica after the other for a run under one key, until one
// acknowledges it.
func (f *fleet) start(until time.Time) {
	key := client.Key(fmt.Sprintf("key-%d", f.starts.Add(1)))
	for time.Now().Before(until) {
		r, err := f.client().StartRun(f.t.Context(), countersign.RunStart{PlanID: f.plan}, key)
		var lost *client.ConnectionError
		switch {
		case err == nil:
			f.mu.Lock()
			f.runs[r.ID] = true
			f.mu.Unlock()
			return
		case !errors.As(err, &lost) && !errors.Is(err, client.ErrCapacity) && !errors.Is(err, client.ErrUnavailable) && !errors.Is(err, client.ErrInternal):
			f.t.Error(err)
			return
		}
	}
}

// trouble kills one replica and freezes another, again and again.
func (f *fleet) trouble(until time.Time) {
	for n := 0; time.Now().Before(until); n++ {
		s := f.replicas[n%count]
		if n%3 == 1 {
			s.Freeze()
			time.Sleep(frozen) // what is measured, not what is waited for
			s.Thaw()
			f.mayEnd(s)
		} else {
			s.Kill()
		}
		if s.Ended() {
			f.addresses.Lock()
			s.Restart()
			f.addresses.Unlock()
		}
		time.Sleep(time.Second)
	}
}

// mayEnd waits for a replica that stood still: it notices that it was taken for
// dead, and ends.
func (f *fleet) mayEnd(s *harness.Server) {
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && !s.Ended(); {
	}
	if !s.Ended() {
		f.t.Error("a replica that stood still for longer than its lease goes on")
	}
}

func TestNothingIsSentTwiceOrLostWhenReplicasDieOrStandStill(t *testing.T) {
	f := assemble(t, pgtest.Database(t))
	until := time.Now().Add(*lasting)
	f.load(until, func() { f.trouble(until) })
	uncertain := f.settled()
	t.Logf("%d runs acknowledged, %d uncertain, %d notes received", len(f.runs), uncertain, len(f.receiver.Seen("POST", "/notes")))
	if uncertain == len(f.runs) {
		t.Error("nothing was carried out")
	}
}

// settled waits until no run is active any more, and counts those that wait for a
// person.
func (f *fleet) settled() (uncertain int) {
	f.t.Helper()
	for id := range f.runs {
		status := ""
		harness.Until(f.t, "run "+id+" to end or to wait for a person", func() bool {
			a, err := f.replicas[0].As(f.token).Try("GET", "/runs/"+id, nil)
			if err != nil {
				return false
			}
			status = a.OK(f.t).At("status").Text()
			return status != "READY" && status != "RUNNING"
		})
		if status == "RECOVERY_REQUIRED" {
			uncertain++
		} else if status != "COMPLETED" {
			f.t.Errorf("run %s is %s", id, status)
		}
	}
	return uncertain
}

// load starts runs from several sides until then, beside what else is done.
func (f *fleet) load(until time.Time, beside func()) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for time.Now().Before(until) && !f.t.Failed() {
				f.start(until)
			}
		})
	}
	all.Go(beside)
	all.Wait()
}

// TestARestartOfPostgreSQLLosesNothing that was acknowledged, ends no replica, and
// is over some seconds after the database is back.
func TestARestartOfPostgreSQLLosesNothing(t *testing.T) {
	database := pgtest.Start(t)
	f := assemble(t, database.Database(t))
	until := time.Now().Add(*lasting)
	var longest time.Duration
	f.load(until, func() {
		for n := 0; time.Now().Before(until); n++ {
			if n%2 == 0 {
				database.Stop(t)
			} else {
				database.Kill(t)
			}
			database.Start(t)
			longest = max(longest, f.wellAfter())
		}
	})
	uncertain := f.settled()
	for _, s := range f.replicas {
		if s.Ended() {
			t.Error("a replica ended")
		}
	}
	t.Logf("%d runs acknowledged, %d uncertain; well again after %s at most", len(f.runs), uncertain, longest.Round(time.Millisecond))
	if longest > 10*time.Second {
		t.Errorf("well again after %s", longest)
	}
}

// wellAfter is how long it takes until every replica commits something again.
func (f *fleet) wellAfter() time.Duration {
	began := time.Now()
	for n, s := range f.replicas {
		harness.Until(f.t, "a replica to be well", func() bool {
			a, err := s.As(f.token).Try("POST", "/tokens", harness.Doc{"name": fmt.Sprint("after ", n), "roles": []string{"VIEWER"}})
			return err == nil && a.Status == 201
		})
	}
	return time.Since(began)
}
