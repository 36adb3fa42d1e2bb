package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// hour is the benchmark of an installation at work: at half of its best throughput, with all
// that people, programs and agents do beside it. It shows whether any route gets slower with
// time, and checks at the end that everything went as it should.
type hour struct {
	workload
	length, try, beat, retention       time.Duration
	rate, approvals                    float64
	viewers, people, agents, instances int

	*testbed
	best            float64 // steps a second, while nothing else went on
	plain, approved *planKind
	earlier         map[string]bool // runs from before the hour
	fleet           *fleet
	routes          *routes
	log             *deliveries
	service         *os.File // the service's own log
	started         struct{ plain, approved *recent }
	keys            *recent
	browsers        []*browser
	use             []partUse
}

// hourParts is how many parts are compared: of an hour, ten minutes each.
const hourParts = 6

func measureHour(args []string) (err error) {
	var h hour
	f := flag.NewFlagSet("bench hour", flag.ExitOnError)
	h.flags(f)
	f.DurationVar(&h.length, "for", time.Hour, "how long; it is compared in six parts")
	f.Float64Var(&h.rate, "rate", 0, "runs that start in a second; 0: half of the best throughput, which is measured first")
	f.DurationVar(&h.try, "try", 4*time.Second, "length of each turn that measures the best throughput")
	f.Float64Var(&h.approvals, "approvals", 1, "runs with an approval that start in a second, besides; 20 people decide some 1.5")
	f.IntVar(&h.viewers, "viewers", 50, "viewers on event streams, half of them browsers")
	f.IntVar(&h.people, "people", 20, "signed-in people who decide")
	f.IntVar(&h.agents, "agents", 100, "agents")
	f.IntVar(&h.instances, "instances", 100, "instances of each agent")
	f.DurationVar(&h.beat, "beat", 30*time.Second, "how often each instance sends a heartbeat")
	f.DurationVar(&h.retention, "retention", 0, "how long a run stays until it is archived; 0: a fifth of a part, at least a minute; below 0: for ever")
	_ = f.Parse(args) // exits on an error
	if h.retention == 0 {
		h.retention = max(h.length/hourParts/5, time.Minute) // longer than people look at a run, and soon enough for the first part
	}
	if err := errors.Join(h.open(), h.prepare()); err != nil {
		h.clear()
		return err
	}
	defer h.clear()
	here := watchMachine()
	h.work()
	found := h.check()
	h.print()
	here.print()
	return h.conclude(found)
}

// mostConnections bounds the connections to the service, below what processes may have open.
// What is due while all are taken waits in this process, and its latency counts. Those who
// start runs have a part of it to themselves, so that starts which wait for the service keep
// nobody else from it.
const (
	mostConnections = 4096
	ofStarts        = 1024
)

// starters is the client of those who start runs.
var starters = &http.Client{Transport: &http.Transport{
	MaxConnsPerHost: ofStarts, MaxIdleConns: ofStarts, MaxIdleConnsPerHost: ofStarts, IdleConnTimeout: time.Minute,
}}

// open starts the service. It may have more runs under way at once than half of its throughput
// needs: after a stall the starts that were due meanwhile wait for the service, not for slots.
func (h *hour) open() (err error) {
	h.conc = 256
	const others = mostConnections - ofStarts
	connections := client.Transport.(*http.Transport)
	connections.MaxConnsPerHost, connections.MaxIdleConns, connections.MaxIdleConnsPerHost = others, others, others
	if h.testbed, err = h.newTestbed(); err != nil {
		return err
	}
	if h.service, err = os.Create(filepath.Join(h.testbed.dir, "log")); err != nil {
		return err
	}
	h.p = newProduct(h.binary, h.testbed.dir, h.r, h.conc)
	h.p.log = h.service
	h.p.settings = []string{"SVC_PLATFORM_LOG=json", "SVC_PLATFORM_MAX_INSTANCES_PER_AGENT=" + strconv.Itoa(max(h.instances, 1))}
	if h.retention > 0 {
		h.p.settings = append(h.p.settings, "SVC_PLATFORM_RETENTION="+h.retention.String())
	}
	if err := h.p.start(); err != nil {
		return err
	}
	return h.p.prepare()
}

func (h *hour) clear() {
	if h.testbed != nil {
		h.testbed.clear()
	}
	if h.service != nil {
		_ = h.service.Close()
	}
}

