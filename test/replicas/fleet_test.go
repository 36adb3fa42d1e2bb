package replicas

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

const (
	count     = 3
	bootstrap = "bootstrap-of-the-replicas-0123456789"
)

var (
	limit = campaign.SizeFlag("limit", 8, 64, "how many runs may be active")
	some  = campaign.SizeFlag("some", 6, 50, "how many further runs are acknowledged before the next trouble")
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

// fleet is the replicas and what they have acknowledged.
type fleet struct {
	t        *testing.T
	database string
	receiver *harness.Receiver
	plan     string
	token    string
	patience time.Duration // how long a client waits before it asks another replica

	places   sync.RWMutex // guards which process is in which place
	replicas [count]*harness.Server
	filling  sync.Mutex
	names    [count]string // replica ids of the processes

	mu     sync.Mutex
	models []string         // acknowledged models
	runs   map[string]bool  // acknowledged runs
	states map[string]state // the latest state seen of each run
	tally  map[string]int   // counts of the results of requests
	active int              // the largest number of active runs seen
	starts atomic.Int64
	wanted atomic.Int32 // how many callers wait for the load
}

func assemble(t *testing.T, url string) *fleet {
	t.Helper()
	f := &fleet{t: t, database: url, receiver: harness.NewReceiver(t), patience: 20 * time.Second, runs: map[string]bool{}, states: map[string]state{}, tally: map[string]int{}}
	for place := range f.replicas {
		f.fill(place, "")
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
		step("a", "note"), step("b", "patient"), step("c", "note"),
	}}).OK(t).Is(t, "validationErrors", []string{}).At("id").Text()
	return f
}

// fill starts a process of that program in a place that is empty or whose process has ended. Clients find it there when it listens.
func (f *fleet) fill(place int, program string) {
	f.t.Helper()
	s := harness.Prepare(f.t, harness.Set("STORE", f.database), harness.Set("BOOTSTRAP_TOKEN", bootstrap), harness.Set("MAX_ACTIVE_RUNS", fmt.Sprint(limit.N())),
		harness.Set("CONNECTION_ORIGINS", f.receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	s.MayLogErrors(true)
	s.Admin = s.As(bootstrap)
	s.Use(program)
	f.filling.Lock()
	defer f.filling.Unlock()
	before := f.members()
	s.Restart()
	joined := slices.DeleteFunc(f.members(), func(name string) bool { return slices.Contains(before, name) })
	if len(joined) != 1 {
		f.t.Errorf("%v joined instead of one process", joined)
	}
	f.places.Lock()
	defer f.places.Unlock()
	f.replicas[place], f.names[place] = s, strings.Join(joined, "")
}

// members are the ids of the processes that have a lease.
func (f *fleet) members() []string {
	names, err := pgtest.Ask(f.database, "SELECT COALESCE(string_agg(id, ','), '') FROM meta WHERE id LIKE 'replica%'")
	if err != nil && f.at(0) != nil { // before the first process there are no tables
		f.t.Error(err)
	}
	return strings.Split(names, ",")
}

// isMember reports whether the process in a place has a lease.
func (f *fleet) isMember(place int) bool {
	f.places.RLock()
	name := f.names[place]
	f.places.RUnlock()
	return slices.Contains(f.members(), name)
}

// at is the process in a place.
func (f *fleet) at(place int) *harness.Server {
	f.places.RLock()
	defer f.places.RUnlock()
	return f.replicas[place]
}

// client is an SDK client of one of the replicas.
func (f *fleet) client() *client.Client {
	return f.at(rand.N(count)).As(f.token).SDK(func(c *client.Config) { c.Timeout = f.patience })
}

// wellAfter is the time until every replica commits something again.
func (f *fleet) wellAfter() time.Duration {
	began := time.Now()
	for place := range f.replicas {
		harness.Until(f.t, "a replica to be well", func() bool {
			a, err := f.at(place).As(f.token).Try("POST", "/tokens", harness.Doc{"name": fmt.Sprint("after ", place), "roles": []string{"VIEWER"}})
			return err == nil && a.Status == 201
		})
	}
	return time.Since(began)
}

// wellWithin logs the time until all replicas were well, and checks it if a goal was given.
func (f *fleet) wellWithin(took time.Duration) {
	f.t.Helper()
	f.t.Logf("well again after %s at most", took.Round(time.Millisecond))
	if *within > 0 && took > *within {
		f.t.Errorf("well again after %s; the goal is %s", took, *within)
	}
}

// await waits for a condition. Its timeout is long, since a lease alone takes ten seconds.
func (f *fleet) await(what string, holds func() bool) {
	f.t.Helper()
	const net = 5 * time.Minute
	for until := time.Now().Add(net); !holds(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(until) {
			f.t.Errorf("waited %s in vain: %s", net, what)
			return
		}
		if f.t.Failed() {
			return
		}
	}
}

// mustLive fails the test for each replica whose process has ended.
func (f *fleet) mustLive() {
	f.t.Helper()
	for place := range f.replicas {
		if f.at(place).Ended() {
			f.t.Errorf("replica %d ended:\n%s", place, f.at(place).Log())
		}
	}
}

// audited verifies the audit log and returns its number of records. The replicas share a clock that nobody sets back, so no record
// is marked so.
func (f *fleet) audited() int {
	f.t.Helper()
	for line := range strings.Lines(f.at(0).Admin.Do("GET", "/audit/export", nil, "Accept: application/x-ndjson").Raw) {
		if strings.Contains(line, `"clockBack":true`) {
			f.t.Errorf("a record is marked as of a clock that was set back: %s", line)
		}
	}
	return f.at(0).Admin.Get("/audit/verify").OK(f.t).Is(f.t, "intact", true).At("records").Int()
}
