package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// neighbors is the benchmark of two tenants: what the worst requests of one cost the other.
// Tenant beta starts runs, decides approvals, stops and goes on, first alone and then beside
// each kind of request of tenant acme, one at a time and several at once.
type neighbors struct {
	workload
	phase         time.Duration
	clients       int
	large, kib    int // acme's large runs, and how large the input of each is
	fill          time.Duration
	digits        int
	only, engines string
	limit         time.Duration
	*testbed
	replicas []*product
	rows     []neighborsRow
	failed   bool
}

// neighborsRow is how long beta's requests took beside one kind of acme's.
type neighborsRow struct {
	engine, kind string
	at           int // acme's requests at once; 0: beta is alone
	asked        int64
	worst        time.Duration // of acme's own
	beta         map[string]*histogram
	errs         map[string]int
}

// What beta does, in its order.
var neighborsActs = []string{"start", "decision", "stop", "go"}

func measureNeighbors(args []string) error {
	var m neighbors
	f := flag.NewFlagSet("bench neighbors", flag.ExitOnError)
	m.flags(f)
	f.DurationVar(&m.phase, "phase", 20*time.Second, "length of each turn")
	f.IntVar(&m.clients, "clients", 8, "requests of acme at once, where there are several")
	f.IntVar(&m.large, "large", 100, "large runs of acme in the store at first")
	f.IntVar(&m.kib, "kib", 700, "KiB of the input of each")
	f.DurationVar(&m.fill, "fill", 10*time.Second, "how long small runs of acme are made first, for lists and its audit log")
	f.IntVar(&m.digits, "digits", 4096, "digits of a number that rules are judged by")
	f.StringVar(&m.only, "only", "", "only these kinds of acme's requests, separated by commas: search,verify")
	f.StringVar(&m.engines, "engines", "embedded,postgres", "on which stores")
	f.DurationVar(&m.limit, "limit", 200*time.Millisecond, "how much later 99 of 100 of beta's may be than alone; a row beyond fails the benchmark")
	_ = f.Parse(args) // exits on an error
	m.conc = 64
	here := watchMachine()
	for engine := range strings.SplitSeq(m.engines, ",") {
		if err := m.on(engine); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	m.print()
	here.print()
	if m.failed {
		return fmt.Errorf("a tenant's requests delay another's by more than %s", m.limit)
	}
	return nil
}

// on measures on one store: the embedded one with a process, or PostgreSQL with two replicas.
func (m *neighbors) on(engine string) (err error) {
	if m.testbed, err = m.newTestbed(); err != nil {
		return err
	}
	defer m.clear()
	m.replicas = []*product{newProduct(m.binary, m.testbed.dir, m.r, m.conc)}
	switch engine {
	case "embedded":
	case "postgres":
		if m.server, err = startPostgres(m.testbed.dir, false); err != nil {
			return err
		}
		m.replicas = append(m.replicas, newProduct(m.binary, m.testbed.dir, m.r, m.conc))
		url, err := m.server.database("neighbors")
		if err != nil {
			return err
		}
		for _, p := range m.replicas {
			p.shared = url
		}
	default:
		return errors.New("there are embedded and postgres")
	}
	defer func() {
		for _, p := range m.replicas {
			p.clear()
		}
	}()
	for _, p := range m.replicas {
		p.settings = []string{"SVC_PLATFORM_SIGNING_ENV_ALLOWLIST=acme/BENCH_SECRET,beta/BENCH_SECRET"}
		if err := p.start(); err != nil {
			return err
		}
	}
	w := &neighborhood{neighbors: m}
	if err := w.prepare(); err != nil {
		return err
	}
	return m.play(engine, w)
}

// play measures beta alone, and beside each of acme's kinds.
func (m *neighbors) play(engine string, w *neighborhood) error {
	turn := func(kind string, at int, ask func(n int64) error) error {
		row, err := m.turn(w, at, ask)
		row.engine, row.kind = engine, kind
		m.rows = append(m.rows, row)
		fmt.Fprintf(os.Stderr, "%s, %s, %d at once: start p99 %s\n", engine, kind, at, row.beta["start"].quantile(0.99).Round(time.Millisecond))
		return err
	}
	if err := turn("alone", 0, nil); err != nil {
		return err
	}
	for _, k := range w.kinds() {
		if m.only != "" && !slices.Contains(strings.Split(m.only, ","), k.name) {
			continue
		}
		for _, at := range []int{1, m.clients} {
			if err := turn(k.name, at, k.ask); err != nil {
				return fmt.Errorf("beside %s: %w", k.name, err)
			}
		}
	}
	return nil
}

// turn has beta work for a phase, beside so many clients of acme.
func (m *neighbors) turn(w *neighborhood, at int, ask func(n int64) error) (row neighborsRow, err error) {
	row = neighborsRow{at: at, beta: map[string]*histogram{}, errs: map[string]int{}}
	for _, act := range neighborsActs {
		row.beta[act] = &histogram{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.phase)
	defer cancel()
	var clients sync.WaitGroup
	var n, worst atomic.Int64
	var mu sync.Mutex
	for range at {
		clients.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if err := ask(n.Add(1)); err != nil {
					mu.Lock()
					row.errs[err.Error()]++
					mu.Unlock()
				}
				for took := int64(time.Since(began)); ; {
					if was := worst.Load(); took <= was || worst.CompareAndSwap(was, took) {
						break
					}
				}
			}
		})
	}
	for ctx.Err() == nil && err == nil {
		err = w.betaOnce(row.beta)
		pause(ctx, 20*time.Millisecond)
	}
	clients.Wait() // what acme has begun belongs to no other row
	row.asked, row.worst = n.Load(), time.Duration(worst.Load())
	return row, err
}