// prepare measures the best throughput, and makes the plans, the people and the agents.
func (h *hour) prepare() (err error) {
	for _, conc := range []int{4, 32} {
		res, err := h.p.drive(conc, h.try)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d runs at once: %.0f steps/s\n", conc, res.stepsPerSecond())
		h.best = max(h.best, res.stepsPerSecond())
	}
	if h.rate == 0 {
		h.rate = h.best / 2 / float64(h.steps)
	}
	ids, err := h.p.finished()
	if err != nil {
		return err
	}
	h.earlier = map[string]bool{}
	for _, id := range ids {
		h.earlier[id] = true
	}
	h.plain = &planKind{id: h.p.plan, steps: h.steps}
	if h.approved, err = h.p.planWithApproval(); err != nil {
		return err
	}
	for i := range h.people + h.viewers/2 {
		roles := []string{"VIEWER"}
		if i < h.people {
			roles = []string{"APPROVER", "ADMIN"} // who may read the audit log besides
		}
		b, err := h.p.signIn(fmt.Sprintf("user%03d@example.com", i), roles...)
		if err != nil {
			return err
		}
		h.browsers = append(h.browsers, b)
	}
	return h.enlist()
}

func (h *hour) enlist() (err error) {
	if h.fleet, err = h.p.enlist(h.agents, h.instances, 200); err != nil {
		return err
	}
	first := h.fleet.volley(h.p, len(h.fleet.instances), time.Millisecond)
	h.fleet.shuffle()
	return first.failed
}

// planWithApproval makes a plan of a step, one that waits for an approval, and another.
func (p *product) planWithApproval() (*planKind, error) {
	admin := &product{base: p.base, token: bootstrap}
	_, err := admin.must("PUT", "/projects/default-pay", object{
		"name": "pay", "adapter": "HTTP_JSON", "baseUrl": p.r.origin, "healthPath": "/health",
		"auth":         object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"},
		"capabilities": []object{{"name": "pay", "title": "Pay {amount}", "method": "POST", "path": "/step", "sideEffect": true, "approval": "ALWAYS"}},
	})
	if err == nil {
		_, err = admin.must("POST", "/projects/default-pay/health-check", nil)
	}
	if err == nil {
		_, err = admin.must("POST", "/projects/default-pay/enable", object{"expectedRevision": 1})
	}
	if err != nil {
		return nil, err
	}
	all := steps(3)
	all[1]["id"], all[1]["projectId"], all[1]["capability"] = "a1", "default-pay", "pay"
	all[2]["dependsOn"] = []string{"a1"}
	plan, err := p.must("POST", "/plans", object{"name": "with an approval", "modelId": "bench", "modelRevision": 1, "mode": "LIVE", "steps": all})
	if err == nil && plan["status"] != "READY" {
		err = fmt.Errorf("plan: %v", plan["validationErrors"])
	}
	if err != nil {
		return nil, err
	}
	return &planKind{id: plan["id"].(string), steps: len(all), before: 1}, nil
}

// work has everybody do what they do until the time is over, and returns when what was due has
// been answered.
func (h *hour) work() {
	begin := time.Now()
	h.routes = newRoutes(begin, h.length, hourParts)
	h.log = newDeliveries()
	h.log.gap = func(due time.Time, d time.Duration) { h.routes.took(gapRow, due, d) }
	h.log.end = func(due time.Time, d time.Duration) { h.routes.took(fmt.Sprintf(endRow, h.steps), due, d) }
	h.r.log.Store(h.log)
	h.started.plain, h.started.approved, h.keys = newRecent(1024), newRecent(64), newRecent(64)
	fmt.Fprintf(os.Stderr, "%.1f runs a second of %d steps, and %.1f with an approval, for %s\n", h.rate, h.steps, h.approvals, h.length)
	ctx, cancel := context.WithDeadline(context.Background(), begin.Add(h.length))
	defer cancel()
	var all sync.WaitGroup
	for _, a := range h.loads() {
		all.Go(func() { a.run(ctx, begin) })
	}
	for i, b := range h.browsers {
		b.routes = h.routes
		if i < h.people {
			all.Go(func() { (&person{b, h.log, i, h.people}).work(ctx) })
		}
	}
	for i := range h.viewers {
		f := &follower{p: h.p, routes: h.routes, log: h.log, waiting: h.started.approved, anything: h.started.plain}
		if n := h.people + i; n < len(h.browsers) {
			f.browser = h.browsers[n]
		}
		all.Go(func() { f.work(ctx) })
	}
	all.Go(func() { h.watch(begin) })
	all.Wait()
}

// Rows that are no route.
const (
	gapRow  = "A step: from an answer to the same run's next request"
	endRow  = "A run of %d steps: from when its start was due to its last answer"
	lateRow = "The benchmark itself: how late it began to send"
)

