// Package soak lets the real binary work for a while, in rounds with a pause after each, and checks that it keeps nothing when it is idle:
// the numbers of goroutines and file descriptors and the memory must not grow.
//
//	go test ./test/soak -for 30m
package soak

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

var lasting = flag.Duration("for", 0, "how long the service is kept at work; 0: for a number of runs")

// perRound is how many runs a round has.
func perRound() int64 {
	if testing.Short() {
		return 6
	}
	return 50
}

// rounds is how often the service works and pauses. The first rounds fill caches and pools.
const (
	rounds = 6
	warm   = 2
)

func TestMain(m *testing.M) { harness.Main(m) }

func TestWorkLeavesNothingBehind(t *testing.T) {
	w := open(t)
	var seen []sample
	for n := range rounds {
		w.work(perRound(), *lasting/rounds)
		w.rest()
		seen = append(seen, w.sample())
		t.Logf("round %d: %s", n+1, seen[n])
	}
	t.Logf("%d runs", w.runs.Load())
	least := seen[warm]
	w.returnsTo(sample{least.goroutines + 4, least.descriptors + 4, 2*least.heap + 16<<20})
}

// sample is what the process holds when it is idle.
type sample struct {
	goroutines, descriptors int
	heap                    int
}

func (s sample) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MiB of heap", s.goroutines, s.descriptors, float64(s.heap)/(1<<20))
}

type soaked struct {
	*harness.Server
	t        *testing.T
	receiver *harness.Receiver
	operator *harness.Client
	approver *harness.Client
	browser  *harness.Browser
	plan     string
	agent    string

	runs, beats atomic.Int64
	last        sample
}

func open(t *testing.T) *soaked {
	t.Helper()
	receiver := harness.NewReceiver(t)
	w := &soaked{t: t, receiver: receiver, Server: harness.Start(t,
		harness.Set("CONNECTION_ORIGINS", receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret),
		harness.Env("GOGC", "50"))} // so that the heap shows what is held, not garbage
	token := func(role string) *harness.Client {
		return w.As(w.Admin.Post("/tokens", harness.Doc{"name": role, "roles": []string{role}}).OK(t).At("token").Text())
	}
	w.operator, w.approver = token("OPERATOR"), token("APPROVER")
	w.operator.Put("/models/refund", harness.Doc{"document": harness.Model("refund")}).OK(t)
	w.Admin.Put("/projects/default-shop", harness.Project(receiver.Origin())).OK(t)
	w.Admin.Post("/projects/default-shop/health-check", nil).OK(t)
	w.Admin.Post("/projects/default-shop/enable", harness.Doc{"expectedRevision": 1}).OK(t)
	step := func(id, capability string, input harness.Doc) harness.Doc {
		return harness.Doc{"id": id, "name": id, "projectId": "default-shop", "capability": capability, "input": input}
	}
	w.plan = w.operator.Post("/plans", harness.Doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		step("a", "note", harness.Doc{}), step("b", "refund", harness.Doc{"orderId": "o"}), step("c", "search", harness.Doc{}),
	}}).OK(t).Is(t, "validationErrors", []string{}).At("id").Text()
	manifest := harness.Doc{"schemaVersion": "1.0", "agents": []any{harness.Doc{
		"externalAgentId": "a", "sourceRevision": 1, "name": "a", "role": "r", "goal": "g", "capabilities": []any{"note"},
	}}}
	w.agent = w.operator.Post("/systems/default-shop/agents/sync", manifest).OK(t).At("items.0.id").Text()
	w.Admin.Put("/users/ada@example.com", harness.Doc{"roles": []string{"VIEWER"}}).OK(t)
	w.browser = w.NewBrowser()
	w.browser.SignIn("ada@example.com")
	w.Keep(w.browser.Session())
	return w
}

// work keeps the service at work with so many runs, or for so long. Each run has a viewer and a reviewer; meanwhile there are heartbeats,
// pages, and callers that disconnect.
func (s *soaked) work(runs int64, d time.Duration) {
	until := time.Now().Add(d)
	var all sync.WaitGroup
	var started atomic.Int64
	for range 2 {
		all.Go(func() {
			for (started.Add(1) <= runs || time.Now().Before(until)) && !s.t.Failed() {
				s.run()
			}
		})
	}
	for _, do := range []func(){s.beat, s.read, s.leave} {
		all.Go(func() {
			for n := int64(0); (n < runs || time.Now().Before(until)) && !s.t.Failed(); n++ {
				do()
			}
		})
	}
	all.Wait()
}

// run starts a run, watches it and decides its approval.
func (s *soaked) run() {
	n := s.runs.Add(1)
	a := s.operator.Post("/runs", harness.Doc{"planId": s.plan}, harness.Header(fmt.Sprintf("Idempotency-Key: soak-%d", n)))
	if a.Status == 503 {
		return
	}
	id := a.OK(s.t).At("id").Text()
	events := s.operator.Events(s.t, "/runs/"+id+"/events")
	for {
		e, ok := events.Next(s.t)
		if !ok {
			return
		}
		if approval := e.Data.At("waitingFor.approvalId").Text(); e.Data.At("waitingFor.kind").Text() == "approval" && approval != "" {
			s.approver.Post("/approvals/"+approval+"/decision", harness.Doc{"decision": "APPROVED", "reason": "r"})
		}
	}
}

func (s *soaked) beat() {
	n := s.beats.Add(1)
	s.operator.Post("/agents/"+s.agent+"/heartbeat", harness.Doc{"instanceId": "i", "sequence": n, "state": "IDLE", "timestamp": time.Now().UTC().Format(time.RFC3339Nano)}).OK(s.t)
}

func (s *soaked) read() {
	for _, path := range []string{"/", "/runs", "/audit"} {
		s.browser.Open(path)
	}
	s.operator.Get("/runs?limit=5").OK(s.t)
}

// leave opens an event stream and disconnects in the middle.
func (s *soaked) leave() {
	list := s.operator.Get("/runs?limit=1&status=WAITING_APPROVAL").OK(s.t).At("items").Items()
	if len(list) == 0 {
		s.operator.Get("/health").OK(s.t)
		return
	}
	s.operator.Events(s.t, "/runs/"+list[0].At("id").Text()+"/events").Close()
}

// rest waits until the service is idle.
func (s *soaked) rest() {
	s.CloseIdle()
	s.browser.CloseIdle()
	last := -1
	harness.Until(s.t, "the service to be at rest", func() bool {
		now := s.sample().goroutines
		still := now == last
		last = now
		return still
	})
}

// returnsTo waits until the process holds no more than this. Releasing may take time; the test fails if it never happens.
func (s *soaked) returnsTo(most sample) {
	s.t.Helper()
	s.t.Logf("it may hold %s", most)
	defer func() { s.t.Logf("it holds %s", s.last) }()
	harness.Until(s.t, "the service to hold no more", func() bool {
		s.last = s.sample()
		return s.last.goroutines <= most.goroutines && s.last.descriptors <= most.descriptors && s.last.heap <= most.heap
	})
}

func (s *soaked) sample() sample {
	figures := s.Admin.Get("/metrics").OK(s.t)
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.PID()))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return sample{
		goroutines: figures.At("countersign_goroutines").Int(), descriptors: len(entries), heap: figures.At("countersign_heap_bytes").Int(),
	}
}