func (m *neighbors) print() {
	printMachine()
	fmt.Printf("\n### A tenant beside another one's worst requests\n\n%s a row; acme has %d runs of %d KiB and %s of small ones in the store at first. Times are beta's, in milliseconds; acme's worst is the longest of its own requests.\n\n", m.phase, m.large, m.kib, m.fill)
	fmt.Println("| Store | Beside | At once | Asked | acme's worst | start p50 | p99 | max | decision p50 | p99 | max | stop p50 | p99 | max | go p99 | Most later at p99 |")
	fmt.Println("|---|---|" + strings.Repeat("--:|", 14))
	alone := map[string]neighborsRow{}
	for _, r := range m.rows {
		if r.at == 0 {
			alone[r.engine] = r
		}
		var later time.Duration
		cells := []string{}
		for _, act := range neighborsActs {
			h := r.beta[act]
			if act != "go" {
				cells = append(cells, inMs(h.quantile(0.5)))
			}
			cells = append(cells, inMs(h.quantile(0.99)))
			if act != "go" {
				cells = append(cells, inMs(h.max))
			}
			later = max(later, h.quantile(0.99)-alone[r.engine].beta[act].quantile(0.99))
		}
		m.failed = m.failed || later > m.limit
		fmt.Printf("| %s | %s | %d | %d | %s | %s | %s |\n", r.engine, r.kind, r.at, r.asked, inMs(r.worst), strings.Join(cells, " | "), inMs(later))
	}
	for _, r := range m.rows {
		for text, n := range r.errs {
			fmt.Fprintf(os.Stderr, "%s, %s, %d at once: %d times %s\n", r.engine, r.kind, r.at, n, text)
		}
	}
}

func inMs(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// neighborhood is the two tenants of a store.
type neighborhood struct {
	*neighbors
	turns                                 atomic.Int64
	acme, viewer, beta, approver          string // tokens
	acmeLive, acmeWide, betaDry, betaLive string // plans
	largeRun                              string
}

// as is a replica, each in turn, with a token.
func (w *neighborhood) as(token string) *product {
	return &product{base: w.replicas[int(w.turns.Add(1))%len(w.replicas)].base, token: token, r: w.r}
}

func (w *neighborhood) key() string { return w.replicas[0].key() }

// took calls the API and keeps how long that took.
func (w *neighborhood) took(h *histogram, token, path string, body any, key string) (object, error) {
	began := time.Now()
	status, out, err := w.as(token).call("POST", path, body, key)
	h.add(time.Since(began))
	if err == nil && status >= 300 {
		err = fmt.Errorf("POST %s: %d %v", path, status, out)
	}
	return out, err
}

// betaOnce starts a rehearsal and a LIVE run, approves that one's request, stops and goes on.
func (w *neighborhood) betaOnce(h map[string]*histogram) error {
	if _, err := w.took(h["start"], w.beta, "/runs", object{"planId": w.betaDry}, w.key()); err != nil {
		return err
	}
	run, err := w.took(h["start"], w.beta, "/runs", object{"planId": w.betaLive}, w.key())
	if err != nil {
		return err
	}
	approval, err := w.asks(run["id"].(string))
	if err != nil {
		return err
	}
	if _, err := w.took(h["decision"], w.approver, "/approvals/"+approval+"/decision", object{"decision": "APPROVED", "reason": "measured"}, ""); err != nil {
		return err
	}
	for _, act := range []string{"stop", "go"} {
		if _, err := w.took(h[act], w.approver, "/"+act, object{"reason": "measured"}, ""); err != nil {
			return err
		}
	}
	return nil
}

// asks waits until a run asks for an approval.
func (w *neighborhood) asks(run string) (string, error) {
	for end := time.Now().Add(runTimeout); ; time.Sleep(5 * time.Millisecond) {
		out, err := w.as(w.beta).must("GET", "/runs/"+run, nil)
		if err != nil {
			return "", err
		}
		if f, waits := out["waitingFor"].(object); waits && f["approvalId"] != nil {
			return f["approvalId"].(string), nil
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("run %s is %v after %s", run, out["status"], runTimeout)
		}
	}
}

// done fails unless a request of acme's was answered as it is meant to be: 400 and 503 are
// bounds that hold.
func (w *neighborhood) done(token, method, path string, body []byte, key string) error {
	resp, err := w.as(token).send(context.Background(), method, path, body, key)
	if err != nil {
		return err
	}
	status, err := drain(resp)
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: %d", method, cmp.Or(strings.Split(path, "?")[0], path), status)
	}
	return err
}

func drain(resp *http.Response) (int, error) {
	defer func() { _ = resp.Body.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		if _, err := resp.Body.Read(buffer); err != nil {
			if err.Error() == "EOF" {
				err = nil
			}
			return resp.StatusCode, err
		}
	}
}