// loads are what programs and agents send, by the clock.
func (h *hour) loads() []arrivals {
	seed := uint64(0)
	every := func(perSecond float64, do func(n int, due time.Time)) arrivals {
		seed++
		return arrivals{time.Duration(float64(time.Second) / perSecond), rand.New(rand.NewPCG(seed, 0)), do}
	}
	all := []arrivals{
		every(h.rate, h.start(h.plain, h.started.plain)),
		every(h.rate/10, h.read("GET /runs/{id}", h.p.token, func() string { return h.path("/runs/", h.started.plain.back(rand.IntN(256)), "") })),
		every(1, h.read("GET /runs/{id}/receipt", h.p.token, func() string { return h.path("/runs/", h.ended(), "/receipt") })),
		every(1, h.read("GET /runs, 20 newest", h.p.token, func() string { return "/runs?limit=20" })),
		every(0.5, h.read("GET /search", h.p.token, func() string { return h.path("/search?q=", h.keys.back(rand.IntN(64)), "") })),
		every(1.0/15, h.read("GET /metrics", bootstrap, func() string { return "/metrics" })),
		{h.beat / time.Duration(len(h.fleet.instances)), nil, h.heartbeat},
	}
	if h.approvals > 0 {
		all = append(all, every(h.approvals, h.start(h.approved, h.started.approved)),
			every(1, h.read("GET /approvals, 20 that wait", h.p.token, func() string { return "/approvals?status=PENDING&limit=20" })))
	}
	return all
}

func (h *hour) path(before, id, after string) string {
	if id == "" {
		return ""
	}
	return before + id + after
}

// ended is a run that has ended, some of the last, "" if there is none.
func (h *hour) ended() string {
	id := h.started.plain.back(rand.IntN(1024))
	if last, ok := h.log.finished(id); !ok || time.Since(last) < 2*time.Second {
		return ""
	}
	return id
}

// start starts runs of a plan. Its latency is until the start is accepted, however often it is
// sent: with the same key, and after a pause that the service names where it refuses it.
func (h *hour) start(k *planKind, to *recent) func(n int, due time.Time) {
	const name = "POST /runs"
	doc := []byte(`{"planId":"` + k.id + `"}`)
	return func(_ int, due time.Time) {
		h.routes.took(lateRow, due, time.Since(due))
		key, unanswered := h.p.key(), false
		for time.Now().Before(h.routes.end().Add(patience)) {
			status, id, again, err := h.startOnce(doc, key)
			h.routes.answered(name, status, err)
			if err == nil && status == http.StatusAccepted {
				h.routes.took(name, due, time.Since(due))
				h.log.started(id, k, due)
				to.add(id)
				h.keys.add(key)
				return
			}
			unanswered = unanswered || err != nil
			time.Sleep(again + rand.N(again))
		}
		h.routes.gaveUp(name)
		if unanswered {
			h.wrong(fmt.Errorf("nobody knows whether the start with key %s was accepted", key))
		}
	}
}

// startOnce sends a start once. again is when it may be sent again.
func (h *hour) startOnce(doc []byte, key string) (status int, id string, again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again = time.Second
	resp, err := h.p.sendBy(ctx, starters, http.MethodPost, "/runs", doc, key)
	if err != nil {
		return 0, "", again, err
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		again = time.Duration(n) * time.Second
	}
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, member(body, "id"), again, errors.Join(err, resp.Body.Close())
}

func (h *hour) wrong(err error) {
	h.routes.mu.Lock()
	defer h.routes.mu.Unlock()
	h.routes.isWrong(err)
}

// read reads something by the API; a path that is "" is left out.
func (h *hour) read(name, token string, path func() string) func(n int, due time.Time) {
	return func(_ int, due time.Time) {
		to := path()
		if to == "" {
			return
		}
		q, err := http.NewRequest(http.MethodGet, h.p.base+to, http.NoBody)
		if err != nil {
			panic(err) // can't happen: the paths are ours
		}
		q.Header.Set("Authorization", "Bearer "+token)
		_, _ = h.routes.ask(name, due, q, http.StatusNotFound) // archived meanwhile
	}
}

func (h *hour) heartbeat(n int, due time.Time) {
	const name = "POST /agents/{id}/heartbeat"
	h.routes.took(lateRow, due, time.Since(due))
	status, err := h.p.beatStatus(h.fleet.instances[n%len(h.fleet.instances)])
	h.routes.took(name, due, time.Since(due))
	if status != 0 && status != http.StatusOK {
		err = nil // the status says it
	}
	h.routes.answered(name, status, err)
}
